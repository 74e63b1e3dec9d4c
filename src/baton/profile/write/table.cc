#include "baton/profile/write/table.h"

#include <algorithm>
#include <cmath>

#include "baton/profile/measure/measure.h"
#include "baton/profile/report/report_text.h"
#include "baton/profile/write/comparison_table.h"
#include "baton/profile/write/operators_table.h"
#include "baton/profile/write/program_table.h"
#include "baton/profile/write/summary_table.h"
#include "baton/profile/write/table_format.h"
#include "baton/profile/write/views_table.h"
#include "baton/support/base/statistics.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/text/html.h"

namespace baton {

namespace {

constexpr int kColumns = 67;                   // of a row beside the name, with rates
constexpr int kWithRates = 100, kNarrow = 75;  // table widths
constexpr double kOverRoof = 1.02;

std::string percent(double share, const char* pattern) { return formatted(pattern, share * 100); }

/// The 95 % interval in percent of the time.
std::string plus_minus(const std::optional<double>& half, double us) {
  return half && us > 0 ? percent(*half / us, "%.1f") + "%" : "";
}

/// The columns of the table of kernels, for the width of the terminal.
class Rows {
 public:
  Rows(std::ostream& out, const ProfileReport& report, const TableOptions& options)
      : out_(out),
        options_(options),
        rates_(options.width >= kWithRates),
        time_(report.predicted.empty() ? "median us" : "us"),
        name_(std::max(options.width, kNarrow) - (rates_ ? kColumns : kColumns - 33)) {}

  void head(const std::string& what) {
    std::string line = formatted("node   %-*s %10s %5s %7s", name_, what.c_str(), time_, "+-", "share");
    if (rates_) line += " GFLOP/s    GB/s of roof  by";
    out_ << '\n' << in_style(Style::kHead, options_.colour, line) << '\n';
  }

  void row(const std::string& node, const std::string& name, const std::string& us,
           const std::string& interval, const std::string& share, const Roofline* roof, const std::string& by,
           Style style = Style::kPlain) {
    std::string line = formatted("%4s   %-*s %10s %5s %7s", node.c_str(), name_,
                                 clipped(name, static_cast<size_t>(name_)).c_str(), us.c_str(),
                                 interval.c_str(), share.c_str());
    std::string reached(24, ' ');
    if (roof && (roof->gflops > 0 || roof->gbytes_per_s > 0))
      reached = formatted("%8.1f %7.1f %7s", roof->gflops, roof->gbytes_per_s,
                          roof->bound.empty() ? "" : percent(roof->share, "%.0f %%").c_str());
    if (rates_) line += " " + reached + "  " + by;
    out_ << in_style(style, options_.colour, table_line(line, false)) << '\n';
  }

  /// A remark below a row.
  void remark(const std::string& text) {
    out_ << "       " << clipped(text, static_cast<size_t>(std::max(options_.width, kNarrow) - 7)) << '\n';
  }

  void kernel(const KernelRow& kernel) {
    const std::string calls = kernel.calls == 1 ? "" : formatted(" x%g", kernel.calls);
    const std::string node = std::to_string(kernel.node),
                      name = clipped_title(kernel.title, static_cast<size_t>(name_) - calls.size()) + calls;
    row(node, name, us_text(kernel.median_us), plus_minus(kernel.plus_minus_us, kernel.median_us),
        percent(kernel.share, "%.1f %%"), &kernel.roofline, by_of(kernel), style_of_share(kernel.share));
  }

 private:
  static std::string by_of(const KernelRow& kernel) {
    if (kernel.basis.empty()) return kernel.roofline.bound;
    return kernel.out_of_range.empty() ? kernel.basis : "a guess";
  }

  std::ostream& out_;
  const TableOptions& options_;
  bool rates_;
  const char* time_;  ///< what the column of times is called
  int name_;
};

void write_parts(Rows& rows, const ProfileReport& report, const KernelRow& kernel) {
  for (const InsideRow& part : kernel.inside)
    rows.row("", part_label(report, part), part_time(kernel, part),
             part.below_noise ? "" : plus_minus(part.plus_minus_us, part.us),
             part.below_noise ? "" : percent(part.share, "%.1f %%"), nullptr, method_name(part.method));
}

void write_details(Rows& rows, const ProfileReport& report, const KernelRow& kernel) {
  rows.remark(short_name(kernel.name));
  for (const ShapeRow& each : kernel.shapes)
    rows.remark(formatted("%g calls of %s on ", each.calls,
                          us_with_unit(each.calls > 0 ? each.us / each.calls : 0).c_str()) +
                each.shapes);
  write_parts(rows, report, kernel);
  if (kernel.inside.empty() && kernel.origins.size() > 1)
    for (uint32_t id : kernel.origins) rows.remark(operators_text(report, {id}));
  if (kernel.origins.empty() && !kernel.reason.empty())
    rows.remark("made for " + operators_text(report, kernel.made_for) + ": " + kernel.reason);
  if (!kernel.out_of_range.empty()) rows.remark("(a guess: " + kernel.out_of_range + ")");
  if (!kernel.trusted)
    rows.remark(formatted("(the stages sum to %.1f %% of the kernel: estimates)", kernel.stage_sum * 100));
  for (const std::string& note : kernel.inside_notes) rows.remark("(" + note + ")");
  if (kernel.load_threads > 1)
    rows.remark(formatted("(alone on %d threads, caches warm, %s, which are busy %.1f %% of it)",
                          kernel.load_threads, us_with_unit(kernel.threads_us).c_str(),
                          kernel.utilisation * 100));
}

double sort_key(const KernelRow& kernel, TableOrder order) {
  switch (order) {
    case TableOrder::kTime:
      return -kernel.median_us;
    case TableOrder::kNode:
      return kernel.node;
    case TableOrder::kRoof:  // the furthest from it first; unknown ones last
      return kernel.roofline.bound.empty() ? 1e300 : kernel.roofline.share;
    case TableOrder::kVariation:
      return -kernel.cv;
  }
  return 0;
}

std::vector<const KernelRow*> sorted_kernels(const ProfileReport& report, TableOrder order) {
  std::vector<const KernelRow*> kernels;
  for (const KernelRow& kernel : report.kernels) kernels.push_back(&kernel);
  std::stable_sort(kernels.begin(), kernels.end(), [&](const KernelRow* a, const KernelRow* b) {
    return sort_key(*a, order) < sort_key(*b, order);
  });
  return kernels;
}

const char* order_text(TableOrder order) {
  switch (order) {
    case TableOrder::kTime:
      return "the longest first";
    case TableOrder::kNode:
      return "in order of execution";
    case TableOrder::kRoof:
      return "the furthest from their roof first";
    case TableOrder::kVariation:
      return "the least steady first";
  }
  return "";
}

// The kernels that decide; what is left out is summed up, so that nothing is lost.
void write_longest(std::ostream& out, const ProfileReport& report, const TableOptions& options) {
  Rows rows(out, report, options);
  const TableOrder order = options.order.value_or(TableOrder::kTime);
  const std::vector<const KernelRow*> kernels = sorted_kernels(report, order);
  const size_t shown =
      options.top > 0 ? std::min(kernels.size(), static_cast<size_t>(options.top)) : kernels.size();
  rows.head("kernels, " + std::string(order_text(order)));
  double others = 0;
  for (size_t i = 0; i < kernels.size(); ++i)
    if (i < shown)
      rows.kernel(*kernels[i]);
    else
      others += kernels[i]->median_us;
  if (shown < kernels.size())
    rows.row("", std::to_string(kernels.size() - shown) + " more (--top N, --all)", us_text(others), "",
             percent(report.sum_us > 0 ? others / report.sum_us : 0, "%.1f %%"), nullptr, "");
}

void write_all(std::ostream& out, const ProfileReport& report, const TableOptions& options) {
  Rows rows(out, report, options);
  rows.head("kernel, and the operators it computes");
  for (const KernelRow* kernel : sorted_kernels(report, options.order.value_or(TableOrder::kNode))) {
    rows.kernel(*kernel);
    write_details(rows, report, *kernel);
  }
}

std::string signed_us(double us) { return (us < 0 ? "-" : "") + us_text(std::abs(us)); }

void write_totals(std::ostream& out, const ProfileReport& report, int width) {
  constexpr int kNote = 18, kBesideNote = 48 - kNote, kName = 27;
  const double e2e = report.end_to_end_us;
  auto total = [&](const char* name, double us, const std::string& note) {
    // A long note moves the numbers to the left, and where there is no room for that, to a line of its own.
    const int note_width = static_cast<int>(note.size());
    const bool beside = note_width <= width - kBesideNote - kName;
    const int name_width = width - kBesideNote - (beside ? std::max(note_width, kNote) : kNote);
    out << table_line(formatted("       %-*s %11s %6.1f %%  %s", name_width, name, signed_us(us).c_str(),
                                e2e > 0 ? us / e2e * 100 : 0, beside ? note.c_str() : ""));
    if (!beside) out << wrapped(note, 9, width);
  };
  out << '\n';
  total("sum of kernels", report.sum_us, "");
  if (report.program) {
    for (const ProgramTimes::Part& part : report.program->parts) {
      std::string note = plus_minus(part.plus_minus_us, part.us);
      if (!note.empty()) note = "+- " + note;
      if (&part == &report.program->parts.back() && report.program->instructions > 0)
        note += formatted("%s%.0f instructions", note.empty() ? "" : ", ", report.program->instructions);
      total(part.name.c_str(), part.us, note);
    }
    total("sum of all", report.sum_us + report.program->parts_us(), "");
  }
  if (!report.predicted.empty()) {
    total("end to end, predicted", e2e,
          report.out_of_range.empty()
              ? formatted("in %.0f of 100 cases between %s and %s", 100 * report.level,
                          us_with_unit(report.end_to_end_low_us.value_or(e2e)).c_str(),
                          us_with_unit(report.end_to_end_high_us.value_or(e2e)).c_str())
              : "a guess");
    if (!report.out_of_range.empty())
      out << wrapped("out of range, no interval holds: " + report.out_of_range, 7, width);
    out << wrapped("predicted by " + report.predicted, 7, width);
    return;
  }
  const bool loaded = !report.under_load.empty();
  const char* kind = loaded ? "least disturbed" : "median";
  // Other engines time their steps in every run that a profile of theirs has.
  const bool both = !report.profiled_us.empty();
  total(both ? "end to end, profiling off" : "end to end, steps timed", e2e,
        report.end_to_end_plus_minus_us
            ? std::string(kind) + ", +- " + plus_minus(report.end_to_end_plus_minus_us, e2e)
        : report.plain_us.empty() ? "of the steps: no whole runs"
                                  : formatted("%s of %zu runs", kind, report.plain_us.size()));
  if (report.between_us) total("between kernels", *report.between_us, "profiling on");
  if (!loaded && both)
    total("end to end, profiling on", median(report.profiled_us),
          formatted("overhead %.3fx", report.overhead()));
  if (!loaded && !report.plain_us.empty())
    out << wrapped(
        formatted("%.1f runs per second; of the runs 90 %% take at most %s, 99 %% at most %s",
                  e2e > 0 ? 1e6 / e2e : 0.0, us_with_unit(percentile(report.plain_us, 0.9)).c_str(),
                  us_with_unit(percentile(report.plain_us, 0.99)).c_str()),
        7, width);
  if (report.memory)
    out << wrapped("memory: constants " + bytes_text(report.memory->constants_bytes) + ", workspace " +
                       bytes_text(report.memory->workspace_bytes) + ", of it at most " +
                       bytes_text(report.memory->peak_bytes) + " needed at once",
                   7, width);
  if (loaded)
    out << wrapped(formatted("load average was %.1f; %s", report.load, report.under_load.c_str()), 7, width);
  else if (both)
    out << formatted("       runs vary by %.1f %% (standard deviation), load average was %.1f\n",
                     report.cv * 100, report.load);
  if (!report.exchange_ns.empty())
    out << formatted("       processors: a cache line goes to another and back in %.0f ns\n",
                     median(report.exchange_ns));
}

void write_machine(std::ostream& out, const ProfileReport& report, int width) {
  if (!report.device) return;
  const DevicePeaks& peaks = *report.device->peaks;
  std::string l3;
  if (peaks.l3_program_bytes > 0)
    l3 = formatted(", L3 %.1f GB/s for programs of up to %.1f MB", peaks.l3_gbytes_per_s,
                   peaks.l3_program_bytes / 1e6);
  out << wrapped(
      formatted("roofs of %s: compute %.1f GFLOP/s, memory %.1f GB/s, cache %.1f GB/s for "
                "up to %.2f MB%s (%s)",
                report.predicted.empty() ? "this machine" : "the machine that times are predicted for",
                peaks.gflops, peaks.gbytes_per_s, peaks.cache_gbytes_per_s, peaks.cache_bytes / 1e6,
                l3.c_str(),
                report.predicted.empty() ? clipped(report.device->name, 20).c_str() : report.machine.c_str()),
      7, width);
  const auto over = [&](bool nominal) {
    return std::any_of(report.kernels.begin(), report.kernels.end(), [&](const KernelRow& row) {
      return row.roofline.share > kOverRoof &&
             (row.roofline.nominal && row.roofline.bound == "compute") == nominal;
    });
  };
  if (over(true))
    out << wrapped(
        "over 100 % of compute: Winograd does fewer operations than the convolution, whose are counted", 7,
        width);
  if (over(false))
    out << wrapped(
        "over 100 % elsewhere: what lies in a cache that cores share comes faster than from memory", 7,
        width);
}

// Which times come from loops or from the measurement of an equal kernel.
void write_sharing(std::ostream& out, const ProfileReport& report, int width) {
  const auto count = [&](auto&& chosen) {
    return std::count_if(report.kernels.begin(), report.kernels.end(), chosen);
  };
  const auto split = [](const KernelRow& row) { return !row.inside.empty(); };
  const auto shared = [&](const KernelRow& row) {
    return split(row) && row.split_at && *row.split_at != row.node;
  };
  if (const auto looped = count([](const KernelRow& row) { return row.calls_per_sample > 1; }))
    out << wrapped(
        formatted("note: %td kernels are too short for the clock: called in loops, with warm caches", looped),
        7, width);
  if (const auto sharing = count(shared))
    out << wrapped(formatted("note: %td of %td split kernels share the measurement of an equal kernel",
                             sharing, count(split)),
                   7, width);
}

void write_without_time(std::ostream& out, const ProfileReport& report) {
  for (const WithoutTime& section : without_time(report)) {
    out << '\n' << section.title << '\n';
    for (const auto& [name, why] : section.operators)
      out << formatted("       %-40s %s\n", name.c_str(), why.c_str());
  }
}

// What the details would say.
void write_counts(std::ostream& out, const ProfileReport& report, int width) {
  std::string text;
  for (const WithoutTime& section : without_time(report))
    text += (text.empty() ? "" : ", ") + std::to_string(section.operators.size()) + " " +
            section.title.substr(0, section.title.find(" ("));
  out << wrapped(counted(report.operators.size(), "operator") + " in " +
                     counted(report.kernels.size(), "kernel") +
                     (text.empty() ? "" : "; without a time, or with a part of it: " + text),
                 7, width)
      << wrapped("--all: every kernel with its operators, and their times alone and inside", 7, width);
}

}  // namespace

const std::vector<std::string>& table_orders() {
  static const std::vector<std::string> names = {"time", "node", "roof", "cv"};
  return names;
}

TableOrder table_order(const std::string& name) {
  const auto& names = table_orders();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return static_cast<TableOrder>(at - names.begin());
  const std::string near = did_you_mean(name, names);
  throw UsageError("kernels are not sorted by `" + name + "`" +
                   (near.empty() ? "" : "; did you mean `" + near + "`?") +
                   "\n  there are time, node, roof and cv");
}

const std::vector<std::string>& table_views() {
  static const std::vector<std::string> names = {"operator", "module", "source", "kernel"};
  return names;
}

TableBy table_by(const std::string& name) {
  if (name.empty()) return TableBy::kSummary;
  const auto& names = table_views();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return static_cast<TableBy>(at - names.begin() + 1);
  const std::string near = did_you_mean(name, names);
  throw UsageError("there is no table by `" + name + "`" +
                   (near.empty() ? "" : "; did you mean `" + near + "`?") +
                   "\n  there are operator, module, source and kernel");
}

void write_heading(std::ostream& out, const ProfileReport& report, const TableOptions& options) {
  const std::string level = report.opt_level < 0 ? "" : ", opt level " + std::to_string(report.opt_level);
  const std::string precision = report.precision.empty() ? "" : ", precision " + report.precision;
  const std::string machine = report.machine.empty() ? "" : ", " + report.machine;
  const std::string text =
      report.model + " on " + report.target +
      (report.threads > 0 ? formatted(", %d thread%s", report.threads, report.threads == 1 ? "" : "s") : "") +
      formatted("%s%s, baton %s", level.c_str(), precision.c_str(), report.version.c_str()) + machine;
  const int width = std::max(options.width, kNarrow);
  std::string head = wrapped(text, 0, width);
  head.pop_back();
  out << in_style(Style::kHead, options.colour, head) << '\n';
  if (!report.inputs.empty() && !report.point) out << wrapped("on " + inputs_text(report), 0, width);
  if (report.has_text()) out << wrapped("lines are those of " + report.source, 0, width);
}

namespace {

void write_times(std::ostream& out, const ProfileReport& report, const TableOptions& options) {
  switch (options.by) {
    case TableBy::kOperator:
      return write_by_operator(out, report, options);
    case TableBy::kModule:
      return write_by_module(out, report, options);
    case TableBy::kSource:
      return write_by_source(out, report, options);
    case TableBy::kSummary:
      write_kinds(out, report, options);
      break;
    case TableBy::kKernel:
      break;
  }
  if (options.all)
    write_all(out, report, options);
  else
    write_longest(out, report, options);
}

}  // namespace

void write_table(std::ostream& out, const ProfileReport& report, const TableOptions& options) {
  const int width = std::max(options.width, kNarrow);
  if (options.heading) write_heading(out, report, options);
  write_times(out, report, options);
  write_control_flow(out, report, options);
  write_totals(out, report, width);
  write_machine(out, report, width);
  if (!report.partial.empty()) out << wrapped("partial: " + report.partial, 7, width);
  write_sharing(out, report, width);
  for (const std::string& note : report.notes) out << wrapped("note: " + note, 7, width);
  if (options.all && options.by == TableBy::kSummary) {
    write_operators(out, report);
    write_without_time(out, report);
  } else if (options.by == TableBy::kSummary) {
    write_counts(out, report, width);
  }
  if (report.comparison) write_comparison(out, report, options);
}

}  // namespace baton
