#include "baton/driver/origins/source_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "baton/ir/functions.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/brief.h"
#include "baton/ir/visit.h"

namespace baton {
namespace {

/// Paths of global functions as modules: that of the only other function that calls it, and its name. main
/// has none; what another compiler was given belongs to who calls it.
class FunctionPaths {
 public:
  explicit FunctionPaths(const IRModuleNode& module) : module_(module) {
    for (const auto& [name, function] : module.functions())
      post_order(Expr(function), [&, caller = name](const Expr& node) {
        const auto* global = as<GlobalVarNode>(node);
        if (global && global->name() != caller) callers_[global->name()].insert(caller);
      });
  }

  const std::string& of(const std::string& name) {
    const auto [at, fresh] = paths_.emplace(name, name == "main" ? "" : name);
    if (!fresh || name == "main") return at->second;  // perhaps of a cycle that is being followed
    const std::set<std::string>& callers = callers_[name];
    const std::string outer = callers.size() == 1 ? of(*callers.begin()) : "";
    const Function function = module_.find(name);
    const bool is_region = function && is_closed(*function);
    return paths_[name] = joined_path(outer, is_region ? "" : name);
  }

 private:
  const IRModuleNode& module_;
  std::map<std::string, std::set<std::string>> callers_;
  std::map<std::string, std::string> paths_;
};

class Reader {
 public:
  explicit Reader(const IRModuleNode& module) : module_(module) {
    // Lets first: a callee may be let-bound.
    for (const auto& [name, function] : module.functions())
      post_order(Expr(function), [&](const Expr& node) { bind_let(node); });
    for (const auto& [name, function] : module.functions())
      post_order(Expr(function), [&](const Expr& node) { bind(node); });
  }

  std::unordered_map<const Origin*, SourceOperator> run() {
    FunctionPaths paths(module_);
    for (const auto& [name, function] : module_.functions())
      post_order(Expr(function), [&, &path = paths.of(name)](const Expr& node) { add(node, path); });
    return std::move(operators_);
  }

 private:
  void bind_let(const Expr& node) {
    const auto* let = as<LetNode>(node);
    if (!let) return;
    values_[let->var().get()].push_back(let->value());
    lets_.emplace(let->var().get(), let->value());
  }

  /// Records the possible values of other variables.
  void bind(const Expr& node) {
    if (const auto* match = as<MatchNode>(node)) {
      for (const Clause& clause : match->clauses())
        for (const Var& var : pattern_vars(clause.pattern)) values_[var.get()].push_back(match->data());
    } else if (const auto* write = as<RefWriteNode>(node)) {
      values_[write->ref().get()].push_back(write->value());
    } else if (const auto* call = as<CallNode>(node)) {
      const FunctionNode* function = call->op() ? nullptr : called(*call);
      for (size_t i = 0; function && i < std::min(function->params().size(), call->args().size()); ++i)
        values_[function->params()[i].get()].push_back(call->args()[i]);
    }
  }

  /// Resolves let-bound variables transitively; other expressions are returned unchanged.
  const Expr& resolve_let(const Expr& expr) const {
    const Expr* at = &expr;
    for (auto let = lets_.find(at->get()); let != lets_.end(); let = lets_.find(at->get())) at = &let->second;
    return *at;
  }

  /// Item of a tuple literal: the field; otherwise the expression that yields the tuple.
  const Expr& item(const Expr& expr) const {
    std::vector<int> path;
    const Expr* at = &resolve_let(expr);
    for (;;) {
      if (const auto* item = as<TupleGetItemNode>(*at)) {
        path.push_back(item->index());
        at = &resolve_let(item->tuple());
      } else if (const auto* tuple = as<TupleNode>(*at); tuple && !path.empty()) {
        at = &resolve_let(tuple->fields()[static_cast<size_t>(path.back())]);
        path.pop_back();
      } else {
        return *at;
      }
    }
  }

  const FunctionNode* called(const CallNode& call) const {
    const Expr& callee = resolve_let(call.callee());
    if (const auto* global = as<GlobalVarNode>(callee)) return module_.find(global->name()).get();
    return as<FunctionNode>(callee);
  }

  static void describe(const CallNode& call, SourceOperator& entry) {
    entry.type = call.checked_type();
    entry.weight = {};
    entry.input_types.clear();
    const std::vector<OpInput>& names = call.op()->inputs;
    bool typed = static_cast<bool>(entry.type);
    for (size_t i = 0; i < call.args().size(); ++i) {
      const Type& type = call.args()[i]->checked_type();
      entry.input_types.push_back(type);
      if (i < names.size() && names[i].name == "weight") {
        entry.weight = type;
        const auto* variable = as<VarNode>(call.args()[i]);
        entry.weight_name = variable ? variable->name() : "";
      }
      typed = typed && type;
    }
    entry.brief = brief_of_call(call);
    if (typed) entry.cost = cost_of_call(call);
  }

  void add(const Expr& node, const std::string& function) {
    const auto* call = as<CallNode>(node);
    if (!call || !call->op()) return;
    for (const Origin* origin : call->origins().origins()) {
      SourceOperator& entry = operators_[origin];
      entry.function = function;
      // A call with a single origin is more specific than one with several.
      if (!entry.type || call->origins().origins().size() == 1) {
        describe(*call, entry);
      }
      for (const Expr& arg : call->args()) collect_producers(arg, origin, entry.inputs);
    }
  }

  /// The operators other than `reader` whose results `value` may hold.
  void collect_producers(const Expr& value, const Origin* reader, std::vector<const Origin*>& found) {
    std::unordered_set<const ExprNode*> seen;
    std::vector<Expr> todo = {value};
    while (!todo.empty()) {
      const Expr at = todo.back();
      todo.pop_back();
      if (!seen.insert(at.get()).second) continue;
      for (const Origin* origin : at->origins().origins())
        if (is_source(at) && origin != reader && std::find(found.begin(), found.end(), origin) == found.end())
          found.push_back(origin);
      if (is_source(at)) continue;
      const size_t first = todo.size();
      if (const auto known = values_.find(at.get()); known != values_.end())
        todo.insert(todo.end(), known->second.begin(), known->second.end());
      step(at, todo);
      std::reverse(todo.begin() + static_cast<std::ptrdiff_t>(first),
                   todo.end());  // restores textual order
    }
  }

  /// An operator call, or a constant folded from one.
  static bool is_source(const Expr& expr) {
    const auto* call = as<CallNode>(expr);
    return !expr->origins().origins().empty() &&
           ((call && call->op()) || expr->kind() == ExprKind::kConstant);
  }

  void step(const Expr& at, std::vector<Expr>& todo) const {
    if (at->kind() == ExprKind::kTupleGetItem) {
      todo.push_back(item(at));
    } else if (const auto* let = as<LetNode>(at)) {
      todo.push_back(let->body());
    } else if (const auto* branch = as<IfNode>(at)) {
      todo.insert(todo.end(), {branch->then(), branch->otherwise()});
    } else if (const auto* match = as<MatchNode>(at)) {
      for (const Clause& clause : match->clauses()) todo.push_back(clause.body);
    } else if (const auto* call = as<CallNode>(at)) {
      if (const FunctionNode* function = call->op() ? nullptr : called(*call)) {
        todo.push_back(function->body());
        return;
      }
      if (!call->op()) todo.push_back(call->callee());
      todo.insert(todo.end(), call->args().begin(), call->args().end());
    } else if (const auto* function = as<FunctionNode>(at)) {
      todo.push_back(function->body());
    } else {
      for_each_child(*at, [&](const Expr& child) { todo.push_back(child); });
    }
  }

  const IRModuleNode& module_;
  std::unordered_map<const ExprNode*, std::vector<Expr>> values_;
  std::unordered_map<const ExprNode*, Expr> lets_;
  std::unordered_map<const Origin*, SourceOperator> operators_;
};

}  // namespace

std::unordered_map<const Origin*, SourceOperator> source_graph(const IRModuleNode& typed) {
  return Reader(typed).run();
}

}  // namespace baton
