// Runs a plan.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baton/runtime/kernel_library.h"
#include "baton/runtime/plan.h"
#include "baton/support/base/ndarray.h"
#include "baton/support/base/params_blob.h"
#include "baton/support/base/status.h"

namespace baton {

/// What run_profiled() measured.
struct RunProfile {
  std::vector<uint32_t> nodes;  ///< the plan's nodes that were called, in order (nops and inputs are not)
  std::vector<std::vector<double>> node_ns;  ///< [call][run]: from kernel entry to kernel return
  std::vector<double> total_ns;  ///< [run]: the whole run; what the calls do not sum up to is the residual
};

/// One instance of a model with memory of its own. Not to be used by two threads at a time; any number of
/// executors may share plan, kernels and constants, and run at once.
class Executor {
 public:
  /// `constants` are found by the names of input nodes and used where they are (they are not copied if
  /// aligned to 64 bytes); names that the plan does not know are an error. Input nodes without constant are
  /// the model's inputs.
  static Result<std::unique_ptr<Executor>> create(std::shared_ptr<const Plan> plan,
                                                  std::shared_ptr<const KernelLibrary> kernels,
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
  /// aligned to 64 bytes.
  Status bind_input(size_t index, const NDArray& value);
  Status bind_input(std::string_view name, const NDArray& value);

  /// What an input node holds now: a view, valid as long as anybody holds it.
  NDArray input(size_t index) const;

  /// Calls all kernels. The first that fails ends the run.
  Status run();

  /// The same `runs` times with a clock around every call.
  Result<RunProfile> run_profiled(int runs);

  size_t num_outputs() const { return plan_->heads.size(); }
  const PlanEntry& output_entry(size_t index) const { return plan_->entries[plan_->heads[index]]; }

  /// A view of an output: its contents change with the next run, the memory stays as long as anybody holds
  /// it.
  NDArray output(size_t index) const;

  /// Any tensor, for debugging and measuring: what it holds depends on which nodes have run since.
  NDArray entry(EntryId id) const;

  /// For measuring kernels one at a time, in the memory of the model (variants of a kernel must share it to
  /// be comparable): the arguments of a node's kernel, and the kernel itself. Empty and null for nodes
  /// without a call.
  std::span<void*> node_args(uint32_t node);
  KernelFunction node_function(uint32_t node) const;

  /// Uses another kernel for a node from now on (a marked or reduced variant of the same arguments). The
  /// caller keeps its library.
  void replace_function(uint32_t node, KernelFunction function);

  /// Calls the kernels of the nodes first <= node < last only.
  Status run_range(uint32_t first, uint32_t last);

 private:
  struct Memory;
  struct Call {
    KernelFunction function;
    void** args;
  };

  Executor() = default;
  Status prepare(const NamedArrays& constants);
  Status check_devices() const;
  Status bind_constants(const NamedArrays& constants);
  Status allocate();
  void make_buffers();
  Status make_calls();
  Status check_value(uint32_t node, const NDArray& value) const;
  void point_to(int storage, void* data);
  Status unknown_input(std::string_view name) const;
  Status set_node(uint32_t node, const NDArray& value, bool may_bind);
  Status failed(size_t call, int code) const;
  Status run_calls(size_t first, size_t last);

  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<const KernelLibrary> kernels_;
  std::shared_ptr<Memory> memory_;
  std::vector<uint32_t> inputs_;
  std::vector<Call> calls_;
  std::vector<uint32_t> call_nodes_;  // ascending: the node of each call
  std::vector<void*> args_;           // of all calls, one after another
  int threads_ = 0;
};

}  // namespace baton
