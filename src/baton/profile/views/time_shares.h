#pragma once
// The time of all kernels in pieces, each with the operators that it is of: what views by module and by
// source add up.
#include <vector>

#include "baton/profile/report/portions.h"

namespace baton {

/// A piece of a kernel's time.
struct TimeShare {
  /// One operator; of kRest all operators of the kernel; of kOwn a cause of the kernel. Empty: it has none.
  std::vector<uint32_t> ids;
  double us = 0;
  PortionBy by = PortionBy::kWhole;
};

/// In the order of `portions`; they add up to the kernel. What the compiler added is shared by its causes in
/// equal portions.
std::vector<TimeShare> time_shares(const KernelRow& kernel);

}  // namespace baton
