#pragma once
// One node of an ONNX file on its way to Relay: its inputs and attributes as a rule of ops/ reads them, and
// how that builds its results.
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/frontend/onnx/tensor_data.h"
#include "baton/frontend/onnx/value.h"
#include "baton/ir/build.h"
#include "baton/support/error.h"

namespace baton::onnx {

/// Names of an inner graph, and what they stand for in it.
using Bindings = std::vector<std::pair<std::string_view, Value>>;
class Conversion;

/// A node that cannot be computed on inputs of these types and values.
class NodeError : public Error {
 public:
  using Error::Error;
};

/// What a graph makes, or why it cannot be computed on its inputs.
struct GraphAttempt {
  Values results;
  std::optional<std::string> error;
};

/// What a rule needs of the graph around its node.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  /// The value's tensor; known integers become a constant, or are computed from the shapes of the model's
  /// inputs.
  virtual Expr tensor(const Value& value) = 0;
  /// "model.onnx: Conv `c1`".
  virtual std::string place(const NodeFile& node) const = 0;
  /// The elements of a constant, those of 4 and 2 bits in a byte each.
  virtual NDArray elements(const TensorFile& tensor) = 0;
  virtual NDArray elements(const SparseTensorFile& tensor) = 0;

  // ---- Graphs that are attributes of the node that is being converted.
  /// The graph's results for `inputs`. It sees the names around the node; `bindings` replaces some of them. A
  /// graph can be converted several times: its nodes stay the same operators.
  virtual Values run_graph(const AttributeFile& graph, const Values& inputs, const Bindings& bindings) = 0;
  /// The same for a graph without inputs that need not run. Throws only what is wrong with the file.
  virtual GraphAttempt try_graph(const AttributeFile& graph) = 0;
  /// The graph is not there: its nodes are retired with the reason, and not looked at.
  virtual void skip_graph(const AttributeFile& graph, const std::string& why) = 0;
  /// What the graph, and those within it, read of the names around the node.
  virtual Bindings outer_values(const AttributeFile& graph) const = 0;
  /// Why the node has no operator in the module, where it leaves none.
  virtual void explain(const std::string& why) = 0;

  /// A call that stands for the node until the values of its inputs are known, with results of these types:
  /// a tensor, or a tuple of them.
  virtual Expr keep(const Conversion& node, const std::vector<Type>& types) const = 0;
};

class Conversion {
 public:
  Conversion(Surroundings& around, const NodeFile& node, int64_t version, Values inputs)
      : node(node), version(version), around_(around), inputs_(std::move(inputs)) {}

  /// The same node with other inputs, as an operator of that version of ai.onnx.
  Conversion with(int64_t version, Values inputs) const {
    return {around_, node, version, std::move(inputs)};
  }
  const Values& inputs() const { return inputs_; }

  const NodeFile& node;
  /// Of the node's domain in this model: rules choose by it.
  const int64_t version;

  // ---- Inputs.
  size_t count() const { return inputs_.size(); }
  bool has(size_t i) const { return i < inputs_.size() && !inputs_[i].is_absent(); }
  /// Throws Error where the input is not given.
  const Value& value(size_t i) const;
  Expr operator[](size_t i) const;  ///< its tensor; throws NotSupported for elements of 4 and 2 bits
  /// The tensor, whose elements may be held in a byte each and have `bits_of` it.
  Expr packed(size_t i) const { return around_.tensor(value(i)); }
  /// 0: the elements have all bits of their type.
  int bits_of(size_t i) const { return value(i).packed_bits; }
  const TensorTypeNode& type(size_t i) const;
  DType dtype(size_t i) const { return type(i).dtype(); }
  int rank(size_t i) const { return type(i).rank(); }
  /// Null: it is computed at run time, or not given.
  const ConstantNode* constant(size_t i) const;
  /// Elements of an integer input that importing knows, some of them perhaps symbolic.
  std::optional<KnownIntegers> integers(size_t i) const;
  /// The same, all of them numbers; nullopt where one is not, or none is known.
  std::optional<std::vector<int64_t>> numbers(size_t i) const;
  /// The same; throws NotSupported, which says that `what` has to be constant, where it is not.
  std::vector<int64_t> required_numbers(size_t i, const char* what) const;

  // ---- Attributes. Throw Error for one of another type than the operator's.
  bool has_attribute(std::string_view name) const { return node.attribute(name) != nullptr; }
  int64_t integer(std::string_view name, int64_t otherwise) const;
  int64_t required_integer(std::string_view name) const;
  double number(std::string_view name, double otherwise) const;
  /// The element type that an attribute names by its number. Throws NotSupported for one without arithmetic.
  DType element_type(std::string_view name, DType otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  /// nullopt: it is not there.
  std::optional<std::vector<int64_t>> integers_of(std::string_view name) const;
  std::optional<std::vector<double>> numbers_of(std::string_view name) const;
  /// How many of the node's outputs are used: those behind it are not computed.
  size_t outputs() const { return node.outputs.size(); }
  bool wants(size_t output) const { return output < node.outputs.size() && !node.outputs[output].empty(); }
  const AttributeFile* attribute(std::string_view name) const { return node.attribute(name); }
  /// A graph; throws Error where it is missing.
  const AttributeFile& required_graph(std::string_view name) const;

  // ---- Building. All are typed.
  Expr call(std::string_view op, std::vector<Expr> args, const NamedAttrs& attrs = {}) const;
  Expr scalar(double value, DType dtype) const;
  Expr constant(NDArray value) const;
  Expr vector(const std::vector<int64_t>& values, DType dtype = DType::int_(64)) const;
  Expr item(const Expr& tuple, int index) const;
  Expr cast(const Expr& value, DType dtype) const;
  Expr reshape(const Expr& value, const std::vector<int64_t>& shape) const;
  Expr transpose(const Expr& value, const std::vector<int64_t>& axes) const;
  /// `value` with unit axes in front until it has `rank`.
  Expr at_rank(const Expr& value, int rank) const;
  Expr tensor(const Value& value) const { return around_.tensor(value); }
  NDArray elements(const TensorFile& tensor) const { return around_.elements(tensor); }
  NDArray elements(const SparseTensorFile& tensor) const { return around_.elements(tensor); }
  Surroundings& around() const { return around_; }

  /// Whether importing knows all elements of those of these inputs that are given.
  bool knows(std::initializer_list<size_t> inputs) const;
  /// Whether the shape of the input has no extent that is only known at run time.
  bool has_known_shape(size_t i) const;
  /// The node as it is, to be converted at run time, when the values of all inputs are known: for what Relay
  /// has as attributes and static shapes. `types`: of all outputs; extents that are not known are `?`.
  Values later(const std::vector<Type>& types) const;
  /// The same, with one result of `rank` axes of which nothing is known.
  Values later(int rank, DType dtype) const;

  /// "Conv `c1`: ...", for what the node asks and cannot have.
  NodeError error(const std::string& why) const;
  NotSupported not_supported(const std::string& what) const;
  /// How many elements a table has that importing makes: the product. Throws NotSupported for more than 2^26.
  size_t table_size(std::initializer_list<int64_t> extents) const;
  /// `axis` from 0 on. Throws Error outside of -rank .. rank - 1.
  int axis(int64_t axis, int rank) const;
  std::vector<int64_t> axes(std::vector<int64_t> axes, int rank) const;

 private:
  const AttributeFile* attribute(std::string_view name, AttributeFile::Kind kind) const;
  Surroundings& around_;
  Values inputs_;
  mutable std::vector<Expr> made_;  ///< of known integers, by input; they keep what type() gives alive
};

const TensorTypeNode& tensor_type(const Expr& value);
/// Throws std::out_of_range for a scalar, as at() does for what is not there.
inline Dim last_extent(const TensorTypeNode& type) { return type.shape().at(type.shape().size() - 1); }

/// A rule: the node's results in order; those behind the last may be missing where nobody reads them.
using Convert = Values (*)(Conversion& c);

/// How one operator of one domain is converted, in the versions that ONNX has given it.
struct Operator {
  std::string_view domain, name;
  std::vector<int64_t> versions;  ///< those at which its definition changed, ascending
  Convert convert;
};

}  // namespace baton::onnx
