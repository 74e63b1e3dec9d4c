#include "baton/profile/write/comparison_table.h"

#include <algorithm>

#include "baton/profile/report/report_text.h"
#include "baton/profile/write/table_format.h"

namespace baton {
namespace {

constexpr int kNarrow = 75;  // the width of the table at least
constexpr int kName = 20;    // columns before a function's name

bool has_times(const OffloadRow& row) {
  return row.verdict == OffloadVerdict::kFaster || row.verdict == OffloadVerdict::kSlower ||
         row.verdict == OffloadVerdict::kWithinNoise;
}

std::string own_text(const ComparedFunction& function) {
  return function.rounds_us.empty() && function.own_us == 0 ? "-" : us_text(function.own_us);
}

std::string ms_text(double us) { return us < 1000 ? us_with_unit(us) : formatted("%.2f ms", us / 1e3); }

/// "dnnl       101.2 +     0.0 +    12.3 =    113.5   0.92x  faster"
std::string row_line(const ComparedFunction& function, const OffloadRow& row, int width) {
  if (!has_times(row)) {
    const std::string text = std::string(verdict_name(row.verdict)) + ": " + row.why;
    return formatted("  %-10s %s", row.backend.c_str(),
                     clipped(text, static_cast<size_t>(width - 13)).c_str());
  }
  const double ratio = function.own_us > 0 ? row.total_us / function.own_us : 0;
  return formatted("  %-10s %9s + %9s + %9s = %10s %8.2fx  %s", row.backend.c_str(),
                   us_text(row.kernels_us).c_str(), us_text(row.copies_us).c_str(),
                   us_text(row.layouts_us).c_str(), us_text(row.total_us).c_str(), ratio,
                   verdict_name(row.verdict));
}

/// "dnnl 4, llvm 17".
std::string choices_text(const Comparison& comparison) {
  std::vector<std::string> names = comparison.others;
  names.push_back(comparison.base);
  std::string text;
  for (const std::string& name : names)
    if (const size_t calls = comparison.best_calls(name); calls > 0)
      text += (text.empty() ? "" : ", ") + name + " " + std::to_string(calls);
  return text;
}

}  // namespace

void write_comparison(std::ostream& out, const ProfileReport& report, const TableOptions& options) {
  const Comparison& comparison = *report.comparison;
  const int width = std::max(options.width, kNarrow);
  out << '\n'
      << in_style(Style::kHead, options.colour,
                  formatted("calls %10s us  function, and on other backends: kernels + copies + layouts = "
                            "total",
                            comparison.base.c_str()))
      << '\n';
  for (const ComparedFunction& function : comparison.functions) {
    out << formatted("%5zu %13s  %s", function.nodes.size(), own_text(function).c_str(),
                     clipped_title(function.title, static_cast<size_t>(width - kName - 1)).c_str())
        << '\n';
    if (!function.why.empty())
      out << "  " << clipped(function.why, static_cast<size_t>(width - 2)) << '\n';
    else
      for (const OffloadRow& row : function.others) out << table_line(row_line(function, row, width));
  }
  out << "\nall kernels on " << comparison.base << ": " << ms_text(comparison.base_us())
      << "; each at its fastest place, with transfers in and out each time: " << ms_text(comparison.best_us())
      << '\n';
  const std::string choices = choices_text(comparison);
  if (!choices.empty()) out << wrapped("calls by fastest place: " + choices, 7, width);
  if (!comparison.partial.empty())
    out << wrapped("the comparison is partial: " + comparison.partial, 7, width);
  for (const std::string& note : comparison.notes) out << wrapped("note: " + note, 7, width);
  for (const std::string& wrong : comparison.wrong()) out << wrapped("WRONG: " + wrong, 7, width);
}

}  // namespace baton
