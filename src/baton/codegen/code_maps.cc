#include "baton/codegen/code_maps.h"

#include "baton/codegen/compile.h"
#include "baton/codegen/debug/assembly.h"
#include "baton/codegen/debug/code_map_json.h"

namespace baton {

Result<CodeMap> listed_as_shipped(const KernelRequest& request, const Kernel& kernel, const DeviceSheet& sheet,
                                  KernelListing* listing) {
  // Halide counts names in a process, and where a count gets another digit the order of names may change, and
  // code with it.
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
  if (find_assembler().empty()) return assemble("").status();  // before the expensive part
  Result<CodeMap> map = listed_as_shipped(request, kernel, sheet, nullptr);
  if (map.ok()) kept.store_bytes(kernel.key, kKind, code_map_text(*map));
  return map;
}

}  // namespace baton
