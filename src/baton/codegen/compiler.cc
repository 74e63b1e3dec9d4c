#include "baton/codegen/compiler.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <unordered_map>

#include "baton/codegen/compile.h"
#include "baton/codegen/debug/debug_lines.h"
#include "baton/codegen/kernel/kernel_key.h"
#include "baton/codegen/kernel/link.h"
#include "baton/codegen/parallel.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/pass_traits.h"
#include "baton/support/base/files.h"
#include "baton/support/require.h"

namespace baton {
namespace {

/// Kernels compiled or loaded by this process. Never evicted: compiling the same key again would give
/// Halide's Funcs other names, and the object other bytes.
class Memo {
 public:
  KernelRef find(const KernelKey& key) {
    const std::lock_guard lock(mutex_);
    const auto at = kernels_.find(key);
    return at == kernels_.end() ? nullptr : at->second;
  }
  KernelRef keep(Kernel kernel) {
    auto fresh = std::make_shared<const Kernel>(std::move(kernel));
    const std::lock_guard lock(mutex_);
    return kernels_.emplace(fresh->key, fresh).first->second;
  }
  static Memo& instance() {
    static auto* const memo = new Memo;  // threads may still compile during static destruction
    return *memo;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<KernelKey, KernelRef> kernels_;
};

/// The kernel of that key, if this process or the cache has it.
KernelRef find_kernel(const KernelRequest& request, const KernelKey& key, KernelCache& cache) {
  Memo& memo = Memo::instance();
  // Debug information refers to a source file; if that is gone, only recompiling restores it.
  const std::string& folder = request.variant.debug_lines;
  if (!folder.empty() && access(source_path(folder, kernel_symbol(key)).c_str(), R_OK) != 0) return nullptr;
  if (KernelRef known = memo.find(key)) {
    if (access(cache.path(key).c_str(), F_OK) != 0) cache.store(*known);
    return known;
  }
  std::optional<Kernel> kernel = cache.load(key);
  if (!kernel) return nullptr;
  add_facts(*kernel, *request.function);
  return memo.keep(std::move(*kernel));
}

/// About how long a kernel takes to compile, in units of the shortest: 25 to 50 ms.
int compile_cost(const FunctionNode& function) {
  int cost = 1;
  for (const KernelBlock& block : kernel_blocks(function))
    if (const auto* anchor = block.call->op()->rules.get<AnchorRule>())
      cost = std::max(cost, transforms_tiles(anchor->of_template) ? 6 : 2);
  return cost;
}

/// Kernels that are compiled together, as indices of `missing`: slowest first, and fewer towards the end, so
/// that all threads end at about the same time.
std::vector<std::vector<int>> batches(const std::vector<KernelRequest>& requests, std::vector<int> missing,
                                      int threads) {
  constexpr size_t kMost = 8;  // a trivial kernel takes 28, 14, 11, 10 ms in LLVM as one of 1, 4, 8, 16
  std::vector<int> costs;
  for (const KernelRequest& request : requests) costs.push_back(compile_cost(*request.function));
  std::ranges::stable_sort(missing, std::greater(), [&](int i) { return costs[i]; });
  int left = 0;
  for (const int i : missing) left += costs[i];
  std::vector<std::vector<int>> all;
  int room = 0;
  for (const int i : missing) {
    const bool alone = !requests[i].variant.debug_lines.empty();
    if (all.empty() || alone || room < costs[i] || all.back().size() == kMost)
      all.emplace_back(), room = left / (2 * threads);
    all.back().push_back(i);
    room -= alone ? room : costs[i];
    left -= costs[i];
  }
  return all;
}

}  // namespace

std::vector<KernelRef> compile_kernels(std::span<const KernelRequest> requests, const BuildContext& context) {
  return compile_kernels(requests, context.host(), context);
}

std::vector<KernelRef> compile_kernels(std::span<const KernelRequest> requests, const DeviceSheet& sheet,
                                       const BuildContext& context) {
  KernelCache& cache = context.cache ? *context.cache : KernelCache::shared();
  std::unordered_map<KernelKey, int> index_of;  // key -> distinct kernel
  struct Shared {                               // state used by threads that outlive an interrupted call
    DeviceSheet sheet;
    KernelCache& cache;
    std::vector<KernelRequest> distinct;
    std::vector<KernelKey> keys;
    std::vector<std::vector<int>> batches;
    std::vector<KernelRef> made;
  };
  const auto shared = std::make_shared<Shared>(sheet, cache);
  std::vector<int> which;
  for (const KernelRequest& request : requests) {
    const KernelKey key = kernel_key(request, sheet);
    const auto [at, fresh] = index_of.emplace(key, static_cast<int>(shared->distinct.size()));
    if (fresh) shared->distinct.push_back(request), shared->keys.push_back(key);
    which.push_back(at->second);
  }
  const auto count = static_cast<int>(shared->distinct.size());
  shared->made.resize(shared->distinct.size());
  BuildContext loading = context;
  loading.progress = nullptr;
  run_parallel(count, loading, false,
               [&](int i) { shared->made[i] = find_kernel(shared->distinct[i], shared->keys[i], cache); });
  std::vector<int> missing, sizes;
  for (int i = 0; i < count; ++i)
    if (!shared->made[i]) missing.push_back(i);
  const int known = count - static_cast<int>(missing.size());
  if (context.progress && known > 0) context.progress("kernels", known, count);
  shared->batches = batches(shared->distinct, missing, thread_count(context));
  for (const std::vector<int>& batch : shared->batches) sizes.push_back(static_cast<int>(batch.size()));
  const auto compile = [shared](int turn) {
    const std::vector<int>& batch = shared->batches[turn];
    std::vector<KernelRequest> together;
    for (const int i : batch) together.push_back(shared->distinct[i]);
    std::vector<Kernel> kernels;
    if (batch.size() == 1) {
      kernels.push_back(compile_kernel(together.front(), shared->sheet));
    } else {
      kernels = compile_together(together, shared->sheet);
    }
    for (size_t k = 0; k < batch.size(); ++k) {
      shared->made[batch[k]] = Memo::instance().keep(std::move(kernels[k]));
      shared->cache.store(*shared->made[batch[k]]);
    }
  };
  run_parallel(static_cast<int>(sizes.size()), context, !context.cache, compile, sizes, known);
  if (!missing.empty()) cache.trim_if_due();
  std::vector<KernelRef> kernels;
  for (int index : which) kernels.push_back(shared->made[index]);
  return kernels;
}

std::string link_library(const NamedKernels& kernels, const std::string& code_target) {
  TemporaryFolder folder;
  require(folder.create("kernels"));
  const auto write = [&](const std::string& name, const std::string& bytes) {
    require(folder.write(name, bytes));
    return folder.path(name);
  };
  std::vector<std::string> objects;
  std::unordered_map<KernelKey, bool> written;
  std::string aliases;  // a linker script that maps the plan's names to the kernels
  for (const auto& [name, kernel] : kernels) {
    if (!written.emplace(kernel->key, true).second) continue;
    objects.push_back(write(kernel->symbol + ".o", kernel->object));
  }
  for (const auto& [name, kernel] : kernels)
    if (name != kernel->symbol) aliases += "\"" + name + "_argv\" = " + kernel->symbol + "_argv;\n";
  if (!aliases.empty()) objects.push_back(write("names.ld", aliases));
  const std::string output = folder.path("kernels.so");
  const bool cross = !code_target.empty() && is_cross(code_target);
  require(cross ? link_kernels_for(code_target, objects, output) : link_kernels(objects, output));
  return require(read_file(output));
}

std::shared_ptr<const KernelLibrary> jit_library(const NamedKernels& kernels,
                                                 std::span<const KernelRequest> requests,
                                                 const DeviceSheet& sheet, const BuildContext& context) {
  BATON_CHECK(kernels.size() == requests.size());
  auto code = std::make_shared<std::vector<JitKernel>>(kernels.size());
  run_parallel(static_cast<int>(kernels.size()), context, false,
               [&](int i) { (*code)[i] = jit_kernel(requests[i], sheet); });
  std::vector<std::pair<std::string, KernelFunction>> functions;
  for (size_t i = 0; i < kernels.size(); ++i) functions.emplace_back(kernels[i].first, (*code)[i].function);
  return KernelLibrary::from_functions(std::move(functions), code);
}

std::shared_ptr<const KernelLibrary> load_library(const NamedKernels& kernels,
                                                  std::span<const KernelRequest> requests,
                                                  const BuildContext& context) {
  if (find_linker().empty()) return jit_library(kernels, requests, context.host(), context);
  const std::string bytes = link_library(kernels);
  auto library = KernelLibrary::from_memory({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  if (!library.ok()) throw Error(library.status().message);
  return *library;
}

}  // namespace baton
