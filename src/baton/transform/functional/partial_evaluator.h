#pragma once
// The evaluator of PartialEvaluate. It uses an explicit stack, so program depth is unlimited.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/pass/pass.h"
#include "baton/support/pointer_map.h"
#include "baton/transform/functional/partial_values.h"

namespace baton::partial {

/// Evaluates functions of a module in turn and emits the residual program of each.
class PartialEvaluator {
 public:
  /// `graphs`: the functions are dataflow graphs, whose shared nodes are evaluated once.
  PartialEvaluator(const IRModuleNode& module, const BuildContext& context, uint64_t& names, bool graphs)
      : module_(module), context_(context), names_(names), graphs_(graphs) {}

  Function run(const std::string& name, const Function& function);
  void know(const std::string& name, const GlobalVar& var) { globals_.emplace(name, var); }

 private:
  using Kind = Value::Kind;
  struct Binding {
    Var var;
    Expr value;
  };
  struct Env {
    PointerMap<ValueRef> values;
    std::vector<TypeVar> type_vars;
    std::vector<Type> types;
  };
  enum class Step : uint8_t { kNode, kReturn, kEmit, kKeep };
  struct More {  // rarely used fields of a frame
    size_t store = 0;
    Expr then;
    std::vector<Clause> clauses;
    ValueRef self;
    Var name;
    std::vector<Var> params;
    size_t type_scope = 0;
  };
  struct Frame {
    Step step;
    Expr node;
    std::vector<ValueRef> values;
    std::unique_ptr<More> more;
  };

  static NodeInfo bare() { return NodeInfo(OriginSet::none()); }

  // ---- Values

  Ref<Value> value(Kind kind, Expr atom);
  ValueRef unknown(Expr atom) { return value(Kind::kUnknown, std::move(atom)); }

  Var fresh() { return make_var("x_" + std::to_string(names_++), {}, bare()); }
  Expr bind(Expr value);
  Expr close_list(Expr result);
  ValueRef tensor(const Constant& constant);

  // `type` translated to the current scope; null when it uses a type variable not in scope.
  Type here(const Type& type) const;
  Var copy(const Var& var) const;

  // ---- Evaluation: `next_` is evaluated next, or `value_` is passed to the innermost frame

  void evaluate();

  // Whether a graph node may have several users; the evaluator itself holds one reference.
  static bool is_shared(const ExprNode& node);
  ValueRef callee(const Expr& atom, const Expr& callee);
  ValueRef global(const Expr& name);

  // Requests the next operand of the innermost node, or finishes it.
  void advance();
  void ask(const Expr& node) { next_ = node; }

  void receive();
  void set(const ExprNode* var, ValueRef value);
  void finish(const ExprNode& node, const std::vector<ValueRef>& values);
  static std::vector<Expr> atoms(const std::vector<ValueRef>& values, size_t first);

  // ---- Calls

  void call(const CallNode& call, const std::vector<ValueRef>& values);
  Expr written(const CallNode& call, const std::vector<ValueRef>& values);
  void enter(const ValueRef& closure, const std::vector<ValueRef>& args, const CallNode* call);

  // The value of an operator call when all arguments are known, else null.
  ValueRef computed(const CallNode& call, const OpNode& op, const std::vector<ValueRef>& values);
  static Expr reified(const Value& value, OriginSet& origins);

  // ---- Functions

  // Emits a function for unknown arguments; calls with more information specialise it.
  void open_function(const Function& function, const VarNode* self);
  const std::vector<Var>& captured_by(const Function& function);
  void emit(const ValueRef& closure, const Var& name);

  // `function` with known variables substituted.
  Expr renamed(const FunctionNode& function);
  void emitted(const ValueRef& result);

  // ---- Branches

  void open_branch(More& more, const Expr& body);
  Expr close_branch(More& more, const ValueRef& result);
  void branch(ValueRef given);
  void clause(ValueRef given);

  const IRModuleNode& module_;
  const BuildContext& context_;
  uint64_t& names_;
  bool graphs_;
  std::map<std::string, GlobalVar> globals_;
  uint64_t time_ = 0, cells_ = 0;
  std::vector<Frame> frames_;
  std::vector<Env> envs_;
  std::vector<std::vector<Binding>> lists_;
  Store store_;
  Fuel fuel_;
  std::vector<TypeVar> type_scope_;  // declared by the functions being emitted
  PointerMap<std::vector<Var>> free_vars_;
  Expr next_;
  ValueRef value_;
  Function emitted_;
};

}  // namespace baton::partial
