#include "baton/profile/write/operators_table.h"

#include <algorithm>
#include <cmath>

#include "baton/profile/report/report_text.h"
#include "baton/profile/write/table_format.h"

namespace baton {

namespace {

constexpr int kWidth = 45;

struct Times {
  std::optional<double> unfused, inside;

  // The gain of fusion: only where both sides were measured.
  std::optional<double> gain() const {
    return unfused && inside ? std::optional(*unfused - *inside) : std::nullopt;
  }
  void add(const Times& other) {
    if (other.unfused) unfused = unfused.value_or(0) + *other.unfused;
    if (other.inside) inside = inside.value_or(0) + *other.inside;
  }
};

/// The time of all kernels that compute the operator.
double kernels_us(const ProfileReport& report, uint32_t id) {
  double us = 0;
  for (const KernelRow& kernel : report.kernels) {
    if (std::find(kernel.origins.begin(), kernel.origins.end(), id) == kernel.origins.end()) continue;
    us += kernel.median_us;
  }
  return us;
}

std::string cell(const std::optional<double>& us) { return us ? us_text(*us) : "-"; }

// Ablation reports zero for an operator below its noise.
std::string inside_cell(const std::optional<double>& us) { return us && *us <= 0 ? "< noise" : cell(us); }

std::string gain_cell(const Times& times) {
  const auto gain = times.gain();
  return gain ? (*gain < 0 ? "-" : "+") + us_text(std::abs(*gain)) : "-";
}

std::string row_text(const std::string& place, const std::string& name, const std::string& kernels,
                     const Times& times, const std::string& fused, const ProfileReport& report) {
  const std::string share = times.inside && *times.inside > 0 && report.sum_us > 0
                                ? formatted("%.1f %%", *times.inside / report.sum_us * 100)
                                : "";
  return table_line(formatted("%4s   %-*s %10s  %-13s %10s %10s %7s %9s", place.c_str(), kWidth,
                              clipped(name, kWidth).c_str(), cell(times.unfused).c_str(),
                              clipped(kernels, 13).c_str(), fused.c_str(), inside_cell(times.inside).c_str(),
                              share.c_str(), gain_cell(times).c_str()));
}

std::string nodes_text(const OperatorRow& row) {
  std::string text;
  for (uint32_t node : row.nodes) text += (text.empty() ? "" : ", ") + std::to_string(node);
  return text;
}

std::string where_it_went(const OperatorRow& row) {
  if (!row.retired_by.empty()) return "retired by " + row.retired_by + ": " + row.retired_why;
  std::string text = "computed when it was built, for node";
  for (size_t i = 0; i < row.folded_into.size(); ++i)
    text += (i ? ", " : " ") + std::to_string(row.folded_into[i]);
  return text;
}

}  // namespace

void write_operators(std::ostream& out, const ProfileReport& report) {
  const bool measured = std::any_of(report.operators.begin(), report.operators.end(),
                                    [](const OperatorRow& row) { return row.unfused_us || row.inside_us; });
  if (!measured) return;
  out << formatted("\nline   %-*s %10s  %-13s %10s %10s %7s %9s\n", kWidth,
                   "operator: alone, fused, and inside", "unfused us", "fused in node", "node us",
                   "inside us", "share", "gain us");
  Times sum;
  for (const OperatorRow& row : report.operators) {
    const Times times{row.unfused_us, row.inside_us};
    const std::string place = row.line ? std::to_string(row.line) : "";
    const std::string name = operator_name(row);
    if (row.nodes.empty()) {
      out << table_line(formatted("%4s   %-*s %10s  %s", place.c_str(), kWidth, clipped(name, kWidth).c_str(),
                                  "", clipped(where_it_went(row), 52).c_str()));
      continue;
    }
    sum.add(times);
    out << row_text(place, name, nodes_text(row), times, us_text(kernels_us(report, row.id)), report);
  }
  Times total = sum;
  if (report.unfused_us > 0) {
    double compilers = 0;
    for (const UnfusedRow& row : report.unfused) compilers += row.origins.empty() ? row.median_us : 0;
    total.unfused = total.unfused.value_or(0) + compilers;
  }
  out << row_text("", "all of them, and what the compiler added", "", {total.unfused, std::nullopt},
                  us_text(report.sum_us), report);
  if (report.unfused_us > 0 && report.end_to_end_us > 0)
    out << formatted("       the model end to end: %.1f us unfused, %.1f us as built, %.2fx as fast\n",
                     report.unfused_us, report.end_to_end_us, report.unfused_us / report.end_to_end_us);
}

}  // namespace baton
