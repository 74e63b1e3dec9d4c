// Executes a plan.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baton/runtime/device.h"
#include "baton/runtime/kernel_library.h"
#include "baton/runtime/plan.h"
#include "baton/runtime/plugin.h"
#include "baton/runtime/run_timeline.h"
#include "baton/support/base/ndarray.h"
#include "baton/support/base/params_blob.h"
#include "baton/support/base/status.h"

namespace baton {

/// The result of run_profiled().
struct RunProfile {
  std::vector<uint32_t> nodes;  ///< the called plan nodes, in order (without nops and inputs)
  /// [call][run]: from kernel entry to return; on other devices by the device's own clock, with nothing else
  /// running.
  std::vector<std::vector<double>> node_ns;
  std::vector<double> total_ns;  ///< [run]: the whole run; includes overhead beyond the sum of the calls
  /// [call][run]: another program took the CPU during this call, or shortly before or after it (short calls
  /// are watched together).
  std::vector<std::vector<bool>> held;
  /// [call][run]: of a call during which that happened, how long it would have taken otherwise
  /// (computed_ns()); 0: not known, or it did not happen.
  std::vector<std::vector<double>> computed_ns;
};

/// A part of a kernel: of a library's region one primitive.
struct KernelPart {
  int step = -1;                        ///< of the kernel's code that it was made for; -1: none
  std::string name;                     ///< "convolution", "reorder"
  std::string reason;                   ///< of a change of layout: what needs it; else empty
  std::string implementation, layouts;  ///< as the library names them; may be empty
};

struct ExecutorMemory;
struct ExecutorShared;

/// One instance of a model with its own memory on every device of the plan. Not thread safe; any number of
/// executors may share plan, kernels and constants, and run concurrently.
class Executor {
 public:
  using Modules = std::vector<std::shared_ptr<const PluginModule>>;

  /// A kernel with its arguments: `function(context, args)`.
  struct Call {
    baton_function function;
    void* context;
    void** args;
  };

  /// `constants` are matched to input nodes by name and used in place (copied only if not 64-byte aligned);
  /// unknown names are an error. Input nodes without a constant are the model's inputs.
  static Result<std::unique_ptr<Executor>> create(std::shared_ptr<const Plan> plan,
                                                  std::shared_ptr<const KernelLibrary> kernels,
                                                  const NamedArrays& constants);

  /// The same with code of several backends: one module for each backend that a node names. Constants of
  /// other devices are copied there.
  static Result<std::unique_ptr<Executor>> create(std::shared_ptr<const Plan> plan, Modules modules,
                                                  const NamedArrays& constants);

  /// With the queues and constants of those made before with the same `shared`. run() is not for such
  /// executors: their calls are in several queues of one device, and nothing here waits for all of them.
  static Result<std::unique_ptr<Executor>> create(std::shared_ptr<const Plan> plan, Modules modules,
                                                  const NamedArrays& constants, ExecutorShared& shared);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  const Plan& plan() const { return *plan_; }
  const Modules& modules() const { return modules_; }

  /// Whether the plan uses devices other than the CPU.
  bool on_devices() const { return !devices_.empty(); }

  /// The queue for kernels of a device that the plan uses; null: the processor, and devices that it does not.
  const Device* device(int device_type) const;

  /// Threads for all later runs; 0: the thread pool's default.
  void set_threads(int threads) { threads_ = threads; }
  int threads() const;

  /// The model's inputs: the plan's input nodes without a constant, in order.
  size_t num_inputs() const { return inputs_.size(); }
  const PlanNode& input_node(size_t index) const { return plan_->nodes[inputs_[index]]; }
  const PlanEntry& input_entry(size_t index) const { return plan_->entries[input_node(index).first_entry]; }

  /// The input node with that name, constants included; -1 when there is none.
  int find_input_node(std::string_view name) const;

  /// Copies `value` in. Shape and type must be those of the plan.
  Status set_input(size_t index, const NDArray& value);

  /// By name; may also replace constants.
  Status set_input(std::string_view name, const NDArray& value);

  /// Uses the memory of `value` without copying, until the next set or bind; copies if it is not 64-byte
  /// aligned, or if the input is on another device.
  Status bind_input(size_t index, const NDArray& value);
  Status bind_input(std::string_view name, const NDArray& value);

  /// The same by the number among the plan's arg_nodes, which are inputs and constants: names may be shared.
  Status set_argument(size_t index, const NDArray& value);
  Status bind_argument(size_t index, const NDArray& value);

  /// The current value of an input node; see output().
  NDArray input(size_t index) const;

  /// Runs all kernels and waits for the devices. Stops at the first failure.
  Status run();

  /// Runs the model `runs` times and measures each call. `gather`: only when all threads have a processor
  /// (gather_threads()), which beside other programs takes longer than the call; it does not count.
  Result<RunProfile> run_profiled(int runs, bool gather = false);

  /// Runs the model once and records when every thread worked on which loop. Of calls for other devices it
  /// sees when they were queued.
  Result<RunTimeline> run_timeline();

  size_t num_outputs() const { return plan_->heads.size(); }
  const PlanEntry& output_entry(size_t index) const { return plan_->entries[plan_->heads[index]]; }

  /// A view of an output: overwritten by the next run; it keeps the memory alive. From another device it is
  /// copied at each call; undefined when the device fails.
  NDArray output(size_t index) const;

  /// Any tensor, for debugging and measurement; its contents depend on which nodes have run since.
  NDArray entry(EntryId id) const;

  /// The call of a node; null when it has none. On other devices the work is complete only after wait().
  const Call* node_call(uint32_t node) const;
  Status wait() const;
  /// What the call of a node says that returned `code`, on the thread that made it.
  Status node_failed(uint32_t node, int code) const;

  /// For measuring single kernels in the model's own memory (variants of a kernel must share it to be
  /// comparable): the arguments of a node's kernel, and the kernel itself. Empty and null for nodes without a
  /// call; only CPU kernels are plain functions.
  std::span<void*> node_args(uint32_t node);
  KernelFunction node_function(uint32_t node) const;

  /// The parts of a node's kernel in the order in which they run, as its plug-in tells; empty: it has none.
  Result<std::vector<KernelPart>> node_parts(uint32_t node) const;
  /// Runs a node's kernel and measures each of its parts: nanoseconds, and behind them those of the whole
  /// call. Its operands must have been computed.
  Result<std::vector<double>> run_parts(uint32_t node);

  /// Replaces the kernel of a node (by a marked or ablated variant with the same arguments). The caller keeps
  /// its library loaded.
  void replace_function(uint32_t node, KernelFunction function);

  /// Runs only the kernels of nodes first <= node < last.
  Status run_range(uint32_t first, uint32_t last);

 private:
  Executor() = default;
  Status prepare(const NamedArrays& constants, ExecutorShared* shared);
  Status check_extents() const;
  Status open_devices(ExecutorShared* shared);
  Status allocate_on_devices(const NamedArrays& constants, const ExecutorShared* shared);
  Result<Call> bind_copy(uint32_t node, ExecutorShared* shared);
  Status bind_constants(const NamedArrays& constants, const ExecutorShared* shared);
  Status allocate();
  void make_tensors();
  Status make_calls(ExecutorShared* shared);
  Result<Call> bind(uint32_t node);
  Status check_value(uint32_t node, const NDArray& value) const;
  void point_to(int storage, void* data);
  Status unknown_input(std::string_view name) const;
  Status set_node(uint32_t node, const NDArray& value, bool may_bind);
  Status run_calls(size_t first, size_t last);
  Result<RunProfile> profile_with_devices(int runs);
  const PluginModule* module_with_parts(const Call& call) const;
  const Device* edge(int device_type) const;

  std::shared_ptr<const Plan> plan_;
  Modules modules_;
  std::vector<std::pair<int, std::shared_ptr<Device>>> devices_;  // by type; without the CPU
  std::vector<std::pair<int, std::shared_ptr<Device>>>
      edges_;                                   // for inputs and results: the same, or their own
  std::vector<std::shared_ptr<Device>> links_;  // of copies, if they have their own
  std::shared_ptr<ExecutorMemory> memory_;
  std::vector<uint32_t> inputs_;
  std::vector<Call> calls_;
  std::vector<uint32_t> call_nodes_;                  // the node of each call, ascending
  std::vector<void*> args_;                           // of all calls, concatenated
  std::vector<std::unique_ptr<Crossing>> crossings_;  // contexts of copies between devices
  std::vector<std::pair<const PluginModule*, baton_bound>> bound_;
  int threads_ = 0;
};

}  // namespace baton
