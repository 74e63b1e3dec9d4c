#include "baton/profile/write/table.h"

#include <algorithm>
#include <cmath>

#include "baton/profile/report/report_text.h"
#include "baton/profile/write/operators_table.h"
#include "baton/profile/write/table_format.h"

namespace baton {

namespace {

constexpr int kName = 53;      // kernels and their parts
constexpr int kTotal = 72;     // labels of sums
constexpr size_t kListed = 4;  // operators without time shown per reason, unless all are requested
constexpr double kOverRoof = 1.02;

std::string percent(double share, const char* pattern) { return formatted(pattern, share * 100); }

std::string row_text(const std::string& node, const std::string& name, const std::string& us,
                     const std::string& cv, const std::string& share, const Roofline* roof,
                     const std::string& by) {
  std::string reached(24, ' ');
  if (roof && (roof->gflops > 0 || roof->gbytes_per_s > 0))
    reached = formatted("%8.1f %7.1f %7s", roof->gflops, roof->gbytes_per_s,
                        roof->bound.empty() ? "" : percent(roof->share, "%.0f %%").c_str());
  return table_line(formatted("%4s   %-*s %10s %5s %7s %s  %s", node.c_str(), kName, name.c_str(), us.c_str(),
                              cv.c_str(), share.c_str(), reached.c_str(), by.c_str()));
}

/// The 95 % interval in percent of the time.
std::string plus_minus(const std::optional<double>& half, double us) {
  return half && us > 0 ? percent(*half / us, "%.1f") + "%" : "";
}

void write_part(std::ostream& out, const ProfileReport& report, const KernelRow& kernel,
                const InsideRow& part) {
  out << row_text("", clipped(part_label(report, part), kName), part_time(kernel, part),
                  part.below_noise ? "" : plus_minus(part.plus_minus_us, part.us),
                  part.below_noise ? "" : percent(part.share, "%.1f %%"), nullptr, method_name(part.method));
}

// Parts too short to be measured share one line.
void write_parts(std::ostream& out, const ProfileReport& report, const KernelRow& kernel, bool all) {
  std::string nothing;
  for (const InsideRow& part : kernel.inside) {
    if (!part.below_noise || all) {
      write_part(out, report, kernel, part);
      continue;
    }
    const std::string source = operators_text(report, part.ids);
    nothing += (nothing.empty() ? "" : ", ") + (source.empty() ? part.label : source);
  }
  if (!nothing.empty())
    out << row_text("", clipped(nothing, kName), "< noise", "", "", nullptr,
                    method_name(InsideMethod::kAblation));
}

void write_kernel(std::ostream& out, const ProfileReport& report, const KernelRow& kernel, bool all) {
  const bool known = kernel.unreliable.empty();
  out << row_text(std::to_string(kernel.node), clipped_inside(short_name(kernel.name), kName),
                  known ? us_text(kernel.median_us) : "unreliable",
                  known ? plus_minus(kernel.plus_minus_us, kernel.median_us) : "",
                  known ? percent(kernel.share, "%.1f %%") : "", known ? &kernel.roofline : nullptr,
                  known ? kernel.roofline.bound : "");
  write_parts(out, report, kernel, all);
  if (kernel.inside.empty())
    for (uint32_t id : kernel.origins) out << "       " << operators_text(report, {id}) << '\n';
  if (kernel.origins.empty() && !kernel.reason.empty())
    out << "       made for " << clipped(operators_text(report, kernel.made_for) + ": " + kernel.reason, 100)
        << '\n';
  if (!kernel.trusted)
    out << formatted("       (the stages sum to %.1f %% of the kernel: estimates)\n", kernel.stage_sum * 100);
  for (const std::string& note : kernel.inside_notes)
    out << formatted("       (%s)\n", clipped(note, 110).c_str());
  if (kernel.load_threads > 1)
    out << formatted("       (alone on %d threads, caches warm, %s us, which are busy %.1f %% of it)\n",
                     kernel.load_threads, us_text(kernel.threads_us).c_str(), kernel.utilisation * 100);
}

std::string signed_us(double us) { return (us < 0 ? "-" : "") + us_text(std::abs(us)); }

void write_totals(std::ostream& out, const ProfileReport& report) {
  const double e2e = report.end_to_end_us;
  auto total = [&](const char* name, double us, const std::string& note) {
    out << table_line(formatted("       %-*s %11s %6.1f %%  %s", kTotal, name, signed_us(us).c_str(),
                                e2e > 0 ? us / e2e * 100 : 0, note.c_str()));
  };
  out << '\n';
  const auto unknown = [&](const char* name, const std::string& why) {
    out << table_line(
        formatted("       %-*s %11s           %s", kTotal, name, "unreliable", clipped(why, 60).c_str()));
  };
  const auto first = std::find_if(report.kernels.begin(), report.kernels.end(),
                                  [](const KernelRow& row) { return !row.unreliable.empty(); });
  if (first != report.kernels.end())
    unknown("sum of kernels", first->unreliable);
  else
    total("sum of kernels", report.sum_us, "");
  if (!report.unreliable.empty())
    unknown("end to end, profiling off", report.unreliable);
  else
    total("end to end, profiling off", e2e,
          formatted("median of %zu runs", report.plain_us.size()) +
              (report.end_to_end_plus_minus_us ? ", +- " + plus_minus(report.end_to_end_plus_minus_us, e2e)
                                               : ""));
  if (report.unreliable.empty() && report.between_us)
    total("between kernels", *report.between_us, "profiling on");
  if (report.unreliable.empty())
    total("end to end, profiling on", median(report.profiled_us),
          formatted("overhead %.3fx", report.overhead()));
  out << formatted("       runs vary by %.1f %% (standard deviation), load average was %.1f\n",
                   report.cv * 100, report.load);
}

void write_machine(std::ostream& out, const ProfileReport& report) {
  if (!report.device) return;
  const DevicePeaks& peaks = *report.device->peaks;
  out << formatted(
      "       roofs of this machine: compute %.1f GFLOP/s, memory %.1f GB/s, cache %.1f GB/s for up to %.2f "
      "MB (%s)\n",
      peaks.gflops, peaks.gbytes_per_s, peaks.cache_gbytes_per_s, peaks.cache_bytes / 1e6,
      clipped(report.device->name, 20).c_str());
  const auto over = [&](bool nominal) {
    return std::any_of(report.kernels.begin(), report.kernels.end(), [&](const KernelRow& row) {
      return row.roofline.share > kOverRoof &&
             (row.roofline.nominal && row.roofline.bound == "compute") == nominal;
    });
  };
  if (over(true))
    out << "       over 100 % of compute: Winograd does fewer operations than the convolution, whose are "
           "counted\n";
  if (over(false))
    out << "       over 100 % elsewhere: what lies in a cache that cores share comes faster than from "
           "memory\n";
}

void write_without_time(std::ostream& out, const ProfileReport& report, bool all) {
  for (const WithoutTime& section : without_time(report)) {
    out << '\n' << section.title << '\n';
    const size_t shown = all || section.operators.size() <= kListed + 1 ? section.operators.size() : kListed;
    for (size_t i = 0; i < shown; ++i)
      out << formatted("       %-40s %s\n", section.operators[i].first.c_str(),
                       section.operators[i].second.c_str());
    if (shown < section.operators.size())
      out << formatted("       and %zu more (--all shows them)\n", section.operators.size() - shown);
  }
}

}  // namespace

void write_table(std::ostream& out, const ProfileReport& report, bool all) {
  const std::string level = report.opt_level < 0 ? "" : ", opt level " + std::to_string(report.opt_level);
  out << report.model
      << formatted(" on %s, %d thread%s%s, baton %s\n", report.target.c_str(), report.threads,
                   report.threads == 1 ? "" : "s", level.c_str(), report.version.c_str());
  if (!report.source.empty()) out << "lines are those of " << report.source << '\n';
  out << formatted("\nnode   %-*s %10s %5s %7s %8s %7s %7s  by\n", kName,
                   "kernel, and the operators it computes", "median us", "+-", "share", "GFLOP/s", "GB/s",
                   "of roof");
  for (const KernelRow& kernel : report.kernels) write_kernel(out, report, kernel, all);
  write_totals(out, report);
  write_machine(out, report);
  if (!report.partial.empty()) out << "       partial: " << report.partial << '\n';
  if (const auto looped = std::count_if(report.kernels.begin(), report.kernels.end(),
                                        [](const KernelRow& row) { return row.calls_per_sample > 1; }))
    out << formatted(
        "       note: %td kernels are too short for the clock: called in loops, with warm caches\n", looped);
  const auto split = [](const KernelRow& row) { return !row.inside.empty(); };
  const auto shared = [&](const KernelRow& row) {
    return split(row) && row.split_at && *row.split_at != row.node;
  };
  if (const auto count = std::count_if(report.kernels.begin(), report.kernels.end(), shared))
    out << formatted("       note: %td of %td split kernels share the measurement of an equal kernel\n",
                     count, std::count_if(report.kernels.begin(), report.kernels.end(), split));
  for (const std::string& note : report.notes) out << "       note: " << clipped(note, 107) << '\n';
  write_operators(out, report, all);
  write_without_time(out, report, all);
}

}  // namespace baton
