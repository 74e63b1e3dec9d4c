#pragma once
// Attributes kernel time to operators. Times measured inside a kernel need not add up to its total; portions
// do, so that sums over operators equal sums over kernels: nothing is lost or counted twice.
#include <optional>
#include <string>
#include <vector>

#include "baton/profile/report/rows.h"

namespace baton {

enum class PortionBy {
  kWhole,  ///< the only operator of its kernel
  kSplit,  ///< by times measured inside the kernel
  kEqual,  ///< not split: equal portions for all its operators
  kRest,   ///< of a split kernel: load, store, loop control
  kOwn,    ///< a compiler-added kernel
};
const char* portion_name(PortionBy by);  ///< "whole", "split", "equal", "rest", "own"

struct Portion {
  std::optional<uint32_t> id;  ///< nullopt for kRest and kOwn
  double share = 0;            ///< of the kernel; the shares of one kernel add up to 1
  PortionBy by = PortionBy::kWhole;
};

/// One portion per operator of the kernel, in the order of `origins`, then the rest. Stage sums above the
/// kernel's time are scaled down to it; time not covered by stages goes to the rest.
std::vector<Portion> portions(const KernelRow& kernel);

/// An operator's time in all its kernels.
struct OperatorTime {
  double us = 0;
  bool has_kernel = false;
  PortionBy by = PortionBy::kWhole;  ///< kEqual if any part is, else kSplit if any part is
};
/// By operator id. Together with compiler-added kernels and all rests, they add up to the sum of the kernels.
std::vector<OperatorTime> operator_times(const ProfileReport& report);

}  // namespace baton
