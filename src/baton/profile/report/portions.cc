#include "baton/profile/report/portions.h"

#include <algorithm>
#include <map>

#include "baton/profile/inside/inside_split.h"

namespace baton {

const char* portion_name(PortionBy by) {
  switch (by) {
    case PortionBy::kWhole:
      return "whole";
    case PortionBy::kSplit:
      return "split";
    case PortionBy::kEqual:
      return "equal";
    case PortionBy::kRest:
      return "rest";
    case PortionBy::kOwn:
      return "own";
  }
  return "";
}

std::vector<Portion> portions(const KernelRow& kernel) {
  if (kernel.origins.empty()) return {{std::nullopt, 1, PortionBy::kOwn}};
  // The only operator of a kernel gets all of its time, loads and loop included.
  if (kernel.origins.size() == 1) return {{kernel.origins[0], 1, PortionBy::kWhole}};
  std::map<uint32_t, double> shares;
  double all = 0, named = 0;
  for (const InsideRow& part : kernel.inside) {
    all += part.share;
    for (uint32_t id : part.ids) {
      if (!std::count(kernel.origins.begin(), kernel.origins.end(), id)) continue;
      shares[id] += part.share / static_cast<double>(part.ids.size());
      named += part.share / static_cast<double>(part.ids.size());
    }
  }
  std::vector<Portion> out;
  if (named <= 0) {
    // Not to those that only count elements otherwise.
    const auto moves_nothing = [&](uint32_t id) {
      bool does = false;
      for (const InsideRow& part : kernel.inside)
        if (std::count(part.ids.begin(), part.ids.end(), id)) {
          if (part.reason != kMovesNothing) return false;
          does = true;
        }
      return does;
    };
    auto count = static_cast<double>(
        std::ranges::count_if(kernel.origins, [&](uint32_t id) { return !moves_nothing(id); }));
    const bool all_same = count == 0;
    if (all_same) count = static_cast<double>(kernel.origins.size());
    for (uint32_t id : kernel.origins)
      out.push_back({id, all_same || !moves_nothing(id) ? 1.0 / count : 0, PortionBy::kEqual});
    return out;
  }
  const double scale = all > 1 ? 1 / all : 1;
  double given = 0;
  for (uint32_t id : kernel.origins) {
    out.push_back({id, shares[id] * scale, PortionBy::kSplit});
    given += out.back().share;
  }
  out.push_back({std::nullopt, std::max(0.0, 1 - given), PortionBy::kRest});
  return out;
}

std::vector<OperatorTime> operator_times(const ProfileReport& report) {
  std::vector<OperatorTime> times(report.operators.size());
  for (const KernelRow& kernel : report.kernels) {
    for (const Portion& portion : portions(kernel)) {
      if (!portion.id) continue;
      OperatorTime& time = times.at(*portion.id);
      time.us += portion.share * kernel.median_us;
      time.has_kernel = true;
      time.by = std::max(time.by, portion.by);
    }
  }
  return times;
}

}  // namespace baton
