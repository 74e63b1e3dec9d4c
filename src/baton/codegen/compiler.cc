#include "baton/codegen/compiler.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <numeric>
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

KernelRef obtain(const KernelRequest& request, const KernelKey& key, const DeviceSheet& sheet,
                 KernelCache& cache, bool& stored) {
  Memo& memo = Memo::instance();
  // Debug information refers to a source file; if that is gone, only recompiling restores it.
  const std::string& folder = request.variant.debug_lines;
  const bool complete = folder.empty() || access(source_path(folder, kernel_symbol(key)).c_str(), R_OK) == 0;
  if (KernelRef known = complete ? memo.find(key) : nullptr) {
    if (access(cache.path(key).c_str(), F_OK) != 0) cache.store(*known);
    return known;
  }
  if (std::optional<Kernel> kernel = complete ? cache.load(key) : std::nullopt) {
    add_facts(*kernel, *request.function);
    return memo.keep(std::move(*kernel));
  }
  KernelRef fresh = memo.keep(compile_kernel(request, sheet));
  cache.store(*fresh);
  stored = true;
  return fresh;
}

/// A rank by how long kernels take to compile: those of Winograd's algorithm some 300 ms, other tiled ones 30
/// to 200, all others 20 to 50.
int compile_rank(const FunctionNode& function) {
  int rank = 0;
  for (const KernelBlock& block : kernel_blocks(function))
    if (const auto* anchor = block.call->op()->rules.get<AnchorRule>())
      rank = std::max(rank, anchor->of_template == "conv_winograd" ? 2 : 1);
  return rank;
}

/// The indices of `requests`, slowest to compile first: threads then end together.
std::vector<int> slowest_first(const std::vector<KernelRequest>& requests) {
  std::vector<std::pair<int, int>> ranked;
  for (size_t i = 0; i < requests.size(); ++i)
    ranked.emplace_back(-compile_rank(*requests[i].function), static_cast<int>(i));
  std::ranges::sort(ranked);
  std::vector<int> order;
  for (const auto& [rank, index] : ranked) order.push_back(index);
  return order;
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
    std::vector<int> order;
    std::vector<KernelRef> made;
    std::atomic<bool> stored{false};
  };
  const auto shared = std::make_shared<Shared>(sheet, cache);
  std::vector<int> which;
  for (const KernelRequest& request : requests) {
    const KernelKey key = kernel_key(request, sheet);
    const auto [at, fresh] = index_of.emplace(key, static_cast<int>(shared->distinct.size()));
    if (fresh) shared->distinct.push_back(request), shared->keys.push_back(key);
    which.push_back(at->second);
  }
  shared->made.resize(shared->distinct.size());
  shared->order = slowest_first(shared->distinct);
  const bool known = std::all_of(shared->keys.begin(), shared->keys.end(),
                                 [](const KernelKey& key) { return Memo::instance().find(key) != nullptr; });
  const bool may_abandon = !known && !context.cache;  // known kernels load quickly
  run_parallel(static_cast<int>(shared->distinct.size()), context, may_abandon, [shared](int turn) {
    const int i = shared->order[turn];
    bool fresh = false;
    shared->made[i] = obtain(shared->distinct[i], shared->keys[i], shared->sheet, shared->cache, fresh);
    if (fresh) shared->stored = true;
  });
  if (shared->stored) cache.trim();
  std::vector<KernelRef> kernels;
  for (int index : which) kernels.push_back(shared->made[index]);
  return kernels;
}

std::string link_library(const NamedKernels& kernels) {
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
  require(link_kernels(objects, output));
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
