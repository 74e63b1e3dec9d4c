#pragma once
// Operators of one kind that read the same tensor, each with elementwise operators behind it, become one
// operator:
//   f(x, a), f(x, b), f(x, c)  ->  parts of f(x, joined(a, b, c))
// What differs between convolutions, dense layers and batched products is in a ParallelKind.
#include <functional>
#include <string>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// An operator, then those behind it, each the only reader of the one before. All as in the program (typed).
using Branch = std::vector<Ref<const CallNode>>;

struct ParallelKind {
  std::string op;
  /// Whether a call can take part, and whether two can become one.
  std::function<bool(const CallNode& call)> supports;
  std::function<bool(const CallNode& a, const CallNode& b)> fit;
  /// The axis of the results along which branches lie side by side in the joined result.
  std::function<int(const CallNode& head)> axis;
  /// Whether argument `index` of two calls behind the heads can be joined.
  std::function<bool(const CallNode& a, const CallNode& b, size_t index, int axis)> arguments_fit;
  /// The heads as one; `weights` are their second arguments, rewritten.
  std::function<Expr(const std::vector<Branch>& branches, const Expr& data, const std::vector<Expr>& weights)>
      join_heads;
  /// Argument `index` of all `calls` behind the heads as one; `args`: the arguments as rewritten.
  std::function<Expr(const Branch& calls, size_t index, const std::vector<Expr>& args, int axis)>
      join_arguments;
  /// What takes the place of each branch's last call.
  std::function<std::vector<Expr>(const std::vector<Branch>& branches, const Expr& joined)> parts;
};

/// `function` (typed) with groups of at least `least` branches joined.
Function join_parallel(const Function& function, const ParallelKind& kind, size_t least);

}  // namespace baton
