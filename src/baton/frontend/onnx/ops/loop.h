#pragma once
// Loops as Relay: unrolled where the number of turns is decided while importing and small, else a function
// that calls itself.
#include <functional>
#include <optional>

#include "baton/frontend/onnx/conversion.h"

namespace baton::onnx {

/// What one turn makes: whether there is another one, the carried values, and an element of each output that
/// collects.
struct Turn {
  Value condition;
  Values carried, collected;
};

struct Loop {
  Value trips;      ///< absent: no limit
  Value condition;  ///< of the first turn; absent: true
  Values carried;   ///< before the first turn
  const AttributeFile* graph = nullptr;
  size_t collected = 0;  ///< how many outputs collect
  Values more = {};      ///< tensors that `turn` reads, besides those that the graph does
  /// The turn number `index`. `bindings` and `more` replace what the loop reads of the names around it.
  std::function<Turn(const Value& index, const Value& condition, const Values& carried, const Values& more,
                     const Bindings& bindings)>
      turn;
};

struct LoopResults {
  Values carried;
  Values collected;  ///< along a new first axis
};

LoopResults run_loop(Conversion& c, const Loop& loop);

/// `value` with a type of that rank and element type whose extents are unknown where both differ.
Expr widened(const Conversion& c, const Expr& value, const Type& type);
/// The type of tensors that can be `a` or `b`: unknown extents where they differ. Throws Error for another
/// rank, or element type; `what`: what they are.
Type joined(const Conversion& c, const Type& a, const Type& b, const std::string& what);

}  // namespace baton::onnx
