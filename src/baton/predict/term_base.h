#pragma once
// The base that predictions of kernels are learned over: a sum of terms, each what one kind of work takes at
// the rates of the device sheet, times a factor for the kind of kernel. Factors are fitted to measured
// kernels and not negative, so that the base is smooth and goes on beyond the sizes in training, where trees
// do not.
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baton/predict/kernel_case.h"

namespace baton {

/// Names of the terms, in order.
std::vector<std::string> base_terms();

class TermBase {
 public:
  TermBase() = default;
  /// Kinds with fewer kernels than kLeastOfKind have no factors. `weights`: 0 for kernels to leave out.
  static TermBase fit(std::span<const KernelCase* const> cases, std::span<const double> us,
                      std::span<const double> weights);
  /// Microseconds, > 0; by roofline_time() where the kind has no factors.
  double us(const KernelCase& kernel) const;

  /// A factor per term for each kind.
  std::map<std::string, std::vector<double>> factors;
};

constexpr size_t kLeastOfKind = 60;

}  // namespace baton
