#pragma once
// A built program, ready to be called in this process.
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "baton/driver/build_result.h"
#include "baton/driver/vm/background_kernels.h"
#include "baton/pass/build_context.h"
#include "baton/runtime/artifact.h"
#include "baton/runtime/executor.h"
#include "baton/runtime/vm/machine.h"

namespace baton {

/// What a run is told. What only operators need, which the compiler evaluates, is made at the first of them.
struct RunContext {
  RunContext(const std::atomic<bool>* interrupt, std::function<BuildContext()> compiler)
      : interrupt(interrupt), compiler(std::move(compiler)) {}
  /// Refers to `context`.
  RunContext(const BuildContext& context) : RunContext(context.interrupt, [&context] { return context; }) {}
  const std::atomic<bool>* interrupt;
  std::function<BuildContext()> compiler;
};

/// Thread safe: each call runs on a machine of its own; machines are kept for later calls.
class RunnableProgram : public std::enable_shared_from_this<RunnableProgram> {
 public:
  /// `built`: a result of build_program(). Throws Error where its code does not run here.
  static std::shared_ptr<RunnableProgram> create(const BuildResult& built);
  /// `artifact`: what write_artifact() wrote of one. Throws Error for another or a damaged one.
  static std::shared_ptr<RunnableProgram> load(const Artifact& artifact);
  /// The same program with machines of its own.
  std::shared_ptr<RunnableProgram> another() const;
  /// The same program with other values of the constants of these names, of the same types. Throws Error for
  /// unknown names.
  std::shared_ptr<RunnableProgram> with_constants(const NamedArrays& values) const;
  ~RunnableProgram();

  const vm::Program& program() const { return *program_; }
  const std::shared_ptr<const vm::Program>& shared_program() const { return program_; }
  /// Runs a function. Throws Error for arguments that do not fit and for what fails, whatever a foreign
  /// function throws, and Interrupted.
  program::Value run(uint32_t function, std::span<const program::Value> args, const RunContext& context);
  program::Value run(const std::string& function, std::span<const program::Value> args,
                     const RunContext& context) {
    return run(number_of(function), args, context);
  }
  /// The same with everything counted and timed.
  program::Value run_measured(uint32_t function, std::span<const program::Value> args,
                              const RunContext& context, vm::MeasuredRun& measured);
  program::Value run_measured(const std::string& function, std::span<const program::Value> args,
                              const RunContext& context, vm::MeasuredRun& measured) {
    return run_measured(number_of(function), args, context, measured);
  }
  /// From now on runs use the kernels that these compile for the extents that are met. Null: no longer.
  void specialize(std::shared_ptr<BackgroundKernels> kernels);
  /// Null: specialize() was not called.
  std::shared_ptr<BackgroundKernels> specialized() const;
  /// The number of a function that can be called by name. Throws Error for others.
  uint32_t number_of(const std::string& function) const;
  /// Runs a closure that the program returned.
  program::Value call(const vm::MachineFunction& function, std::span<const program::Value> args,
                      const RunContext& context);
  /// The most memory for intermediate results that a run needed so far.
  size_t arena_bytes();
  /// The most calls within each other, for later runs.
  void set_depth(size_t depth) { depth_ = depth; }

 private:
  struct Worker;
  class Borrowed;
  RunnableProgram() = default;
  template <class Run>
  program::Value run_on_worker(const RunContext& context, Run run);

  std::shared_ptr<const vm::Program> program_;
  std::vector<Function> operators_;
  Executor::Modules modules_;
  mutable std::mutex mutex_;
  std::shared_ptr<BackgroundKernels> exact_;
  std::vector<std::unique_ptr<Worker>> idle_;
  size_t depth_ = vm::Machine::kDepth;
};

/// Values for the parameters of a function: those given, by name, the others by the tensor rule, of the
/// shapes in `known` where the program leaves them open. Throws Error for names that it does not have, and
/// for parameters that are no tensors, or without a shape, and have no value.
std::vector<program::Value> values_for(const vm::Program& program, const std::string& function,
                                       const NamedArrays& given,
                                       const std::map<std::string, Shape>& known = {});

/// The shapes of main's parameters, of the program in a file, that follow from `shapes`: "x=16,64" or, of a
/// variable of extents, "n=16". Throws Error as freeze_shapes(), and for a damaged file.
std::map<std::string, Shape> shapes_at(const Artifact& artifact, const std::vector<std::string>& shapes);

/// Whether an artifact holds a program; false for one with a plan. Throws Error for a damaged file.
bool is_program_file(const std::string& path);

/// Calls a function value that a program returned, or a foreign one.
program::Value call_value(const program::FunctionValue& function, std::span<const program::Value> args,
                          const RunContext& context);

}  // namespace baton
