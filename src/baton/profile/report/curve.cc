#include "baton/profile/report/curve.h"

#include <algorithm>

#include "baton/profile/report/portions.h"
#include "baton/profile/report/report_text.h"

namespace baton {

bool is_curve(std::span<const ProfileReport> reports) {
  return !reports.empty() && std::ranges::all_of(reports, [&](const ProfileReport& each) {
    return each.point && each.model == reports[0].model &&
           each.operators.size() == reports[0].operators.size();
  });
}

const char* kind_name(CurveRow::Kind kind) {
  switch (kind) {
    case CurveRow::Kind::kOperator:
      return "operator";
    case CurveRow::Kind::kPart:
      return "part";
    case CurveRow::Kind::kRest:
      return "rest";
    case CurveRow::Kind::kWhole:
      return "whole";
  }
  return "";
}

std::vector<CurveRow> curve_rows(std::span<const ProfileReport> points) {
  using Kind = CurveRow::Kind;
  const ProfileReport& first = points.front();
  std::vector<CurveRow> operators;
  CurveRow rest{Kind::kRest, {}, "load, store, loop, and what the compiler added", 0, {}};
  CurveRow whole{Kind::kWhole, {}, "end to end", 0, {}};
  std::vector<CurveRow> parts;
  for (const OperatorRow& row : first.operators)
    operators.push_back({Kind::kOperator, row.id, operator_name(row), row.line, {}});
  std::vector<bool> has_kernel(operators.size());
  if (first.program)
    for (const ProgramTimes::Part& part : first.program->parts)
      parts.push_back({Kind::kPart, {}, part.name, 0, {}});
  for (const ProfileReport& point : points) {
    const std::vector<OperatorTime> times = operator_times(point);
    double left = point.sum_us;
    for (size_t i = 0; i < operators.size(); ++i) {
      const double us = i < times.size() && times[i].has_kernel ? times[i].us : 0;
      has_kernel[i] = has_kernel[i] || (i < times.size() && times[i].has_kernel);
      operators[i].us.push_back(us);
      left -= us;
    }
    rest.us.push_back(std::max(0.0, left));
    for (size_t i = 0; i < parts.size(); ++i)
      parts[i].us.push_back(point.program && i < point.program->parts.size() ? point.program->parts[i].us
                                                                             : 0);
    whole.us.push_back(point.end_to_end_us);
  }
  std::vector<CurveRow> rows;
  for (size_t i = 0; i < operators.size(); ++i)
    if (has_kernel[i]) rows.push_back(std::move(operators[i]));
  double most = 0;
  for (size_t i = 0; i < points.size(); ++i) most = std::max(most, rest.us[i] / std::max(1e-9, whole.us[i]));
  if (most > 1e-3) rows.push_back(std::move(rest));
  for (CurveRow& part : parts) rows.push_back(std::move(part));
  rows.push_back(std::move(whole));
  return rows;
}

}  // namespace baton
