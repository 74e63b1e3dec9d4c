#pragma once
// What reports call a kernel: by the operators it computes, with the sizes that tell it from others.
#include <string>

#include "baton/profile/report/rows.h"

namespace baton {

/// "conv2d 3x3 64->64 @56 + batch_norm + relu, line 13": its operators in program order, the one with the
/// most operations with its sizes and its place. "layout_transform 1x64x56x56, for line 13" for one that the
/// compiler added.
std::string kernel_title(const ProfileReport& report, const KernelRow& kernel);

/// "1x64x56x56" of "Tensor[(1, 64, 56, 56), float32]", "scalar" without extents; of a tuple those of its
/// tensors, joined by "; ". Empty for other types.
std::string shape_in(const std::string& type);

/// The id of the operator that a kernel is named after: the first of those with the most operations. `ids`:
/// not empty.
uint32_t leading_operator(const ProfileReport& report, const std::vector<uint32_t>& ids);

/// Fills in KernelRow::title where it is empty. Titles are distinct: equal ones get their node.
void add_titles(ProfileReport& report);

}  // namespace baton
