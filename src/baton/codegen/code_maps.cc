#include "baton/codegen/code_maps.h"

#include <optional>
#include <utility>

#include "baton/codegen/compile.h"
#include "baton/codegen/debug/assembly.h"
#include "baton/codegen/debug/code_map_json.h"
#include "baton/codegen/debug/map_listing.h"
#include "baton/codegen/parallel.h"

namespace baton {

Result<CodeMap> listed_as_shipped(const KernelRequest& request, const Kernel& kernel,
                                  const DeviceSheet& sheet, KernelListing* listing) {
  // Halide numbers names per process; when a counter gains a digit, the order of names, and with it the code,
  // may change.
  constexpr int kAttempts = 3;
  Result<CodeMap> map = Status::unavailable("");
  for (int i = 0; i < kAttempts && !map.ok(); ++i) {
    KernelListing made = kernel_listing(request, sheet);
    map = map_listing(made, kernel.object);
    if (listing) *listing = std::move(made);
    if (!map.ok() && map.status().code != StatusCode::kUnavailable) break;
  }
  return map;
}

Result<CodeMap> code_map(const KernelRequest& request, const Kernel& kernel, const DeviceSheet& sheet,
                         KernelCache* cache) {
  constexpr const char* kKind = "map";
  KernelCache& kept = cache ? *cache : KernelCache::shared();
  if (const std::optional<std::string> bytes = kept.load_bytes(kernel.key, kKind))
    if (std::optional<CodeMap> map = parse_code_map(*bytes)) return std::move(*map);
  if (find_assembler().empty()) return assemble("").status();  // fail early, before the expensive part
  Result<CodeMap> map = listed_as_shipped(request, kernel, sheet, nullptr);
  if (map.ok()) kept.store_bytes(kernel.key, kKind, code_map_text(*map));
  return map;
}

Result<std::vector<CodeMap>> code_maps(std::span<const KernelRequest> requests,
                                       std::span<const KernelRef> kernels, const BuildContext& context) {
  BATON_CHECK(requests.size() == kernels.size());
  std::vector<std::optional<Result<CodeMap>>> made(requests.size());
  run_parallel(static_cast<int>(requests.size()), context, false,
               [&](int i) { made[i] = code_map(requests[i], *kernels[i], context.host(), context.cache); });
  std::vector<CodeMap> maps;
  for (std::optional<Result<CodeMap>>& map : made) {
    if (!map->ok()) return map->status();
    maps.push_back(std::move(**map));
  }
  return maps;
}

}  // namespace baton
