#pragma once
// What a name of an ONNX graph stands for while the graph is imported.
#include <memory>
#include <optional>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/type.h"

namespace baton::onnx {

/// The elements of a tensor of integers or bools of rank 0 or 1, known while importing: numbers, or symbolic
/// extents.
struct KnownIntegers {
  std::vector<Dim> values;
  bool is_scalar = false;
  DType dtype = DType::int_(64);
};

struct Value;
using Values = std::vector<Value>;

/// A tensor, a sequence of values, an optional without an element, or nothing (an optional input that is not
/// given). An optional that has an element is that element.
struct Value {
  Value() = default;
  Value(Expr expr) : tensor(std::move(expr)) {}
  Value(KnownIntegers known) : integers(std::make_shared<const KnownIntegers>(std::move(known))) {}
  static Value of_sequence(Values values);

  Expr tensor;                                    ///< typed; null while only `integers` are known
  std::shared_ptr<const KnownIntegers> integers;  ///< null: not known
  std::shared_ptr<const Values> sequence;         ///< null: no sequence
  /// How many bits the tensor's elements have that are held in a byte each; 0: all of theirs.
  int packed_bits = 0;

  /// Of a bool that is computed at run time: it is true exactly where these extents are equal. Null: not
  /// known.
  std::shared_ptr<const std::pair<Dim, Dim>> equal;
  bool is_none = false;  ///< an optional that has no element

  bool is_absent() const { return !tensor && !integers && !sequence && !is_none; }
};

inline Value Value::of_sequence(Values values) {
  Value value;
  value.sequence = std::make_shared<const Values>(std::move(values));
  return value;
}

}  // namespace baton::onnx
