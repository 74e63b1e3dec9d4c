#pragma once
// Operator semantics as Halide Funcs. Included by .cc files of ops, schedule and codegen only.
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include <Halide.h>

#include "baton/ir/extent.h"
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
/// An int64 extent as Halide's int32; throws WideNumber where it does not fit.
inline int as_int(int64_t value) {
  if (value < INT32_MIN || value > INT32_MAX) throw WideNumber(value);
  return static_cast<int>(value);
}
/// `axis`, counted from the front; throws MissingAxis where there is none.
size_t existing_axis(int axis, size_t rank);

/// `dim` in a kernel: a number, or an expression of the parameters that stand for symbolic extents
/// (numbered_extent, ir/extents/kernel_extents.h). Throws WideNumber, and NeedsNumbers for `?`.
Halide::Expr as_expr(Dim dim);
/// The parameter of a kernel that is its `i`-th symbolic extent.
Halide::Param<int> extent_param(int i);

/// A tensor in a kernel, indexed in Relay order: outermost axis first. The Func behind it has Halide's order
/// (its dimension 0 is the last Relay axis, the contiguous one).
class Tensor {
 public:
  Tensor() = default;
  Tensor(Halide::Func func, std::vector<Dim> dims, DType dtype)
      : func_(std::move(func)), dims_(std::move(dims)), dtype_(dtype) {
    if (!is_static()) return;
    for (const Dim& dim : dims_) shape_.push_back(dim.value());
  }
  Tensor(Halide::Func func, const std::vector<int64_t>& shape, DType dtype)
      : Tensor(std::move(func), std::vector<Dim>(shape.begin(), shape.end()), dtype) {}
  const std::vector<Dim>& dims() const { return dims_; }
  /// Negative axes count from the back.
  Dim dim(int axis) const { return dims_[existing_axis(axis, dims_.size())]; }
  /// The extent in expressions, symbolic or not.
  Halide::Expr size(int axis) const { return as_expr(dim(axis)); }
  bool is_static() const { return std::ranges::none_of(dims_, &Dim::is_any); }
  /// Throw NeedsNumbers where an extent is symbolic.
  const std::vector<int64_t>& shape() const;
  int64_t extent(int axis) const;
  int rank() const { return static_cast<int>(dims_.size()); }
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
  std::vector<Dim> dims_;
  std::vector<int64_t> shape_;  ///< of static ones
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
  /// Where it is computed best on a processor, if not as a whole: in this loop of another stage.
  std::optional<Halide::LoopLevel> within = {};
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
  /// Stages by number, the first and the one behind the last: are computed in a loop of `consumer`, on a
  /// processor.
  void compute_within(std::pair<size_t, size_t> which, const Halide::Func& consumer,
                      const Halide::Var& loop) {
    for (size_t i = which.first; i < which.second; ++i)
      stages_.at(i).within = Halide::LoopLevel(consumer, loop);
  }
  /// Sets the operator's value, one Func per output, in Halide order; usually the last stage.
  void result(Halide::Func value) { results_ = {std::move(value)}; }
  void results(std::vector<Halide::Func> values) { results_ = std::move(values); }

  /// For an operand that must have elements, or its value could not be computed as it is: the kernel is
  /// computed so where `dim` is at least 1, and where it is 0 as that of the program with that number.
  /// Nothing for numbers.
  void needs_elements(Dim dim) {
    if (dim.is_symbolic()) never_empty_.push_back(dim);
  }
  const std::vector<Dim>& never_empty() const { return never_empty_; }

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
  std::vector<Dim> never_empty_;
};

}  // namespace baton
