#pragma once
// Combines operators of one kind that read the same tensor, each followed by operators that compute each
// element from the one at its place, into one:
//   f(x, a), f(x, b), f(x, c)  ->  parts of f(x, joined(a, b, c))
// ParallelKind holds what differs between convolutions, dense layers and batched products.
#include <functional>
#include <string>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// A head operator and the calls after it, each the only user of its predecessor. All from the original,
/// typed program.
using Branch = std::vector<Ref<const CallNode>>;

struct ParallelKind {
  std::string op;
  /// Whether a call is eligible, and whether two can be combined.
  std::function<bool(const CallNode& call)> supports;
  std::function<bool(const CallNode& a, const CallNode& b)> fit;
  /// The axis of the result along which branches are concatenated.
  std::function<int(const CallNode& head)> axis;
  /// Whether argument `index` of two calls after the heads can be combined.
  std::function<bool(const CallNode& a, const CallNode& b, size_t index, int axis)> arguments_fit;
  /// The same for vectors along axis `along` of the calls' results, arguments of an operator with AlongAxis.
  std::function<bool(const CallNode& a, const CallNode& b, size_t index, int along, int axis)> vectors_fit;
  /// Whether vectors become tensors that broadcast, arguments of AlongAxis::broadcasting.
  bool vectors_broadcast = false;
  /// The combined head; `weights` are the heads' second arguments, rewritten.
  std::function<Expr(const std::vector<Branch>& branches, const Expr& data, const std::vector<Expr>& weights)>
      join_heads;
  /// Argument `index` of all `calls` after the heads, combined; `args`: the rewritten arguments.
  std::function<Expr(const Branch& calls, size_t index, const std::vector<Expr>& args, int axis)>
      join_arguments;
  std::function<Expr(const Branch& calls, const std::vector<Expr>& args, int along)> join_vectors;
  /// The replacements of the branches' last calls.
  std::function<std::vector<Expr>(const std::vector<Branch>& branches, const Expr& joined)> parts;
};

/// `function` (typed) with groups of at least `least` branches combined.
Function join_parallel(const Function& function, const ParallelKind& kind, size_t least);

}  // namespace baton
