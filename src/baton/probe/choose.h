#pragma once
// Which kernels to measure on a new machine: those whose times, once known, leave the least doubt about the
// kernels that models spend their time in. What a predictor is off by there is taken as a Gaussian process:
// kernels of one machine, of one kind and of one schedule are off by something in common, and kernels that
// are near each other by more. A measured kernel takes doubt from itself and from all that are like it, so
// that the next choice is another one.
#include <span>
#include <string>
#include <vector>

namespace baton {

/// A kernel that could be measured, or that is predicted.
struct DoubtedKernel {
  std::vector<double> place;  ///< its features, in their standard deviations
  std::string kind, schedule;
  double doubt = 0;   ///< standard deviation of the logarithm of its time over the predicted one
  double weight = 0;  ///< how much it counts: its part of its model's time; 0: it is in no model
};

/// What is measured together, by indices of kernels.
struct DoubtedProgram {
  std::vector<int> kernels;
  bool is_network = false;
};

struct ProgramChoice {
  std::vector<int> programs;     ///< networks first, each kind in the order of what it tells
  double before = 0, after = 0;  ///< the weighted variance that is left
};

/// So many networks and single kernels at most; fewer where there are no more. The same input, the same
/// choice.
ProgramChoice choose_programs(std::span<const DoubtedKernel> kernels,
                              std::span<const DoubtedProgram> programs, int networks, int single);

}  // namespace baton
