#pragma once
// Operator semantics as Halide Funcs. Included by .cc files of ops, schedule and codegen only.
#include <initializer_list>
#include <string>
#include <vector>

#include <Halide.h>

#include "baton/ir/op.h"

namespace baton {

/// An operand has fewer axes than the compute needs.
class MissingAxis : public NotSupported {
 public:
  using NotSupported::NotSupported;
};
/// A number that positions are computed from is too large for them.
class WideNumber : public NotSupported {
 public:
  explicit WideNumber(int64_t value)
      : NotSupported(std::to_string(value) +
                     " does not fit into 32 bits, as kernels need it; use a smaller number") {}
};
/// `axis`, counted from the front; throws MissingAxis where there is none.
size_t existing_axis(int axis, size_t rank);

/// A tensor in a kernel, indexed in Relay order: outermost axis first. The Func behind it has Halide's order
/// (its dimension 0 is the last Relay axis, the contiguous one).
class Tensor {
 public:
  Tensor() = default;
  Tensor(Halide::Func func, std::vector<int64_t> shape, DType dtype)
      : func_(std::move(func)), shape_(std::move(shape)), dtype_(dtype) {}
  const std::vector<int64_t>& shape() const { return shape_; }
  int64_t extent(int axis) const { return shape_[existing_axis(axis, shape_.size())]; }
  int rank() const { return static_cast<int>(shape_.size()); }
  DType dtype() const { return dtype_; }
  const Halide::Func& func() const { return func_; }

  Halide::Expr operator()(const std::vector<Halide::Expr>& relay_index) const {
    return func_(std::vector<Halide::Expr>(relay_index.rbegin(), relay_index.rend()));
  }
  template <class... Index>
  Halide::Expr operator()(Halide::Expr first, Index&&... rest) const {
    return (*this)(std::vector<Halide::Expr>{std::move(first), Halide::Expr(rest)...});
  }

 private:
  Halide::Func func_;
  std::vector<int64_t> shape_;
  DType dtype_;
};

/// Halide's type for a Relay element type. bool is UInt(1), stored as a byte.
Halide::Type halide_type(DType dtype);

/// Named pure variables in Relay order, and the same reversed for a Func's arguments.
class Axes {
 public:
  explicit Axes(int rank, const std::string& prefix = "i");
  int rank() const { return static_cast<int>(vars_.size()); }
  const Halide::Var& operator[](int axis) const { return vars_[existing_axis(axis, vars_.size())]; }
  std::vector<Halide::Var> reversed() const { return {vars_.rbegin(), vars_.rend()}; }
  std::vector<Halide::Expr> exprs() const { return {vars_.begin(), vars_.end()}; }

 private:
  std::vector<Halide::Var> vars_;
};

/// A named Func inside an operator that some schedule computes separately (with storage or a loop of its
/// own).
struct Stage {
  std::string name;  ///< "pad", "conv2d", "in_xf"; the Func is called <kernel>_b<block>_<op>__<name>
  Halide::Func func;
};

/// The interface for an operator's compute: inputs, output types, and its stages.
class Compute {
 public:
  Compute(std::string prefix, std::vector<Tensor> inputs, std::vector<Type> input_types, Type result_type);

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  /// Input `index`; tuples are flattened: their fields are consecutive inputs.
  const Tensor& in(int index) const { return inputs_.at(index); }
  /// The type of output `index` (0 unless the operator returns a tuple).
  const TensorTypeNode& out(int index = 0) const;
  int num_outputs() const;

  /// Makes a stage: a Func with a stable, unique name, known to schedule templates as `name`.
  Halide::Func stage(const std::string& name);
  /// Sets the operator's value, one Func per output, in Halide order; usually the last stage.
  void result(Halide::Func value) { results_ = {std::move(value)}; }
  void results(std::vector<Halide::Func> values) { results_ = std::move(values); }

  const std::vector<Type>& input_types() const { return input_types_; }
  const Type& result_type() const { return result_type_; }
  const std::vector<Stage>& stages() const { return stages_; }
  const std::vector<Halide::Func>& results() const { return results_; }

 private:
  std::string prefix_;
  std::vector<Tensor> inputs_;
  std::vector<Type> input_types_;
  Type result_type_;
  std::vector<Stage> stages_;
  std::vector<Halide::Func> results_;
};

}  // namespace baton
