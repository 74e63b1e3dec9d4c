#pragma once
// `main` as a cut sees it: what its own body computes, step by step, and what each step reads. What is inside
// a branch, a loop or a function is part of the step that runs it.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "baton/ir/analysis/call_graph.h"
#include "baton/ir/module.h"
#include "baton/pass/build_context.h"
#include "baton/support/pointer_map.h"

namespace baton {

/// For nodes of a cut that hold others together and compute nothing.
inline NodeInfo no_operator(Type type = {}) { return NodeInfo(OriginSet::none(), {}, std::move(type)); }

/// A value of main's body.
struct CutNode {
  Expr expr;
  bool step = false;  ///< computes: a call, if, match; else a variable, a constant, a tuple or its item
  std::vector<uint32_t> reads;  ///< earlier nodes, those that branches and functions use included; ascending
  std::vector<const Origin*> operators;  ///< of a step: its own, or all that are inside; ascending by serial
  /// Not empty: it can be taken whole or not at all, e.g. "the `if` at 7:3".
  std::string control;
  /// Operators inside, of a function that is called or handed on: "the function `@f`".
  std::string inside;
};

/// A value as a part of another: item path[0] of `base`, of that item path[1], ...
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
  /// for a program with references: what they hold depends on the order of everything.
  explicit CutGraph(IRModule module);

  const IRModule& module() const { return module_; }
  const Function& main() const { return main_; }
  /// In the order of evaluation: what is read comes first.
  const std::vector<CutNode>& nodes() const { return nodes_; }
  const CutNode& operator[](uint32_t node) const { return nodes_[node]; }
  /// Its number; it must be in the graph.
  uint32_t number_of(const ExprNode* expr) const;
  /// Null when it is none of the nodes.
  const CutNode* find(const ExprNode* expr) const {
    const uint32_t* number = numbers_.find(expr);
    return number ? &nodes_[*number] : nullptr;
  }
  /// Whether main's own body computes or reads it.
  bool holds(const ExprNode* expr) const { return outer_.contains(expr); }
  /// Whether a function or branch uses values of main's body that it is not given as arguments.
  bool captures(const Expr& part) const;
  /// `expr`, looked at through items of tuples that are written out.
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
  PointerSet outer_;  // main's own values
  PointerMap<uint32_t> numbers_;
  std::vector<CutNode> nodes_;
};

/// What cuts are made in: `module` typed, lets of main replaced by their values.
IRModule cut_source(const IRModule& module, const BuildContext& context);

/// "%12 nn.conv2d", or what a step of several operators is.
std::string step_label(const CutNode& step);

}  // namespace baton
