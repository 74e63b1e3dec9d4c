// The runtime half of the backend `dnnl`: regions of oneDNN primitives in the memory of the host. Primitives
// and packed weights are made when the model is loaded, for the number of threads that its runs may use, and
// made again by a run that may use another number (oneDNN plans its loops for one). Temporaries and scratch
// memory belong to the bound kernel, so executors may run at the same time.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <omp.h>

#include "baton/runtime/baton_backend.h"
#include "baton/runtime/plugins/dnnl/layouts.h"
#include "baton/runtime/plugins/dnnl/primitives.h"

namespace baton::dnnl_plugin {
namespace {

using namespace dnnl_blob;

const baton_host* host_of_process = nullptr;
thread_local std::string last_error_text;

int fail(std::string why) {
  last_error_text = std::move(why);
  return -1;
}

/// Runs `body`; an exception becomes the last error.
template <class Body>
int guarded(Body&& body) {
  try {
    return body();
  } catch (const dnnl::error& error) {
    return fail(std::string("oneDNN: ") + error.what());
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

int32_t threads_now() { return std::max(1, host_of_process->threads()); }

/// A region of a loaded blob.
struct LoadedRegion {
  LoadedRegion(Region of, Constants& shared) : region(std::move(of)), constants(shared) {}

  /// The program for that many threads. OpenMP's number for this thread must be set to it.
  std::shared_ptr<const Program> program(int threads) {
    const std::lock_guard lock(mutex);
    std::shared_ptr<const Program>& at = programs[threads];
    if (!at) at = make_program(region, constants, threads);
    return at;
  }

  const Region region;
  Constants& constants;
  std::mutex mutex;
  std::map<int, std::shared_ptr<const Program>> programs;
};

struct Module {
  explicit Module(const char* data) : constants(data) {}

  Constants constants;
  std::map<std::string, std::unique_ptr<LoadedRegion>> regions;
};

struct Free {
  void operator()(char* block) const { std::free(block); }
};
using Block = std::unique_ptr<char, Free>;

Block block_of(size_t bytes) {
  const size_t rounded = (bytes + kDataAlignment) / kDataAlignment * kDataAlignment;
  Block block(static_cast<char*>(std::aligned_alloc(kDataAlignment, rounded)));
  if (!block) throw std::bad_alloc();
  return block;
}

/// A bound kernel: the program with memory of its own.
class Kernel {
 public:
  explicit Kernel(LoadedRegion& region) : region_(region) { prepare(threads_now()); }

  static int run(void* context, void** args) { return static_cast<Kernel*>(context)->run(args); }

  /// `ns`: receives the duration of each command; null: nothing is timed.
  int run(void** args, double* ns = nullptr) {
    return guarded([&] {
      if (const int threads = threads_now(); threads != program_->threads) prepare(threads);
      if (program_->threads != omp_get_max_threads()) omp_set_num_threads(program_->threads);
      for (Edge& edge : edges_) {
        void* const host = static_cast<const baton_tensor*>(args[edge.tensor])->host;
        if (host == edge.address) continue;
        if (dnnl_memory_set_data_handle(edge.memory, host) != dnnl_success)
          return fail("an address was refused");
        edge.address = host;
      }
      for (const Launch& launch : launches_) {
        const auto start = ns ? Clock::now() : Clock::time_point();
        const dnnl_status_t status = dnnl_primitive_execute(
            launch.primitive, stream_.get(), static_cast<int>(launch.args.size()), launch.args.data());
        if (status != dnnl_success)
          return fail("oneDNN: a primitive failed with status " + std::to_string(static_cast<int>(status)));
        if (ns) *ns++ = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
      }
      return 0;
    });
  }

  const std::vector<baton_part>& parts() {
    if (const int threads = threads_now(); threads != program_->threads) prepare(threads);
    parts_.clear();
    for (const Command& command : program_->commands)
      parts_.push_back({static_cast<int32_t>(command.step), command.name, command.reason,
                        command.implementation.c_str(), command.layouts.c_str()});
    return parts_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// A memory object whose address is the caller's.
  struct Edge {
    size_t tensor;  // its position among the arguments
    dnnl_memory_t memory;
    void* address = nullptr;
  };
  struct Launch {
    const_dnnl_primitive_t primitive;
    std::vector<dnnl_exec_arg_t> args;
  };

  void prepare(int threads) {
    omp_set_num_threads(threads);
    program_ = region_.program(threads);
    arena_ = block_of(program_->arena_bytes);
    scratch_ = block_of(program_->scratch_bytes);
    const auto inputs = static_cast<size_t>(
        std::ranges::count(region_.region.tensors, TensorKind::kInput, &TensorInfo::kind));
    memories_.clear(), edges_.clear(), launches_.clear();
    for (const Slot& slot : program_->slots) {
      const Storage& storage = program_->storages[slot.storage];
      const bool edge = storage.place == Storage::kInput || storage.place == Storage::kOutput;
      void* const at = storage.place == Storage::kConstant ? storage.constant.get_data_handle()
                       : edge                              ? nullptr
                                                           : arena_.get() + storage.offset;
      memories_.emplace_back(slot.layout, cpu(), at);
      if (!edge) continue;
      const auto index = static_cast<size_t>(storage.index);
      edges_.push_back({storage.place == Storage::kInput ? index : inputs + index, memories_.back().get()});
    }
    const size_t of_slots = memories_.size();
    memories_.reserve(of_slots + program_->commands.size());
    for (const Command& command : program_->commands) {
      Launch launch{command.primitive.get(), {}};
      for (const auto& [arg, slot] : command.args) launch.args.push_back({arg, memories_[slot].get()});
      if (command.scratch.get_size()) {
        memories_.emplace_back(command.scratch, cpu(), scratch_.get());
        launch.args.push_back({DNNL_ARG_SCRATCHPAD, memories_.back().get()});
      }
      launches_.push_back(std::move(launch));
    }
  }

  LoadedRegion& region_;
  std::shared_ptr<const Program> program_;
  Block arena_, scratch_;
  std::vector<dnnl::memory> memories_;  // of slots, then scratch memory of commands
  std::vector<Edge> edges_;
  std::vector<Launch> launches_;
  std::vector<baton_part> parts_;
  dnnl::stream stream_{cpu()};
};

int load(const void* bytes, size_t count, void** module) {
  return guarded([&] {
    const std::string_view blob(static_cast<const char*>(bytes), count);
    if (count < kHeaderBytes || blob.substr(0, 8) != std::string_view(kMagic, 8))
      return fail("its code is no blob of dnnl");
    Reader header(blob.substr(8, kHeaderBytes - 8));
    int64_t version = 0, size = 0, sum = 0;
    header(version), header(size), header(sum);
    if (version != kBlobVersion)
      return fail("its code has version " + std::to_string(version) + " of the format, this plug-in reads " +
                  std::to_string(kBlobVersion) + ": build the model again");
    if (size != static_cast<int64_t>(count))
      return fail("its code has " + std::to_string(count) + " bytes instead of " + std::to_string(size));
    if (checksum(blob.data() + kHeaderBytes, count - kHeaderBytes) != static_cast<uint64_t>(sum))
      return fail("its code is damaged (the checksum differs)");
    Blob read;
    Reader reader(blob.substr(kHeaderBytes));
    transfer(reader, read);
    if (!reader.ok) return fail("its code has a field that cannot be");
    const size_t records = count - reader.left().size();
    const size_t data = std::min(count, (records + kDataAlignment - 1) / kDataAlignment * kDataAlignment);
    auto loaded = std::make_unique<Module>(read.check_only ? nullptr : blob.data() + data);
    const int threads = threads_now();
    omp_set_num_threads(threads);
    for (Region& region : read.regions) {
      if (const std::string fault = fault_of(region, count - data, read.check_only != 0); !fault.empty())
        return fail("its code has " + fault);
      const std::string symbol = region.symbol;
      auto made = std::make_unique<LoadedRegion>(std::move(region), loaded->constants);
      made->program(threads);
      if (!loaded->regions.emplace(symbol, std::move(made)).second)
        return fail("its code has a region twice");
    }
    loaded->constants.forget_data();
    if (read.check_only) loaded->regions.clear();  // without constants there is nothing to run
    *module = loaded.release();
    return 0;
  });
}

int bind(void* module, const char* symbol, int32_t tensors, void*, baton_bound* bound) {
  return guarded([&] {
    auto& regions = static_cast<Module*>(module)->regions;
    const auto at = regions.find(symbol);
    if (at == regions.end()) return fail("its code has no such region");
    const auto edges = std::ranges::count_if(at->second->region.tensors, [](const TensorInfo& tensor) {
      return tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kOutput;
    });
    if (edges != tensors)
      return fail("the region has " + std::to_string(edges) + " tensors, the plan gives " +
                  std::to_string(tensors));
    *bound = {Kernel::run, new Kernel(*at->second)};
    return 0;
  });
}

int parts(baton_bound bound, const baton_part** parts, int32_t* count) {
  return guarded([&] {
    const std::vector<baton_part>& all = static_cast<Kernel*>(bound.context)->parts();
    *parts = all.data();
    *count = static_cast<int32_t>(all.size());
    return 0;
  });
}

const baton_backend kDnnl = {
    .abi_version = BATON_BACKEND_ABI,
    .struct_bytes = sizeof(baton_backend),
    .name = "dnnl",
    .last_error = [] { return last_error_text.c_str(); },
    .device_count = [] { return int32_t{0}; },
    .device_kind = nullptr,
    .device_name = nullptr,
    .allocate = nullptr,
    .release = nullptr,
    .copy = nullptr,
    .queue_create = nullptr,
    .queue_destroy = nullptr,
    .queue_wait = nullptr,
    .event_create = nullptr,
    .event_destroy = nullptr,
    .event_record = nullptr,
    .event_ns = nullptr,
    .load = load,
    .unload = [](void* module) { delete static_cast<Module*>(module); },
    .bind = bind,
    .unbind = [](baton_bound bound) { delete static_cast<Kernel*>(bound.context); },
    .parts = parts,
    .run_parts = [](baton_bound bound, void** args,
                    double* ns) { return static_cast<Kernel*>(bound.context)->run(args, ns); },
    .memory_bytes = nullptr,
};

}  // namespace
}  // namespace baton::dnnl_plugin

extern "C" const baton_backend* baton_backend_entry(const baton_host* host) {
  using namespace baton::dnnl_plugin;
  if (host->struct_bytes < offsetof(baton_host, threads) + sizeof(host->threads))
    return nullptr;  // an older runtime
  host_of_process = host;
  return &kDnnl;
}
