// Runs programs of the virtual machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "baton/runtime/executor.h"
#include "baton/runtime/vm/exact_kernels.h"
#include "baton/runtime/vm/measured_run.h"
#include "baton/runtime/vm/program.h"

namespace baton::vm {

class PieceRun;
class MachineDevices;
class MachineMemory;
struct PieceInput;

/// What a machine has others do. Functions return null after a failure, which they keep for their caller: the
/// machine then stops with kStopped.
class Services {
 public:
  virtual ~Services() = default;
  /// Evaluates Program::operators[number].
  virtual program::Value evaluate(uint32_t number, const std::vector<program::Value>& args) = 0;
  /// Calls a function that is none of this program.
  virtual program::Value call(const program::FunctionValue& function,
                              const std::vector<program::Value>& args) = 0;
};

/// A closure of a program, or a constructor as a function.
class MachineFunction final : public program::FunctionValue {
 public:
  MachineFunction(std::shared_ptr<const Program> program, std::shared_ptr<void> home, uint32_t function,
                  bool constructs, std::vector<program::Value> captured = {})
      : program_(std::move(program)),
        home_(std::move(home)),
        function_(function),
        constructs_(constructs),
        captured_(std::move(captured)) {}
  std::string name() const override {
    return constructs_ ? program_->constructors[function_].info->name : program_->functions[function_].name;
  }
  /// A null value is the closure itself.
  const std::vector<program::Value>& captured() const override { return captured_; }
  const void* program() const override { return program_.get(); }
  bool is_of_machine() const override { return true; }
  /// What Machine::create() was given.
  const std::shared_ptr<void>& home() const { return home_; }
  /// Program::functions, or with constructs() Program::constructors.
  uint32_t function() const { return function_; }
  bool constructs() const { return constructs_; }

 private:
  std::shared_ptr<const Program> program_;
  std::shared_ptr<void> home_;
  uint32_t function_;
  bool constructs_;
  std::vector<program::Value> captured_;
};

/// One run of a program at a time, with memory of its own. Not thread safe; several machines may share a
/// program and its modules.
class Machine {
 public:
  /// `modules`: one for each backend that a kernel names. `services`: may be null for a program without
  /// operators and foreign functions; it must outlive the machine. `home`: what closures say that they are
  /// of.
  static Result<std::unique_ptr<Machine>> create(std::shared_ptr<const Program> program,
                                                 Executor::Modules modules, Services* services,
                                                 std::weak_ptr<void> home = {});
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const Program& program() const { return *program_; }

  /// Runs a function. Fails for arguments that do not fit, a failed kernel or service, calls that nest too
  /// deep, and on interruption; the machine can be used again.
  Result<program::Value> run(uint32_t function, std::span<const program::Value> args);
  /// The same with everything counted and timed; what several runs took is added up.
  Result<program::Value> run_measured(uint32_t function, std::span<const program::Value> args,
                                      MeasuredRun& measured);
  /// Runs a function value, of this program or another.
  Result<program::Value> call(const program::FunctionValue& function, std::span<const program::Value> args);

  /// Memory of intermediate results.
  size_t arena_bytes() const;

  /// Whether the last failure was that of a service.
  bool service_failed() const { return service_failed_; }
  bool interrupted() const { return interrupted_; }

  /// Threads of kernels; 0: those of the caller's ThreadScope, by default all.
  void set_threads(int threads) { threads_ = threads; }
  /// Stops the run as soon as this is true; null: never.
  void set_interrupt(const std::atomic<bool>* stop) { stop_ = stop; }
  /// Where to ask for kernels of the extents that are met; null: nowhere.
  void set_exact(std::shared_ptr<ExactKernels> exact);
  /// The most calls within each other, without tail calls. By default kDepth: registers of small functions
  /// then take some hundred megabytes.
  void set_depth(size_t depth) { depth_ = depth; }
  static constexpr size_t kDepth = size_t{1} << 21;

 private:
  struct Slot;
  struct Frame;
  Machine() = default;
  Status prepare();
  Status check_arguments(const FunctionCode& function, std::span<const program::Value> args) const;
  Result<program::Value> start(uint32_t function, std::span<const program::Value> args,
                               const program::FunctionValue* closure);
  template <bool kMeasured>
  Status execute();
  Status grow(size_t slots);
  void unwind();
  template <bool kMeasured>
  bool run_piece(uint32_t piece, const int32_t* operands, Slot* registers, MeasuredInstruction* at,
                 Status& failure);
  Status place_input(const Piece& piece, size_t number, Slot& slot, PieceInput& input) const;
  /// `reader`: the node that needs them.
  Status bring_to_host(std::span<program::Value> values, uint32_t reader = MeasuredRun::kOutside) const;
  Status end_on_devices(std::span<const program::Value> args, program::Value& result) const;
  /// `at`: of a measured run; else null.
  Status evaluate(const int32_t* words, Slot* registers, MeasuredInstruction* at);
  program::Value evaluate_measured(const int32_t* words, const std::vector<program::Value>& args,
                                   MeasuredInstruction& at);
  std::vector<program::Value> take_values(const int32_t* words, Slot* registers);
  program::Value constructed(uint32_t constructor, std::vector<program::Value> fields) const;
  bool take_field(const int32_t* words, Slot* registers);
  Status use_cell(const int32_t* words, Slot* registers);
  Status append(const int32_t* words, Slot* registers, MeasuredInstruction* at);
  Status enter_value(const int32_t* pc, const int32_t* words, Slot* r, const FunctionCode** callee,
                     Slot* returned);
  static void move_argument(int32_t word, Slot* registers, Slot& to);
  Status too_deep() const;
  Status call_other(const program::FunctionValue& callee, std::vector<program::Value> args, Slot& result);
  Status stopped();

  std::shared_ptr<const Program> program_;
  std::weak_ptr<void> home_;
  Executor::Modules modules_;
  Services* services_ = nullptr;
  std::unique_ptr<MachineDevices> devices_;  // null: only the processor
  std::unique_ptr<MachineMemory> memory_;
  std::shared_ptr<ExactKernels> exact_;
  std::vector<std::unique_ptr<PieceRun>> pieces_;
  std::vector<program::Value> constants_;
  std::vector<std::pair<const PluginModule*, baton_bound>> kernels_;

  Slot* slots_ = nullptr;
  size_t capacity_ = 0;
  std::vector<Frame> frames_;
  std::unique_ptr<program::CellScope> cells_;
  MeasuredRun* measured_ = nullptr;  // null: a plain run
  std::string contradiction_;        // the check that sent the run to operators; without services
  const std::atomic<bool>* stop_ = nullptr;
  size_t depth_ = kDepth;
  int threads_ = 0;
  bool service_failed_ = false, interrupted_ = false, running_ = false;
};

}  // namespace baton::vm
