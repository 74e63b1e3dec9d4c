#pragma once
// The portions of a kernel's time that its operators take, where training measured no parts of kernels.
#include <vector>

#include "baton/codegen/kernel/kernel.h"
#include "baton/predict/kernel_case.h"

namespace baton {

/// In proportion to each operator's own roofline: its operations at the peak, and the bytes that it exchanges
/// with the memory outside of the kernel at the rate of these; what operators hand on inside stays in
/// registers. Sums to 1.
std::vector<double> roofline_shares(const KernelCase& kernel, const std::vector<KernelBlock>& blocks);

}  // namespace baton
