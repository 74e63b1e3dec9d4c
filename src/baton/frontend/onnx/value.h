#pragma once
// What a name of an ONNX graph stands for while the graph is imported.
#include <memory>
#include <optional>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/type.h"

namespace baton::onnx {

/// The elements of an integer tensor of rank 0 or 1, known while importing: numbers, or symbolic extents.
struct KnownIntegers {
  std::vector<Dim> values;
  bool is_scalar = false;
  DType dtype = DType::int_(64);
};

struct Value;
using Values = std::vector<Value>;

/// A tensor, a sequence of values, or nothing (an optional input that is not given).
struct Value {
  Value() = default;
  Value(Expr expr) : tensor(std::move(expr)) {}
  Value(KnownIntegers known) : integers(std::make_shared<const KnownIntegers>(std::move(known))) {}

  Expr tensor;                                    ///< typed; null while only `integers` are known
  std::shared_ptr<const KnownIntegers> integers;  ///< null: not known
  std::shared_ptr<const Values> sequence;         ///< null: no sequence
  /// How many bits the tensor's elements have that are held in a byte each; 0: all of theirs.
  int packed_bits = 0;

  bool is_absent() const { return !tensor && !integers && !sequence; }
};

}  // namespace baton::onnx
