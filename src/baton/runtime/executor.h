// Runs a plan.
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
#include "baton/support/base/ndarray.h"
#include "baton/support/base/params_blob.h"
#include "baton/support/base/status.h"

namespace baton {

/// What run_profiled() measured.
struct RunProfile {
  std::vector<uint32_t> nodes;  ///< the plan's nodes that were called, in order (nops and inputs are not)
  /// [call][run]: from kernel entry to kernel return; on another device by the device's own clock, with
  /// nothing else running.
  std::vector<std::vector<double>> node_ns;
  std::vector<double> total_ns;  ///< [run]: the whole run; what the calls do not sum up to is the residual
};

struct ExecutorMemory;

/// One instance of a model with memory of its own, on every device that the plan names. Not to be used by two
/// threads at a time; any number of executors may share plan, kernels and constants, and run at once.
class Executor {
 public:
  using Modules = std::vector<std::shared_ptr<const PluginModule>>;

  /// A kernel with its arguments: `function(context, args)`.
  struct Call {
    baton_function function;
    void* context;
    void** args;
  };

  /// `constants` are found by the names of input nodes and used where they are (they are not copied if
  /// aligned to 64 bytes); names that the plan does not know are an error. Input nodes without constant are
  /// the model's inputs.
  static Result<std::unique_ptr<Executor>> create(std::shared_ptr<const Plan> plan,
                                                  std::shared_ptr<const KernelLibrary> kernels,
                                                  const NamedArrays& constants);

  /// The same with the code of several backends; one for each that a node names. Constants of other devices
  /// are copied there.
  static Result<std::unique_ptr<Executor>> create(std::shared_ptr<const Plan> plan, Modules modules,
                                                  const NamedArrays& constants);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  const Plan& plan() const { return *plan_; }

  /// Threads of all later runs; 0 is the default of the thread pool.
  void set_threads(int threads) { threads_ = threads; }
  int threads() const;

  /// The model's inputs: the plan's input nodes without a constant, in order.
  size_t num_inputs() const { return inputs_.size(); }
  const PlanNode& input_node(size_t index) const { return plan_->nodes[inputs_[index]]; }
  const PlanEntry& input_entry(size_t index) const { return plan_->entries[input_node(index).first_entry]; }

  /// The node with that name in the plan's list of input nodes, constants included; -1 when there is none.
  int find_input_node(std::string_view name) const;

  /// Copies `value` in. Shape and type must be those of the plan.
  Status set_input(size_t index, const NDArray& value);

  /// By name; constants may be replaced too.
  Status set_input(std::string_view name, const NDArray& value);

  /// Uses the memory of `value` instead of copying it, until the next set or bind; copies if it is not
  /// aligned to 64 bytes, or if the input is on another device.
  Status bind_input(size_t index, const NDArray& value);
  Status bind_input(std::string_view name, const NDArray& value);

  /// What an input node holds now: as output().
  NDArray input(size_t index) const;

  /// Calls all kernels, and waits for the devices. The first that fails ends the run.
  Status run();

  /// The same `runs` times with a clock around every call.
  Result<RunProfile> run_profiled(int runs);

  size_t num_outputs() const { return plan_->heads.size(); }
  const PlanEntry& output_entry(size_t index) const { return plan_->entries[plan_->heads[index]]; }

  /// A view of an output: its contents change with the next run, the memory stays as long as anybody holds
  /// it. From another device it is copied at each call; undefined when the device fails.
  NDArray output(size_t index) const;

  /// Any tensor, for debugging and measuring: what it holds depends on which nodes have run since.
  NDArray entry(EntryId id) const;

  /// What a node calls; null when it calls nothing. On another device the work is done after wait().
  const Call* node_call(uint32_t node) const;
  Status wait() const;

  /// For measuring kernels one at a time, in the memory of the model (variants of a kernel must share it to
  /// be comparable): the arguments of a node's kernel, and the kernel itself. Empty and null for nodes
  /// without a call; only kernels of the processor are plain functions.
  std::span<void*> node_args(uint32_t node);
  KernelFunction node_function(uint32_t node) const;

  /// Uses another kernel for a node from now on (a marked or reduced variant of the same arguments). The
  /// caller keeps its library.
  void replace_function(uint32_t node, KernelFunction function);

  /// Calls the kernels of the nodes first <= node < last only.
  Status run_range(uint32_t first, uint32_t last);

 private:
  struct Crossing;

  Executor() = default;
  Status prepare(const NamedArrays& constants);
  Status check_extents() const;
  Status open_devices();
  Result<const Plugin*> plugin_of(int device_type, const std::string& user) const;
  Status allocate_on_devices();
  Status bind_constants(const NamedArrays& constants);
  Status allocate();
  void make_tensors();
  Status make_calls();
  Result<Call> bind(uint32_t node);
  Status check_value(uint32_t node, const NDArray& value) const;
  void point_to(int storage, void* data);
  Status unknown_input(std::string_view name) const;
  Status set_node(uint32_t node, const NDArray& value, bool may_bind);
  Status failed(size_t call, int code) const;
  Status run_calls(size_t first, size_t last);
  Result<RunProfile> profile_with_devices(int runs);
  const PluginModule* find_module(const std::string& backend) const;
  const Device* device(int device_type) const;

  std::shared_ptr<const Plan> plan_;
  Modules modules_;
  std::vector<std::pair<int, std::unique_ptr<Device>>> devices_;  // by type; not the processor
  std::shared_ptr<ExecutorMemory> memory_;
  std::vector<uint32_t> inputs_;
  std::vector<Call> calls_;
  std::vector<uint32_t> call_nodes_;                  // ascending: the node of each call
  std::vector<void*> args_;                           // of all calls, one after another
  std::vector<std::unique_ptr<Crossing>> crossings_;  // the contexts of copies between devices
  std::vector<std::pair<const PluginModule*, baton_bound>> bound_;
  int threads_ = 0;
};

}  // namespace baton
