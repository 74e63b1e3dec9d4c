#include "baton/driver/plan/planned_kernels.h"

#include <algorithm>
#include <cstdio>
#include <span>

#include "baton/driver/plan/region_attrs.h"
#include "baton/ir/structural.h"

namespace baton {
namespace {

std::vector<uint32_t> ids_of(const OriginTable& table, std::span<const Origin* const> origins) {
  std::vector<uint32_t> ids;
  for (const Origin* origin : origins)
    if (const auto id = table.find(origin)) ids.push_back(index(*id));
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

int PlannedKernels::of(const Function& function, const KernelPlace& place) {
  const uint64_t hash = structural_hash(Expr(function));
  for (int candidate : by_hash_[hash]) {
    const PlannedKernel& known = kernels_[candidate];
    if (known.place.backend == place.backend && known.place.device_type == place.device_type &&
        structural_equal(Expr(known.function), Expr(function)))
      return candidate;
  }
  const int fresh = static_cast<int>(kernels_.size());
  const std::string region = region_of(*function);
  const std::string name =
      region.empty() ? kernel_name(mod_name_, *function) : region_kernel_name(region, *function);
  kernels_.push_back({names_.make(name), function, false, place});
  by_hash_[hash].push_back(fresh);
  return fresh;
}

void set_kernel_attrs(PlanNode& node, const Function& function) {
  node.fallback = refusal_of_region(*function);
  node.attrs.clear();
  for (const auto& [name, value] : function->attrs())
    if (const auto* text = value.as<std::string>(); text && name != kFallback)
      node.attrs.emplace_back(name, *text);
  if (!function->attr("hash")) {
    char hash[24];
    std::snprintf(hash, sizeof hash, "%016llx",
                  static_cast<unsigned long long>(structural_hash(Expr(function))));
    node.attrs.emplace_back("hash", hash);
  }
}

void set_origins(PlanNode& node, const OriginTable& table, const OriginSet& origins) {
  node.origins = ids_of(table, origins.origins());
  node.made_for = ids_of(table, origins.causes());
  node.reason = origins.reason();
}

}  // namespace baton
