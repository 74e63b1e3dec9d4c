#pragma once
// One build of a model with open extents, profiled at several of them.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baton/profile/report/rows.h"

namespace baton {

/// Whether these are the points of a curve: of one model, in their order.
bool is_curve(std::span<const ProfileReport> reports);

/// The time of one thing at every point, in their order.
struct CurveRow {
  enum class Kind { kOperator, kPart, kRest, kWhole };
  Kind kind = Kind::kOperator;
  std::optional<uint32_t> id;  ///< of an operator
  std::string name;
  uint32_t line = 0;  ///< 0: not known
  std::vector<double> us;
};
/// "operator", "part", "rest", "whole"
const char* kind_name(CurveRow::Kind kind);

/// Operators that have a kernel, in the order of the program, each with its part of its kernels' times; then
/// what of kernels no operator has, the parts of a program, and the whole run. `points`: is_curve().
std::vector<CurveRow> curve_rows(std::span<const ProfileReport> points);

}  // namespace baton
