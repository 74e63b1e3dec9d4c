#pragma once
// Writes the tensors and steps of one region, whatever its operators are. For .cc files of this folder only.
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "baton/codegen/dnnl/region.h"
#include "baton/codegen/dnnl/views.h"
#include "baton/ir/expr.h"

namespace baton::dnnl_blob {

/// Throws NotSupported. `why` reads on from the name of the operator that is lowered.
[[noreturn]] void refuse(const std::string& why);

/// Null for types that regions do not have.
std::optional<ElementType> element_type(DType dtype);

/// The extents of a tensor; those of a scalar are {1}. Refuses types that regions do not have.
Dims dims_of(const TensorTypeNode& type);
/// The extents of the call's result, which is one tensor.
Dims result_dims(const CallNode& call);

/// A region that grows call by call. The values of an expression are views, one for each tensor in its type.
/// Lowering a call reads the values of its operands, appends steps, and defines the value of the call.
/// References to values stay valid; those to tensors and steps only until the next one is added.
class RegionWriter {
 public:
  explicit RegionWriter(std::string symbol) { result_.region.symbol = std::move(symbol); }

  /// The region, with the origins of its steps. The writer is of no use afterwards.
  DnnlRegion finish();

  // ---- Values.

  const std::vector<View>& values_of(const Expr& value) const;
  /// The view of a value that is one tensor.
  const View& value_of(const Expr& value) const;

  void define(const ExprNode& node, std::vector<View> views) { values_[&node] = std::move(views); }
  /// Defines a constant, a tuple, or an item of a tuple. Other nodes that are no calls have no value of their
  /// own, or are refused.
  void define_value(const Expr& node);
  /// Defines `value` as inputs of the region; `user` is named where these are refused.
  void define_inputs(const Expr& value, const std::string& user);

  View add_constant(const NDArray& value, const Dims& dims);
  View add_vector(const std::vector<float>& numbers);
  /// The data of a tensor that is a constant; null for others.
  const NDArray* constant(int64_t tensor) const;

  /// A result of the region. A tensor in the order of its own axes is written in place; other views, inputs
  /// and what is an output already are copied.
  void add_output(const View& view, int64_t index);

  // ---- Tensors and steps.

  TensorInfo& tensor(int64_t id) { return result_.region.tensors[static_cast<size_t>(id)]; }
  const TensorInfo& tensor(int64_t id) const { return result_.region.tensors[static_cast<size_t>(id)]; }
  Step& last_step() { return steps().back(); }

  /// Appends a step with a result of extents `dims`, whose axis i is axis order[i] of the value. Returns the
  /// value. Elements are those of the first operand, or int32 where that is multiplied as bytes.
  View made(Step step, const Dims& dims, const std::vector<int>& order);
  View made(Step step, const Dims& dims) { return made(std::move(step), dims, same_order(dims.size())); }

  /// `value` as a dense view, copied if it is not.
  View dense(const View& value);

  // ---- Orders of axes: axis i of a tensor is axis order[i] of the value first made in it.

  const std::vector<int>& order_of_tensor(int64_t tensor) const {
    return orders_[static_cast<size_t>(tensor)];
  }
  /// Whether the value is its tensor, up to the order of axes.
  bool is_whole(const View& value) const;
  /// The order of its tensor where the value is that, so that blocked layouts are kept; otherwise its own.
  std::vector<int> value_order(const View& value) const;

  // ---- Fusion: operators that join the step that makes their operand, when nothing else reads that.

  void add_use(const Expr& value) { ++uses_[value.get()]; }
  /// Says that the tensor of `value` holds the result of `call`, so that later calls may join its step.
  void set_owner(const View& value, const CallNode& call) { owners_[value.tensor] = &call; }

  /// An activation of `operand`: a post-operation, or a step.
  View activation(Algorithm algorithm, double alpha, double beta, const Expr& operand);
  /// Combines the result of the step that made `operand` with `other`; false if it cannot.
  bool fuse_binary(Algorithm algorithm, const Expr& operand, const View& other);

  // ---- Origins.

  /// By the tensor that a step makes: how many operands and post-operations the step has.
  std::map<int64_t, size_t> sizes_of_steps() const;
  /// Adds origins to the steps that are new since `before`, or do more than then.
  void add_origins(const OriginSet& computed, const std::map<int64_t, size_t>& before);

 private:
  std::vector<Step>& steps() { return result_.region.steps; }
  View add_tensor(TensorKind kind, const Dims& dims, ElementType type, int64_t index = 0);
  Step* open_step(const Expr& operand);

  DnnlRegion result_;
  int64_t inputs_ = 0;
  std::vector<std::vector<int>> orders_;            // by tensor
  std::unordered_map<int64_t, NDArray> constants_;  // by tensor
  std::unordered_map<const ExprNode*, std::vector<View>> values_;
  std::unordered_map<const ExprNode*, int> uses_;
  std::unordered_map<int64_t, OriginSet> origins_;  // by tensor: what the step that makes it computes
  /// The call whose value a tensor is: reshapes, transpositions and items of tuples only refer to it.
  std::unordered_map<int64_t, const ExprNode*> owners_;
};

}  // namespace baton::dnnl_blob
