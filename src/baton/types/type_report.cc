// Diagnostics of type inference.
#include "baton/ir/analysis/match_cases.h"
#include "baton/types/call_text.h"
#include "baton/types/type_inference.h"

namespace baton {

namespace {

constexpr DiagnosticDef kOpenCall{"E0201", "cannot infer the type of `{0}`: {1}",
                                  "give the variable's type where it is declared"};
constexpr DiagnosticDef kOpen{"E0201", "cannot infer the type of {0}", "give its type where it is declared"};
constexpr DiagnosticDef kMismatch{"E0202", "{0} has type {1}, but {2} is needed", "{3}"};
constexpr DiagnosticDef kCount{"E0204", "`{0}` takes {1}, got {2}"};
constexpr DiagnosticDef kNotCallable{"E0205", "only functions can be called, this is {0}"};
constexpr DiagnosticDef kNoField{"E0206", "there is no field {0} in {1}", "fields count from 0"};
constexpr DiagnosticDef kNoTuple{"E0207", "field {0} of {1}, which is no tuple"};
constexpr DiagnosticDef kFree{"E0208", "variable %{0} is used, but bound nowhere in function"};
constexpr DiagnosticDef kBoundTwice{"E0209", "variable %{0} is bound twice"};
constexpr DiagnosticDef kNoFunction{"E0210", "there is no function @{0} in the module", "{1}"};
constexpr DiagnosticDef kNeedsTensor{"E0211", "`{0}` needs a tensor as `{1}`, got {2}"};
constexpr DiagnosticDef kOpValue{"E0212", "operator `{0}` is used as a value",
                                 "wrap the call in a function: fn (%x) { {0}(%x) }"};

constexpr DiagnosticDef kUnmatched{"E0221", "this match does not handle {0}",
                                   "add a clause for it, or write match?"};
constexpr DiagnosticDef kManyCases{"E0222", "this match has too many cases to tell whether it handles all",
                                   "write match?"};
constexpr DiagnosticDef kKind{"E0223", "{0} is no type: {1}"};

std::string name_of(const CallNode& call) {
  if (call.op()) return call.op()->name;
  if (const auto* global = as<GlobalVarNode>(call.callee())) return "@" + global->name();
  if (const auto* var = as<VarNode>(call.callee())) return "%" + var->name();
  if (const auto* constructor = as<ConstructorNode>(call.callee())) return constructor->name();
  return "the function";
}

std::string argument_name(const CallNode& call, size_t index) {
  if (call.op() && index < call.op()->inputs.size()) return std::string(call.op()->inputs[index].name);
  const auto* function = as<FunctionNode>(call.callee());
  if (function && index < function->params().size()) return "%" + function->params()[index]->name();
  return std::to_string(index);
}

std::string counted(size_t count) {
  return std::to_string(count) + (count == 1 ? " argument" : " arguments");
}

std::string expr_text(const ExprNode& node) {
  if (const auto* var = as<VarNode>(&node)) return "%" + var->name();
  if (const auto* call = as<CallNode>(&node)) return "the call of `" + name_of(*call) + "`";
  if (node.kind() == ExprKind::kFunction) return "this function";
  return "this expression";
}

}  // namespace

Diagnostic& TypeInference::report(const DiagnosticDef& def, const ExprNode& at,
                                  const std::vector<std::string>& values) {
  Diagnostic& diagnostic = engine_.report(def, at.span(), values);
  const auto origins = at.origins().origins();
  if (!origins.empty()) diagnostic.from = origins[0]->source_name();
  return diagnostic;
}

Diagnostic& TypeInference::report_call(const DiagnosticDef& def, const CallNode& call, NodeId id,
                                       const std::vector<std::string>& values, int only) {
  Diagnostic& diagnostic = report(def, call, values);
  const std::optional<CallText> text = call_text(call);
  if (!text) return diagnostic;
  diagnostic.span = text->callee;
  for (size_t i = 0; i < text->arguments.size(); ++i) {
    if (only >= 0 && static_cast<size_t>(only) != i) continue;
    const Type type = solver_.settle(child_type(id, static_cast<uint32_t>(i) + 1, *call.args()[i]));
    if (is_complete(type))
      diagnostic.label(text->arguments[i], type_text(type));
    else
      diagnostic.label(text->arguments[i], "its type is not known");
  }
  return diagnostic;
}

void TypeInference::report_mismatch(const ExprNode& at, const std::string& what, const Type& seen,
                                    const Type& wanted, const std::string& why) {
  report(kMismatch, at, {what, type_text(solver_.settle(seen)), type_text(solver_.settle(wanted)), why});
}

void TypeInference::report_argument(const CallNode& call, NodeId id, size_t index, const Type& seen,
                                    const Type& wanted, const std::string& why) {
  report_call(kMismatch, call, id,
              {"argument `" + argument_name(call, index) + "` of `" + name_of(call) + "`",
               type_text(solver_.settle(seen)), type_text(solver_.settle(wanted)), why},
              static_cast<int>(index));
}

void TypeInference::report_count(const CallNode& call, NodeId id, size_t wanted) {
  report_call(kCount, call, id, {name_of(call), counted(wanted), std::to_string(call.args().size())});
}

void TypeInference::report_not_callable(const CallNode& call, NodeId id, const Type& type) {
  report_call(kNotCallable, call, id, {type_text(solver_.settle(type))});
}

void TypeInference::report_get_item(const TupleGetItemNode& item, const Type& type) {
  const bool tuple = type->kind() == TypeKind::kTuple;
  report(tuple ? kNoField : kNoTuple, item, {std::to_string(item.index()), type_text(solver_.settle(type))});
}

void TypeInference::report_bound_twice(const VarNode& var) { report(kBoundTwice, var, {var.name()}); }

void TypeInference::report_no_function(const GlobalVarNode& var) {
  std::vector<std::string> names;
  for (const auto& [name, type] : globals_) names.push_back(name);
  const std::string near = did_you_mean(var.name(), names);
  report(kNoFunction, var, {var.name(), near.empty() ? "" : "did you mean @" + near + "?"});
}

void TypeInference::report_op_value(const OpNode& op, const ExprNode& user) {
  report(kOpValue, user, {op.name()});
}

void TypeInference::report_unmatched(const MatchNode& match) {
  const auto cases = unmatched_cases(match, *module_);
  if (!cases) {
    report(kManyCases, match, {});
    return;
  }
  if (cases->empty()) return;
  constexpr size_t kShown = 5;
  std::string text;
  for (size_t i = 0; i < cases->size() && i < kShown; ++i)
    text += (i ? ", " : "") + pattern_text((*cases)[i]);
  if (cases->size() > kShown) text += " and " + std::to_string(cases->size() - kShown) + " more";
  report(kUnmatched, match, {text});
}

void TypeInference::report_kind(const ExprNode& at, const Type& type, const std::string& why) {
  report(kKind, at, {type_text(type), why});
}

void TypeInference::report_free_variables() {
  for (const NodeId id : variables_) {
    if (first_edge_[id] != 0) continue;  // bound
    const auto& var = static_cast<const VarNode&>(node(id));
    report(kFree, var, {var.name()});
    set_error(id);
  }
  run_woken();
}

void TypeInference::report_open_call(const CallNode& call, NodeId id) {
  for (size_t i = 0; i < call.args().size(); ++i) {
    const Type type = solver_.settle(child_type(id, static_cast<uint32_t>(i) + 1, *call.args()[i]));
    if (!is_complete(type)) {
      report_call(kOpenCall, call, id,
                  {name_of(call), "the type of its argument `" + argument_name(call, i) + "` is not known"},
                  static_cast<int>(i));
      return;
    }
  }
  for (size_t i = 0; i < call.args().size(); ++i) {
    const Type type = solver_.settle(child_type(id, static_cast<uint32_t>(i) + 1, *call.args()[i]));
    if (type->kind() == TypeKind::kTensor) continue;
    report_call(kNeedsTensor, call, id, {name_of(call), argument_name(call, i), type_text(type)},
                static_cast<int>(i));
    return;
  }
  report_call(kOpenCall, call, id, {name_of(call), "its arguments do not say enough"});
}

void TypeInference::report_open() {
  // One error per mistake: nodes that depend on a reported one get the error type, which suppresses follow-up
  // errors.
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (satisfied_[i]) continue;
    const NodeId id = pending_[i];
    const ExprNode& open = node(id);
    if (const auto* call = as<CallNode>(&open)) {
      report_open_call(*call, id);
      for (uint32_t k = 0; k < call->args().size(); ++k)
        if (edge(id, k + 1) != kTyped) set_error(edge(id, k + 1));
    } else {
      report(kOpen, open, {expr_text(open)});
      if (edge(id, 0) != kTyped) set_error(edge(id, 0));
    }
    satisfied_[i] = true;
    set_error(id);
    run_woken();
  }
  if (unbuilt_ == 0) return;  // all types are complete
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (types_[id] && types_[id]->kind() == TypeKind::kTensor) continue;
    std::vector<Type> open;
    if (!types_[id])
      open.push_back(type_of(id));
    else
      solver_.holes(types_[id], open);
    if (open.empty()) continue;
    report(kOpen, node(id), {expr_text(node(id))});
    set_error(id);
    run_woken();
  }
}

}  // namespace baton
