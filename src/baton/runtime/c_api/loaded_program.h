// Programs of the virtual machine for the C interface: the tensors of main's parameters and of its result, by
// number, tuples flattened.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baton/runtime/artifact.h"
#include "baton/runtime/vm/machine.h"

namespace baton {

class LoadedProgram {
 public:
  struct Tensor {
    std::string name;  ///< of a parameter; "x.0" for a field of the parameter x. Empty: of the result
    DType dtype;
    Shape shape;                      ///< -1: known when it runs
    vm::ParameterType declared = {};  ///< of a program
  };
  /// Of one run after the other: what was called, in the order of the first calls, and the nanoseconds of all
  /// calls of it in each run.
  struct Profile {
    std::vector<std::pair<std::string, std::string>> calls;  ///< node and kernel
    std::vector<std::vector<double>> call_ns;                ///< [call][run]
    std::vector<double> total_ns;                            ///< [run]
  };

  /// Fails for a file without a program, and where main takes or returns anything but tensors and tuples of
  /// them.
  static Result<std::unique_ptr<LoadedProgram>> load(std::shared_ptr<const Artifact> artifact);

  const std::vector<Tensor>& inputs() const { return inputs_; }
  /// As the program declares them.
  const std::vector<Tensor>& outputs() const { return outputs_; }

  /// The shape of an input from now on. Another one than before drops its value.
  Status set_input_shape(size_t index, Shape shape);
  /// The declared shape with what set_input_shape() said; -1 where nothing is known.
  const Shape& input_shape(size_t index) const { return shapes_[index]; }
  /// `value`: of the input's type and shape. Copies it, or with `bind` uses its memory.
  Status set_input(size_t index, const NDArray& value, bool bind);

  void set_threads(int threads) { machine_->set_threads(threads); }
  /// Inputs of a known shape that have no value are zeros.
  Status run();
  /// Undefined before a run that succeeded.
  NDArray output(size_t index) const { return index < results_.size() ? results_[index] : NDArray(); }
  Result<Profile> run_profiled(int runs);

 private:
  LoadedProgram() = default;
  const vm::FunctionCode& main() const { return machine_->program().functions[main_]; }
  Status arguments(std::vector<program::Value>& args);
  Status argument(const vm::ParameterType& type, size_t& next, std::vector<program::Value>& made);
  Status take_result(program::Value result);

  std::shared_ptr<const Artifact> artifact_;
  std::unique_ptr<vm::Machine> machine_;
  uint32_t main_ = 0;
  std::vector<Tensor> inputs_, outputs_;
  std::vector<Shape> shapes_;    // of inputs
  std::vector<NDArray> values_;  // of inputs; undefined: none
  program::Value result_;        // of the last run: its memory is not written again while it is here
  std::vector<NDArray> results_;
};

/// Fails for a shape that the input, as it is declared, cannot have.
Status check_shape(const LoadedProgram::Tensor& input, const Shape& shape);

}  // namespace baton
