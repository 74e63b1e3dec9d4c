#pragma once
// The graph of `main` that cuts are made in: the steps of its own body, and what each step reads. Branches,
// loops and functions are part of the step that runs them.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "baton/ir/analysis/call_graph.h"
#include "baton/ir/module.h"
#include "baton/pass/build_context.h"
#include "baton/support/pointer_map.h"

namespace baton {

/// For structural nodes of a cut, which compute nothing.
inline NodeInfo no_operator(Type type = {}) { return NodeInfo(OriginSet::none(), {}, std::move(type)); }

/// A value of main's body.
struct CutNode {
  Expr expr;
  bool step = false;  ///< a computation (call, if, match) rather than a variable, constant, tuple or item
  std::vector<uint32_t> reads;  ///< earlier nodes, including those used by branches and functions; ascending
  std::vector<const Origin*> operators;  ///< of a step: its own, or all nested ones; ascending by serial
  /// Non-empty when it can only be taken as a whole, e.g. "the `if` at 7:3".
  std::string control;
  /// Nested operators of a called or passed function: "the function `@f`".
  std::string inside;
};

/// A component of a value: item path[0] of `base`, of that item path[1], ...
struct CutValue {
  Expr base;  ///< never an item; a tuple only when `path` is empty
  std::vector<int> path;
  friend bool operator<(const CutValue& a, const CutValue& b) {
    return a.base.get() != b.base.get() ? a.base.get() < b.base.get() : a.path < b.path;
  }
};

class CutGraph {
 public:
  /// `module`: typed, with main in graph normal form (cut_source). Throws Error without main, NotSupported
  /// for a program with references, whose contents depend on the evaluation order.
  explicit CutGraph(IRModule module);

  const IRModule& module() const { return module_; }
  const Function& main() const { return main_; }
  /// In evaluation order: operands first.
  const std::vector<CutNode>& nodes() const { return nodes_; }
  const CutNode& operator[](uint32_t node) const { return nodes_[node]; }
  /// The number of `expr`, which must be in the graph.
  uint32_t number_of(const ExprNode* expr) const;
  /// Null when `expr` is not in the graph.
  const CutNode* find(const ExprNode* expr) const {
    const uint32_t* number = numbers_.find(expr);
    return number ? &nodes_[*number] : nullptr;
  }
  /// Whether main's own body computes or reads it.
  bool holds(const ExprNode* expr) const { return outer_.contains(expr); }
  /// Whether a function or branch captures values of main's body.
  bool captures(const Expr& part) const;
  /// Resolves items of tuple literals.
  static CutValue resolve(Expr expr);

 private:
  void find_outer();
  std::vector<Expr> shared_by(const std::vector<Expr>& parts) const;
  void order();
  CutNode node_of(const Expr& expr) const;
  std::vector<const Origin*> operators_of(const std::vector<Expr>& parts) const;

  IRModule module_;
  Function main_;
  CallGraph calls_;
  PointerSet outer_;  // values of main's body
  PointerMap<uint32_t> numbers_;
  std::vector<CutNode> nodes_;
};

/// The input of cuts: `module` typed, with the lets of main inlined.
IRModule cut_source(const IRModule& module, const BuildContext& context);

/// "%12 nn.conv2d", or a description of a step with several operators.
std::string step_label(const CutNode& step);

}  // namespace baton
