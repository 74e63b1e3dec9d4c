#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "baton/profile/report_text.h"

namespace baton {

namespace {

constexpr int kNameWidth = 74;

std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char* pattern, ...) {
  char text[400];
  va_list values;
  va_start(values, pattern);
  std::vsnprintf(text, sizeof text, pattern, values);
  va_end(values);
  return text;
}

// A line of a table: no column after the last that holds something.
std::string line(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text + '\n';
}

std::string clipped(const std::string& text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

void write_part(std::ostream& out, const ProfileReport& report, const KernelRow& kernel, const InsideRow& part) {
  const std::string share = part.below_noise ? "" : format("%.1f %%", part.share * 100);
  out << line(format("       %-*s %11s %8s  %s", kNameWidth, clipped(part_label(report, part), kNameWidth).c_str(),
                     part_time(kernel, part).c_str(), share.c_str(),
                     method_name(part.method)));
}

void write_kernel(std::ostream& out, const ProfileReport& report, const KernelRow& kernel) {
  out << format("%4u   %-*s %11s %6.1f %%\n", kernel.node, kNameWidth, clipped(short_name(kernel.name), kNameWidth).c_str(),
                us_text(kernel.median_us).c_str(), kernel.share * 100);
  for (const InsideRow& part : kernel.inside) write_part(out, report, kernel, part);
  if (kernel.inside.empty())
    for (uint32_t id : kernel.origins) out << "       " << operators_text(report, {id}) << '\n';
  if (kernel.origins.empty() && !kernel.reason.empty())
    out << "       made for " << clipped(operators_text(report, kernel.made_for) + ": " + kernel.reason, 100) << '\n';
  if (!kernel.trusted)
    out << format("       (the stages sum to %.1f %% of the kernel: estimates)\n", kernel.stage_sum * 100);
  for (const std::string& note : kernel.inside_notes) out << format("       (%s)\n", clipped(note, 110).c_str());
  if (kernel.load_threads > 1)
    out << format("       (alone on %d threads %s us, which are busy %.1f %% of it)\n", kernel.load_threads,
                  us_text(kernel.threads_us).c_str(), kernel.utilisation * 100);
}

void write_without_time(std::ostream& out, const ProfileReport& report) {
  for (const WithoutTime& section : without_time(report)) {
    out << '\n' << section.title << '\n';
    for (const auto& [name, why] : section.operators) out << format("       %-40s %s\n", name.c_str(), why.c_str());
  }
}

}  // namespace

void write_table(std::ostream& out, const ProfileReport& report) {
  out << format("%s on %s, %d thread%s, opt level %d, baton %s\n", report.model.c_str(), report.target.c_str(), report.threads,
                report.threads == 1 ? "" : "s", report.opt_level, report.version.c_str());
  if (!report.source.empty()) out << "lines are those of " << report.source << '\n';
  out << format("\nnode   %-*s %11s %8s  inside by\n", kNameWidth, "kernel, and the operators it computes", "median us", "share");
  for (const KernelRow& kernel : report.kernels) write_kernel(out, report, kernel);
  const double e2e = report.end_to_end_us;
  auto total = [&](const char* name, double us, const std::string& note) {
    out << line(format("       %-*s %11.1f %6.1f %%  %s", kNameWidth, name, us, e2e > 0 ? us / e2e * 100 : 0, note.c_str()));
  };
  out << '\n';
  total("sum of kernels", report.sum_us, "");
  total("end to end, profiling off", e2e, format("median of %zu runs", report.plain_us.size()));
  total("residual: between kernels", report.residual_us(), "");
  total("end to end, profiling on", median(report.profiled_us), format("overhead %.3fx", report.overhead()));
  out << format("       runs vary by %.1f %% (standard deviation), load average was %.1f%s\n", report.cv * 100, report.load,
                report.cv > 0.03 ? "; a quieter machine gives steadier times" : "");
  write_without_time(out, report);
}

}  // namespace baton
