#pragma once
// Whose time a kernel's is. What is inside a kernel was measured beside it and need not add up to it; here it
// does, so that sums over operators are sums of kernels: nothing is lost and nothing counts twice.
#include <optional>
#include <string>
#include <vector>

#include "baton/profile/report/rows.h"

namespace baton {

enum class PortionBy {
  kWhole,  ///< the only operator of its kernel
  kSplit,  ///< by what was measured inside the kernel
  kEqual,  ///< the kernel was not split: its operators share it in equal portions
  kRest,   ///< of a split kernel, what belongs to no operator: load, store, loop control
  kOwn,    ///< a kernel of the compiler's own
};
const char* portion_name(PortionBy by);  ///< "whole", "split", "equal", "rest", "own"

struct Portion {
  std::optional<uint32_t> id;  ///< none for kRest and kOwn
  double share = 0;            ///< of the kernel; those of one kernel add up to 1
  PortionBy by = PortionBy::kWhole;
};

/// One for every operator of the kernel, in the order of `origins`, then the rest. Stages that sum up to more
/// than the kernel are scaled down to it; what they leave of it belongs to the rest.
std::vector<Portion> portions(const KernelRow& kernel);

/// An operator's time in all its kernels.
struct OperatorTime {
  double us = 0;
  bool has_kernel = false;
  PortionBy by = PortionBy::kWhole;  ///< kEqual when any of it is, else kSplit when any of it is
};
/// By operator id. With the kernels of the compiler's own and all rests, they add up to the sum of the
/// kernels.
std::vector<OperatorTime> operator_times(const ProfileReport& report);

}  // namespace baton
