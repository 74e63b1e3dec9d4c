#include "baton/profile/write/summary_table.h"

#include <algorithm>
#include <map>
#include <set>

#include "baton/ir/rules/brief.h"
#include "baton/profile/report/portions.h"
#include "baton/profile/report/report_text.h"
#include "baton/profile/write/table_format.h"

namespace baton {

namespace {

constexpr size_t kKinds = 10;  // lines unless all are asked for
constexpr int kKindName = 30;
constexpr int kBesideBar = kKindName + 36;

/// Damaged reports may hold any number: of those that are no share there is no bar.
std::string bar(double share, int width) {
  const double length = share * width + 0.5;
  return length >= 1 && length <= width + 1 ? std::string(static_cast<size_t>(length), '#') : std::string();
}

std::string time_text(const KindTime& kind) {
  if (kind.unreliable) return "unreliable";
  return kind.us > 0 ? (kind.estimated ? "~" : "") + us_text(kind.us) : "< noise";
}

}  // namespace

std::vector<KindTime> times_by_kind(const ProfileReport& report) {
  std::map<std::string, KindTime> kinds;
  const std::vector<OperatorTime> times = operator_times(report);
  double rest = report.sum_us;
  std::set<uint32_t> unknown;  // nodes
  for (const KernelRow& kernel : report.kernels)
    if (!kernel.unreliable.empty()) unknown.insert(kernel.node);
  const auto add = [&](const std::string& name, double us, bool estimated, bool unreliable) {
    KindTime& kind = kinds[name];
    kind.name = name;
    kind.us += us;
    kind.estimated |= estimated;
    kind.unreliable |= unreliable;
    ++kind.operators;
    rest -= us;
  };
  for (size_t i = 0; i < times.size(); ++i)
    if (times[i].has_kernel)
      add(brief_name(report.operators[i].op), times[i].us, times[i].by == PortionBy::kEqual,
          std::ranges::any_of(report.operators[i].nodes,
                              [&](uint32_t node) { return unknown.contains(node); }));
  for (const KernelRow& kernel : report.kernels)
    if (kernel.origins.empty())
      add("added by the compiler", kernel.median_us, false, !kernel.unreliable.empty());
  std::vector<KindTime> sorted;
  for (auto& [name, kind] : kinds) sorted.push_back(std::move(kind));
  if (rest > 1e-6 * report.sum_us) sorted.push_back({"load, store, loop", 0, false, rest, !unknown.empty()});
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
      others.estimated |= kinds[i].estimated;
      others.unreliable |= kinds[i].unreliable;
    }
    kinds.resize(kKinds);
    kinds.push_back(others);
  }
  out << '\n'
      << in_style(Style::kHead, options.colour,
                  formatted("%-*s %10s %12s %8s", kKindName, "time by operator", "operators", "us", "share"))
      << '\n';
  const bool known = report.sum_unreliable().empty();
  const int room = std::clamp(options.width - kBesideBar, 0, 40);
  for (const KindTime& kind : kinds) {
    const double share = known && report.sum_us > 0 ? kind.us / report.sum_us : 0;
    const std::string count = kind.operators ? std::to_string(kind.operators) : "";
    const std::string numbers =
        formatted("%-*s %10s %12s %8s", kKindName, clipped(kind.name, kKindName).c_str(), count.c_str(),
                  time_text(kind).c_str(), known ? formatted("%.1f %%", share * 100).c_str() : "");
    out << in_style(style_of_share(share), options.colour,
                    table_line(numbers + "  " + bar(share, room), false))
        << '\n';
  }
  if (std::any_of(kinds.begin(), kinds.end(), [](const KindTime& kind) { return kind.estimated; }))
    out << wrapped("~ with kernels whose inside was not measured: their operators count alike", 7,
                   options.width);
}

}  // namespace baton
