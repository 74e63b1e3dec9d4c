#include "baton/codegen/compiler.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <unordered_map>

#include <unistd.h>

#include "baton/codegen/background.h"
#include "baton/codegen/code_maps.h"
#include "baton/codegen/compile.h"
#include "baton/codegen/debug/debug_lines.h"
#include "baton/codegen/kernel/kernel_key.h"
#include "baton/codegen/kernel/link.h"
#include "baton/codegen/kernel/subprocess.h"

namespace baton {
namespace {

std::function<void(int, int)> kernels_progress(const BuildContext& context) {
  if (!context.progress) return {};
  return [progress = context.progress](int done, int total) { progress("kernels", done, total); };
}

/// What the threads of one run_parallel share. It outlives a caller that was interrupted.
struct Work {
  Work(int tasks, std::function<void(int)> run, const BuildContext& context)
      : count(tasks), task(std::move(run)), progress(kernels_progress(context)), failed_index(tasks) {}

  const int count;
  const std::function<void(int)> task;
  const std::function<void(int, int)> progress;
  std::atomic<int> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::condition_variable ended;  // a thread of `running` has
  std::exception_ptr failure;
  int failed_index, done = 0, running = 0;
  bool abandoned = false;

  void run(const std::atomic<bool>* interrupt) {
    for (int index; !stop && !(interrupt && *interrupt) && (index = next++) < count;) {
      try {
        task(index);
        const std::lock_guard lock(mutex);
        ++done;
        if (progress && !abandoned) progress(done, count);
      } catch (...) {
        const std::lock_guard lock(mutex);
        stop = true;
        if (index < failed_index) failed_index = index, failure = std::current_exception();
      }
    }
  }
};

/// Counts threads that nobody joins.
class Background {
 public:
  static Background& instance() {
    static auto* const background = new Background;  // never destroyed: threads may still be leaving
    return *background;
  }
  void enter() {
    const std::lock_guard lock(mutex_);
    ++threads_;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (--threads_ == 0) none_.notify_all();
  }

  void wait() {
    if (getpid() != process_) return;  // a child of fork has none of the threads
    std::unique_lock lock(mutex_);
    none_.wait(lock, [this] { return threads_ == 0; });
  }

 private:
  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::condition_variable none_;
  int threads_ = 0;
};

/// Leaves `work` to threads that can be left alone. True when all have ended, false when `interrupt` came
/// first.
bool run_in_background(const std::shared_ptr<Work>& work, int threads, const std::atomic<bool>& interrupt) {
  if (interrupt) return false;
  work->running = threads;
  for (int i = 0; i < threads; ++i) {
    Background::instance().enter();
    std::thread([work = std::shared_ptr<Work>(work)]() mutable {
      work->run(nullptr);
      {
        const std::lock_guard lock(work->mutex);
        if (--work->running == 0) work->ended.notify_all();
      }
      work.reset();
      Background::instance().leave();
    }).detach();
  }
  std::unique_lock lock(work->mutex);
  while (work->running > 0) {
    if (interrupt) {
      work->stop = work->abandoned = true;
      return false;
    }
    work->ended.wait_for(lock, std::chrono::milliseconds(20));
  }
  return !interrupt;
}

void run_here(Work& work, int threads, const std::atomic<bool>* interrupt) {
  std::vector<std::thread> helpers;
  for (int i = 1; i < threads; ++i) helpers.emplace_back([&] { work.run(interrupt); });
  work.run(interrupt);
  for (std::thread& helper : helpers) helper.join();
}

/// Runs task(0) .. task(count - 1) on several threads; the failure of the lowest index is thrown again. After
/// a failure or an interrupt no further task starts. `may_abandon`: `task` owns all that it uses, so that an
/// interrupt need not wait for the tasks that have started.
void run_parallel(int count, const BuildContext& context, bool may_abandon, std::function<void(int)> task) {
  const int wanted = context.threads > 0 ? context.threads : context.host().cores;
  const int threads = std::clamp(wanted, 1, std::max(1, count));
  const auto work = std::make_shared<Work>(count, std::move(task), context);
  bool interrupted = false;
  if (may_abandon && context.interrupt) {
    interrupted = !run_in_background(work, threads, *context.interrupt);
  } else {
    run_here(*work, threads, context.interrupt);
    interrupted = context.interrupt && *context.interrupt;
  }
  if (!interrupted && work->failure) std::rethrow_exception(work->failure);
  if (interrupted) throw Interrupted("interrupted while compiling kernels");
}

/// Kernels that this process has compiled or loaded. They never go: a second compilation under the same key
/// would give Halide's Funcs other names, and the object other bytes.
class Memo {
 public:
  KernelRef find(uint64_t key) {
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
    static auto* const memo = new Memo;  // threads may still compile when static objects are destroyed
    return *memo;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, KernelRef> kernels_;
};

KernelRef obtain(const KernelRequest& request, uint64_t key, const DeviceSheet& sheet, KernelCache& cache,
                 bool& stored) {
  Memo& memo = Memo::instance();
  // Lines lead into a file: where it is gone, only compiling brings it back.
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

}  // namespace

void wait_for_background_work() { Background::instance().wait(); }

std::vector<KernelRef> compile_kernels(std::span<const KernelRequest> requests, const BuildContext& context) {
  return compile_kernels(requests, context.host(), context);
}

std::vector<KernelRef> compile_kernels(std::span<const KernelRequest> requests, const DeviceSheet& sheet,
                                       const BuildContext& context) {
  KernelCache& cache = context.cache ? *context.cache : KernelCache::shared();
  std::unordered_map<uint64_t, int> index_of;  // key -> distinct kernel
  struct Shared {                              // what threads use that an interrupt left behind
    DeviceSheet sheet;
    KernelCache& cache;
    std::vector<KernelRequest> distinct;
    std::vector<uint64_t> keys;
    std::vector<KernelRef> made;
    std::atomic<bool> stored{false};
  };
  const auto shared = std::make_shared<Shared>(sheet, cache);
  std::vector<int> which;
  for (const KernelRequest& request : requests) {
    const uint64_t key = kernel_key(request, sheet);
    const auto [at, fresh] = index_of.emplace(key, static_cast<int>(shared->distinct.size()));
    if (fresh) shared->distinct.push_back(request), shared->keys.push_back(key);
    which.push_back(at->second);
  }
  shared->made.resize(shared->distinct.size());
  const bool known = std::all_of(shared->keys.begin(), shared->keys.end(),
                                 [](uint64_t key) { return Memo::instance().find(key) != nullptr; });
  const bool may_abandon = !known && !context.cache;  // known kernels are not worth a thread
  run_parallel(static_cast<int>(shared->distinct.size()), context, may_abandon, [shared](int i) {
    bool fresh = false;
    shared->made[i] = obtain(shared->distinct[i], shared->keys[i], shared->sheet, shared->cache, fresh);
    if (fresh) shared->stored = true;
  });
  if (shared->stored) cache.trim();
  std::vector<KernelRef> kernels;
  for (int index : which) kernels.push_back(shared->made[index]);
  return kernels;
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

std::string link_library(const NamedKernels& kernels) {
  const TemporaryFolder folder;
  std::vector<std::string> objects;
  std::unordered_map<uint64_t, bool> written;
  std::string aliases;  // a linker script: the plan's names for the kernels
  for (const auto& [name, kernel] : kernels) {
    if (!written.emplace(kernel->key, true).second) continue;
    objects.push_back(folder.write(kernel->symbol + ".o", kernel->object));
  }
  for (const auto& [name, kernel] : kernels)
    if (name != kernel->symbol) aliases += "\"" + name + "_argv\" = " + kernel->symbol + "_argv;\n";
  if (!aliases.empty()) objects.push_back(folder.write("names.ld", aliases));
  const std::string output = folder.path("kernels.so");
  if (const Status status = link_kernels(objects, output); !status.ok()) throw Error(status.message);
  return read_all(output);
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
