#pragma once
// The implementation of InferType; internal.
//
// One post-order walk over all functions numbers the nodes and types each from its children: an operator's
// relation runs at once when its inputs are known; otherwise it is deferred on the holes in them. A node
// whose type is complete is rebuilt immediately, while it and its children are in cache. Then woken relations
// run to a fixed point, unresolved types are reported, and the remaining typed nodes are built in walk order.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/support/diagnostic.h"
#include "baton/support/pointer_map.h"
#include "baton/support/segmented_array.h"
#include "baton/types/type_solver.h"

namespace baton {

class TypeInference {
 public:
  /// `trust`: nodes that have a type are not entered.
  explicit TypeInference(bool trust) : trust_(trust) {}

  /// The functions that can be called by name. Those to be inferred must also be passed to `add_function`.
  void set_module(const IRModuleNode& module);
  void add_function(const std::string& name, const Function& function);
  void add_expr(const Expr& expr);

  /// Runs deferred relations to a fixed point; throws DiagnosticError on errors.
  void solve();
  /// The typed form of an added root. Call after solve(); the first call runs build().
  Expr typed(const Expr& root);

 private:
  friend class CallRelation;
  using NodeId = uint32_t;
  static constexpr NodeId kTyped = UINT32_MAX;  // a child without a number: already typed, kept as is

  static constexpr NodeId kEntered =
      UINT32_MAX - 1;  // in ids_: the walk is below the node, which has no number yet

  struct Frame {
    const ExprNode* node;
    uint32_t step : 31;
    uint32_t shared : 1;  // it is in ids_, at the entry on top of open_entries_
    uint32_t edge_base;
  };

  // ---- The walk (type_inference.cc)
  void walk(const ExprNode* root);
  bool is_leaf(const ExprNode& node) const;
  /// The child visited at `step`; null with `done` false when the step has no child.
  const ExprNode* child(const Frame& frame, bool& done);
  NodeId leave(const Frame& frame);
  void visit_var(const VarNode& var, NodeId id);
  void bind_var(const VarNode& var, NodeId id);
  /// Assigns the next number to `node`; children have smaller numbers.
  NodeId number(const ExprNode* node);
  NodeId number_var(const VarNode& var);

  // ---- Types of single nodes, from their children's
  void infer(const ExprNode& node, NodeId id);
  void infer_call(const CallNode& call, NodeId id);
  void infer_op_call(const CallNode& call, NodeId id);
  void infer_let_value(const LetNode& let, const Frame& frame);
  void infer_if(const IfNode& branch, NodeId id);
  /// Binds the variables of a clause before its body is visited.
  void enter_clause(const MatchNode& match, const Clause& clause, const Frame& frame);
  void infer_pattern(const Pattern& pattern, const Type& type, const MatchNode& match);
  void infer_match(const MatchNode& match, NodeId id);
  void infer_reference(const ExprNode& node, NodeId id);
  bool infer_get_item(const TupleGetItemNode& item, NodeId id);
  void infer_function(const FunctionNode& function, NodeId id);
  bool run_relation(const CallNode& call, NodeId id);
  void defer(NodeId id);
  void wait_for_children(NodeId id, TypeSolver::Waiter waiter);
  bool has_error(const Type& type);
  void run_woken();

  const ExprNode& node(NodeId id) const { return *nodes_[id]; }
  NodeId edge(NodeId id, uint32_t index) const { return edges_[first_edge_[id] + index]; }
  /// The type of a node; a hole while nothing is known.
  const Type& type_of(NodeId id);
  const Type& child_type(NodeId id, uint32_t index, const ExprNode& child);
  /// Unifies the type of `id` with `type`; false on mismatch.
  bool set_type(NodeId id, const Type& type, TypeSolver::Mismatch* mismatch = nullptr);
  void set_error(NodeId id);
  Type global_type(const GlobalVarNode& var);
  Type constructor_type(const ConstructorNode& constructor, const ExprNode& at);
  TypeData data_type(const ConstructorNode& constructor, const ExprNode& at);
  bool check_kinds(const Type& annotation, const ExprNode& at);

  // ---- Diagnostics (type_report.cc)
  Diagnostic& report(const DiagnosticDef& def, const ExprNode& at, const std::vector<std::string>& values);
  /// The same for a call: the span is narrowed to the callee's name, with the types of all arguments (or of
  /// one) as labels.
  Diagnostic& report_call(const DiagnosticDef& def, const CallNode& call, NodeId id,
                          const std::vector<std::string>& values, int only = -1);
  void report_mismatch(const ExprNode& at, const std::string& what, const Type& seen, const Type& wanted,
                       const std::string& why);
  void report_argument(const CallNode& call, NodeId id, size_t index, const Type& seen, const Type& wanted,
                       const std::string& why);
  void report_count(const CallNode& call, NodeId id, size_t wanted);
  void report_not_callable(const CallNode& call, NodeId id, const Type& type);
  void report_get_item(const TupleGetItemNode& item, const Type& type);
  void report_bound_twice(const VarNode& var);
  void report_no_function(const GlobalVarNode& var);
  void report_op_value(const OpNode& op, const ExprNode& user);
  void report_unmatched(const MatchNode& match);
  void report_kind(const ExprNode& at, const Type& type, const std::string& why);
  void report_free_variables();
  /// Reports what is unresolved at the fixed point: relations first, then variables and the rest.
  void report_open();
  void report_open_call(const CallNode& call, NodeId id);

  // ---- Typed nodes (type_build.cc)
  void build();
  /// Builds a node if its type is final and its children are built; returns whether it did.
  bool build_early(NodeId id);
  bool build_children_early(NodeId id);
  void build(NodeId id);
  Expr built(NodeId id, uint32_t index, const Expr& child);
  Expr rebuild(const ExprNode& node, NodeId id);

  bool trust_;
  const IRModuleNode* module_ = nullptr;
  std::map<std::string, Type> globals_;
  bool open_ = false;      // an expression: free variables are allowed
  uint32_t function_ = 0;  // number of the function being walked; 0 for an open expression

  // Per node, in the order of the walk.
  SegmentedArray<const ExprNode*> nodes_;  // null: built and moved out
  SegmentedArray<Type> types_;             // null: unknown, and no hole created yet
  SegmentedArray<Expr> built_;             // null: not built yet, or moved to its only user
  SegmentedArray<uint32_t>
      first_edge_;             // index into edges_; for a variable: the number of the function that binds it
  std::vector<NodeId> edges_;  // children of each node in walk order; dropped once the node is built early
  std::vector<NodeId> edge_stack_;

  PointerMap<NodeId>
      ids_;  // of nodes that may be reached again: variables, names, and nodes with several users
  std::vector<uint32_t> open_entries_;
  std::vector<NodeId> variables_;
  size_t unbuilt_ = 0;      // number of nodes not built yet
  std::vector<Expr> kept_;  // the roots

  TypeSolver solver_;
  std::vector<NodeId> pending_;  // calls and get-items with unsatisfied relations, in walk order
  std::vector<uint8_t> satisfied_;
  DiagnosticEngine engine_;
  std::vector<Type> settled_;  // keeps alive the types that relations read
};

}  // namespace baton
