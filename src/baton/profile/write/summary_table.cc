#include "baton/profile/write/summary_table.h"

#include <algorithm>
#include <map>

#include "baton/ir/rules/brief.h"
#include "baton/profile/report/portions.h"
#include "baton/profile/report/report_text.h"
#include "baton/profile/write/table_format.h"

namespace baton {

namespace {

constexpr size_t kKinds = 10;  // lines unless all are asked for
constexpr int kKindName = 22;
constexpr int kBesideBar = kKindName + 49;

constexpr char kAdded[] = "added by the compiler";

/// Damaged reports may hold any number: of those that are no share there is no bar.
std::string bar(double share, int width) {
  const double length = share * width + 0.5;
  return length >= 1 && length <= width + 1 ? std::string(static_cast<size_t>(length), '#') : std::string();
}

std::string time_text(const KindTime& kind) {
  return kind.us > 0 ? (kind.estimated ? "~" : "") + us_text(kind.us) : "< noise";
}

/// The name of the operator that takes most of the kernel's time.
std::string main_kind(const ProfileReport& report, const KernelRow& kernel) {
  const Portion* most = nullptr;
  const std::vector<Portion> parts = portions(kernel);
  for (const Portion& each : parts)
    if (each.id && (!most || each.share > most->share)) most = &each;
  return most ? brief_name(report.operators[*most->id].op) : kAdded;
}

}  // namespace

std::vector<KindTime> times_by_kind(const ProfileReport& report) {
  std::map<std::string, KindTime> kinds;
  const std::vector<OperatorTime> times = operator_times(report);
  double rest = report.sum_us;
  const auto add = [&](const std::string& name, double us, bool estimated) {
    KindTime& kind = kinds[name];
    kind.name = name;
    kind.us += us;
    kind.estimated |= estimated;
    ++kind.operators;
    rest -= us;
  };
  for (size_t i = 0; i < times.size(); ++i)
    if (times[i].has_kernel)
      add(brief_name(report.operators[i].op), times[i].us, times[i].by == PortionBy::kEqual);
  for (const KernelRow& kernel : report.kernels) {
    if (kernel.origins.empty()) add(kAdded, kernel.median_us, false);
    kinds[main_kind(report, kernel)].memory_bytes += kernel.constant_bytes + kernel.result_bytes;
  }
  std::vector<KindTime> sorted;
  for (auto& [name, kind] : kinds) sorted.push_back(std::move(kind));
  if (rest > 1e-6 * report.sum_us) sorted.push_back({"load, store, loop", 0, false, rest, 0});
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.us > b.us; });
  return sorted;
}

void write_kinds(std::ostream& out, const ProfileReport& report, const TableOptions& options) {
  std::vector<KindTime> kinds = times_by_kind(report);
  if (!options.all && kinds.size() > kKinds + 1) {
    KindTime others{std::to_string(kinds.size() - kKinds) + " other kinds"};
    for (size_t i = kKinds; i < kinds.size(); ++i) {
      others.operators += kinds[i].operators;
      others.us += kinds[i].us;
      others.memory_bytes += kinds[i].memory_bytes;
      others.estimated |= kinds[i].estimated;
    }
    kinds.resize(kKinds);
    kinds.push_back(others);
  }
  out << '\n'
      << in_style(Style::kHead, options.colour,
                  formatted("%-*s %9s %11s %7s %7s %9s", kKindName, "time by operator", "operators", "us",
                            "share", "sum", "memory"))
      << '\n';
  double sum = 0;
  const int room = std::clamp(options.width - kBesideBar, 0, 40);
  for (const KindTime& kind : kinds) {
    const double share = report.sum_us > 0 ? kind.us / report.sum_us : 0;
    const std::string count = kind.operators ? std::to_string(kind.operators) : "";
    sum += share;
    const std::string memory = kind.memory_bytes > 0 ? bytes_text(kind.memory_bytes) : "";
    const std::string numbers =
        formatted("%-*s %9s %11s %7s %7s %9s", kKindName, clipped(kind.name, kKindName).c_str(),
                  count.c_str(), time_text(kind).c_str(), formatted("%.1f %%", share * 100).c_str(),
                  formatted("%.1f %%", sum * 100).c_str(), memory.c_str());
    out << in_style(style_of_share(share), options.colour,
                    table_line(numbers + "  " + bar(share, room), false))
        << '\n';
  }
  if (std::any_of(kinds.begin(), kinds.end(), [](const KindTime& kind) { return kind.estimated; }))
    out << wrapped("~ with kernels whose inside was not measured: their operators count alike", 7,
                   options.width);
}

}  // namespace baton
