#pragma once
// Text fragments of reports, shared by the terminal's table and the one for notebooks.
#include <string>
#include <utility>
#include <vector>

#include "baton/profile/report/rows.h"

namespace baton {

/// ", predicted for zen5: AMD EPYC (znver5)"; empty for times that were measured.
std::string whose_times(const ProfileReport& report);

/// A kernel's name without the common prefix.
std::string short_name(const std::string& name);

/// "40 ns", "1.25", "12.3": microseconds without a unit; less than one as nanoseconds.
std::string us_text(double us);
/// "12.3 us", "842 ns".
std::string us_with_unit(double us);

/// "nn.batch_norm line 23", or the first few of several.
std::string operators_text(const ProfileReport& report, const std::vector<uint32_t>& ids);

/// "conv2d 3x3 64->64 @56", with the name its source gives it where that has no lines.
std::string operator_name(const OperatorRow& row);

/// The operators of a part of a kernel: "nn.conv2d line 5  [pad]  as nn.contrib_conv2d_NCHWc".
std::string part_label(const ProfileReport& report, const InsideRow& part);

/// "< noise", or microseconds; with ~ for estimates.
std::string part_time(const KernelRow& kernel, const InsideRow& part);

/// Operators without a time, or with an incomplete one, by reason.
struct WithoutTime {
  std::string title;
  std::vector<std::pair<std::string, std::string>> operators;
};
/// Only non-empty ones.
std::vector<WithoutTime> without_time(const ProfileReport& report);

}  // namespace baton
