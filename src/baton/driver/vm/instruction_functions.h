#pragma once
// Primitive functions that are instructions and no kernels.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/runtime/vm/instructions.h"

namespace baton::vm {

/// The operators of a primitive function that integers in registers are computed by, in order; empty when it
/// has others.
struct IntegerStep {
  Opcode op;
  IntegerKind kind;
  std::vector<int> operands;  ///< below the number of parameters: a parameter; else an earlier step;
                              ///< negative: ~i, the number `numbers[i]`
};
struct IntegerFunction {
  std::vector<IntegerStep> steps;
  std::vector<std::pair<int64_t, IntegerKind>> numbers;
};
std::optional<IntegerFunction> integer_function(const FunctionNode& function);

/// A primitive function that concatenates others to a parameter along the first axis, whose extent is not
/// known: what a loop has collected.
struct AppendFunction {
  size_t whole = 0;    ///< the number of that parameter
  size_t part = 0;     ///< of the one that is concatenated, or becomes a row of `whole`; unless:
  Function rest = {};  ///< what computes it, of the other parameters
  OriginSet origins;   ///< of the concatenation itself
};
std::optional<AppendFunction> append_function(const FunctionNode& function);

}  // namespace baton::vm
