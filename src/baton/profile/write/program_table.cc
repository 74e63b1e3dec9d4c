#include "baton/profile/write/program_table.h"

#include <algorithm>
#include <cmath>

#include "baton/profile/report/report_text.h"
#include "baton/profile/write/table_format.h"

namespace baton {

namespace {

constexpr size_t kRows = 10;     // unless all are asked for
constexpr int kBesideName = 54;  // the columns of numbers

std::string count_text(double count) {
  return count == std::floor(count) && count < 1e15 ? formatted("%.0f", count) : formatted("%.1f", count);
}

std::string placed(const std::string& name, uint32_t line) {
  return line ? name + ", line " + std::to_string(line) : name;
}

template <class Row>
std::vector<const Row*> longest_first(const std::vector<Row>& rows, double (*us)(const Row&)) {
  std::vector<const Row*> sorted;
  for (const Row& row : rows) sorted.push_back(&row);
  std::ranges::stable_sort(sorted, [&](const Row* a, const Row* b) { return us(*a) > us(*b); });
  return sorted;
}

}  // namespace

std::string inputs_text(const ProfileReport& report) {
  std::string text;
  for (const InputRow& input : report.inputs)
    text += (text.empty() ? "" : ", ") + input.name + " " + input.type;
  return text;
}

void write_control_flow(std::ostream& out, const ProfileReport& report, const TableOptions& options) {
  if (!report.program) return;
  const ProgramTimes& program = *report.program;
  const double all = report.end_to_end_us;
  const int name = std::max(20, options.width - kBesideName);
  const auto head = [&](const char* what, const char* a, const char* b, const char* c, const char* d) {
    out << '\n'
        << in_style(Style::kHead, options.colour,
                    formatted("%-*s %10s %10s %11s %11s %7s", name, what, a, b, c, d, "share"))
        << '\n';
  };
  const auto row = [&](const std::string& what, const std::string& a, const std::string& b,
                       const std::string& c, const std::string& d, double us) {
    const double share = all > 0 ? us / all : 0;
    out << in_style(
               style_of_share(share), options.colour,
               table_line(formatted("%-*s %10s %10s %11s %11s %7s", name,
                                    clipped(what, static_cast<size_t>(name)).c_str(), a.c_str(), b.c_str(),
                                    c.c_str(), d.c_str(), formatted("%.1f %%", share * 100).c_str()),
                          false))
        << '\n';
  };
  const auto more = [&](size_t count) {
    if (count > kRows && !options.all) out << table_line(formatted("%zu more (--all)", count - kRows));
  };
  if (!program.loops.empty()) {
    head("loops and recursion", "entered", "iterations", "us each", "us");
    const auto sorted = longest_first<ProgramTimes::Loop>(
        program.loops, [](const ProgramTimes::Loop& loop) { return loop.us; });
    for (size_t i = 0; i < sorted.size() && (i < kRows || options.all); ++i) {
      const ProgramTimes::Loop& loop = *sorted[i];
      row(placed("@" + loop.function, loop.line), count_text(loop.entries), count_text(loop.iterations),
          us_text(loop.us_per_iteration()), us_text(loop.us), loop.us);
    }
    more(sorted.size());
  }
  if (!program.branches.empty()) {
    head("branches", "taken", "not taken", "us taken", "us else");
    const auto sorted = longest_first<ProgramTimes::Branch>(
        program.branches, [](const ProgramTimes::Branch& each) { return each.taken_us + each.not_taken_us; });
    for (size_t i = 0; i < sorted.size() && (i < kRows || options.all); ++i) {
      const ProgramTimes::Branch& branch = *sorted[i];
      row(placed(branch.what, branch.line) + " in @" + branch.function, count_text(branch.taken),
          count_text(branch.not_taken), us_text(branch.taken_us), us_text(branch.not_taken_us),
          branch.taken_us + branch.not_taken_us);
    }
    more(sorted.size());
  }
}

}  // namespace baton
