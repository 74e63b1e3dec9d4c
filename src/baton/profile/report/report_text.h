#pragma once
// What a report says in words: one home for the table of the terminal and the one of notebooks.
#include <string>
#include <utility>
#include <vector>

#include "baton/profile/report/rows.h"

namespace baton {

/// A kernel's name without what all of them begin with.
std::string short_name(const std::string& name);

/// "0.04", "12.3": microseconds; what is short is shown to a hundredth.
std::string us_text(double us);

/// "nn.batch_norm line 23", or the first few of several.
std::string operators_text(const ProfileReport& report, const std::vector<uint32_t>& ids);

/// "nn.conv2d kernel_size=3x3 channels=64": what it is, and as many of its attributes as `width` has room
/// for, first those that say how large it is.
std::string operator_text(const OperatorRow& row, size_t width);

/// Whose time a part of a kernel is: "nn.conv2d line 5  [pad]  as nn.contrib_conv2d_NCHWc".
std::string part_label(const ProfileReport& report, const InsideRow& part);

/// "< noise", or microseconds; with ~ where they are estimates.
std::string part_time(const KernelRow& kernel, const InsideRow& part);

/// Operators that have no time of their own, or not all of it: each with the reason.
struct WithoutTime {
  std::string title;
  std::vector<std::pair<std::string, std::string>> operators;
};
/// Only those that hold something.
std::vector<WithoutTime> without_time(const ProfileReport& report);

}  // namespace baton
