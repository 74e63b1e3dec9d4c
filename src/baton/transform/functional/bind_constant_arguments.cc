// Makes arguments that are constants those of the function, so that weights are folded and packed in it:
//   def @layer(%x, %w) { nn.dense(%x, %w) }  @layer(z, c)  ->  def @layer(%x) { nn.dense(%x, c) }  @layer(z)
// Where calls pass different constants, each set of them has a function of its own: @layer_1, @layer_2, ...
// A recursive function has to pass the parameter on as it is. Functions that are called from outside
// (entries) or used as values keep their parameters for those.

#include <algorithm>
#include <map>
#include <set>

#include "baton/ir/analysis/call_graph.h"
#include "baton/ir/build.h"
#include "baton/ir/functions.h"
#include "baton/ir/inspect.h"
#include "baton/ir/structural.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/constant_value.h"
#include "baton/transform/merge_origins.h"
#include "baton/transform/own_variables.h"

namespace baton {

namespace {

/// Functions of one module that differ in their constants only; those behind the last call the general one.
constexpr size_t kMostCopies = 64;

/// A value that layers read element by element; numbers steer what is called, and stay arguments.
bool is_weight(const Expr& value) {
  return is_value(value) && std::ranges::all_of(flat_types(type_of(value)), [](const TensorTypeNode* tensor) {
           return tensor->is_static() && !tensor->shape().empty();
         });
}

/// What a function reads of itself: its calls, and the values that its variables stand for.
struct Body {
  std::vector<const CallNode*> calls;  ///< of functions of the module
  std::unordered_map<const VarNode*, Expr> lets;
  std::set<const VarNode*> used;

  explicit Body(const Function& function) {
    post_order(function->body(), [&](const Expr& node) {
      if (const auto* let = as<LetNode>(node)) lets[let->var().get()] = let->value();
      if (const auto* var = as<VarNode>(node)) used.insert(var);
      const auto* call = as<CallNode>(node);
      if (call && as<GlobalVarNode>(call->callee())) calls.push_back(call);
    });
  }
  /// Through lets.
  Expr value_of(Expr expr) const {
    for (auto at = lets.find(as<VarNode>(expr)); at != lets.end(); at = lets.find(as<VarNode>(expr)))
      expr = at->second;
    return expr;
  }
};

const std::string& callee_of(const CallNode& call) { return as<GlobalVarNode>(call.callee())->name(); }

/// Which parameters may be constants: all calls within recursion pass them on as they are.
class BindableParameters {
 public:
  explicit BindableParameters(const IRModuleNode& module) : module_(module), calls_(module) {
    for (const auto& [name, function] : module.functions()) {
      const bool open = function->type_params().empty() && !is_closed(*function) && !function->attr("Extern");
      std::vector<bool>& each = bindable_[name];
      const Body& body = bodies_.try_emplace(name, function).first->second;
      for (const Var& param : function->params()) each.push_back(open && body.used.contains(param.get()));
    }
    while (exclude_changed()) {
    }
  }
  bool operator()(const std::string& function, size_t param) const { return bindable_.at(function)[param]; }
  const CallGraph& calls() const { return calls_; }
  const Body& body(const std::string& function) const { return bodies_.at(function); }

 private:
  /// Whether any was excluded: its arguments within recursion depend on others that are excluded.
  bool exclude_changed() {
    bool excluded = false;
    for (const auto& [name, body] : bodies_)
      for (const CallNode* call : body.calls) {
        const auto callee = bindable_.find(callee_of(*call));
        if (callee == bindable_.end() || !recurs(name, callee->first)) continue;
        for (size_t i = 0; i < callee->second.size(); ++i) {
          if (!callee->second[i] || is_passed_on(name, body.value_of(call->args()[i]), callee->first, i))
            continue;
          callee->second[i] = false;
          excluded = true;
        }
      }
    return excluded;
  }
  bool is_passed_on(const std::string& caller, const Expr& arg, const std::string& callee,
                    size_t param) const {
    if (is_weight(arg)) return true;
    const std::vector<Var>& params = module_.find(caller)->params();
    for (size_t i = 0; i < params.size(); ++i)
      if (Expr(params[i]) == arg) return bindable_.at(caller)[i] && (caller != callee || i == param);
    return false;
  }
  /// Whether a call may lead back to its caller.
  bool recurs(const std::string& caller, const std::string& callee) {
    const auto [at, fresh] = reached_.try_emplace(callee);
    for (std::vector<std::string> todo = fresh ? std::vector{callee} : std::vector<std::string>();
         !todo.empty();) {
      const std::string name = todo.back();
      todo.pop_back();
      if (at->second.insert(name).second)
        for (const std::string& next : calls_.callees(name)) todo.push_back(next);
    }
    return at->second.contains(caller);
  }

  const IRModuleNode& module_;
  const CallGraph calls_;
  std::map<std::string, Body> bodies_;
  std::map<std::string, std::vector<bool>> bindable_;
  std::map<std::string, std::set<std::string>> reached_;
};

/// A function of the module with constants for some of its parameters.
struct Copy {
  std::string of;
  std::vector<Expr> constants;                ///< by parameter; null: it stays one
  std::vector<std::vector<Expr>> equal = {};  ///< the same, as calls passed them
  std::string name = {};                      ///< in the result
  bool is_general() const {
    return std::ranges::none_of(constants, [](const Expr& each) { return bool(each); });
  }
};

bool same_constants(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::ranges::equal(
      a, b, [](const Expr& x, const Expr& y) { return x == y || (x && y && structural_equal(x, y)); });
}

class ConstantArguments {
 public:
  ConstantArguments(IRModuleNode& module, const std::vector<std::string>& entries)
      : module_(module), functions_(module.functions()), bindable_(module) {
    for (const std::string& entry : entries)
      if (functions_.contains(entry)) (void)copy(entry, general(entry));
    for (const auto& [name, function] : functions_) add_values(function);
    follow_calls();
    // What nothing else reaches, other passes remove.
    for (const auto& [name, function] : functions_) {
      if (of_.contains(name)) continue;
      (void)copy(name, general(name));
      follow_calls();
    }
    give_names();
  }

  void apply() {
    if (std::ranges::all_of(copies_, &Copy::is_general)) return;
    for (const auto& [name, copies] : of_) {
      const bool keeps_name =
          std::ranges::any_of(copies, [&, &name = name](size_t each) { return copies_[each].name == name; });
      if (!keeps_name) module_.remove(name);
    }
    for (size_t at = 0; at < copies_.size(); ++at)
      if (const Function made = bound(at); made != functions_.at(copies_[at].of))
        module_.set(copies_[at].name, made);
    separate_variables(module_, {});
    for (const Copy& each : copies_)
      for (const Expr& constant : each.constants)
        if (constant)
          post_order(constant, [](const Expr& node) {
            retire(node->origins(), "no function reads the constant that is passed to it");
          });
  }

 private:
  class Binder;

  std::vector<Expr> general(const std::string& name) const {
    return std::vector<Expr>(functions_.at(name)->params().size());
  }
  /// Functions that are used as values have all of their parameters.
  void add_values(const Function& function) {
    const auto add = [&](const Expr& value) {
      const auto* global = as<GlobalVarNode>(value);
      if (global && functions_.contains(global->name())) (void)copy(global->name(), general(global->name()));
    };
    add(function->body());
    post_order(function->body(), [&](const Expr& node) {
      bool is_callee = node->kind() == ExprKind::kCall;  // the callee is the first child
      for_each_child(*node, [&](const Expr& child) {
        if (!is_callee) add(child);
        is_callee = false;
      });
    });
  }
  void follow_calls() {
    for (; followed_ < copies_.size(); ++followed_)
      for (const CallNode* call : bindable_.body(copies_[followed_].of).calls) {
        if (!functions_.contains(callee_of(*call))) continue;
        const std::vector<Expr> constants = constants_of(followed_, *call);
        Copy& called = copies_[copy(callee_of(*call), constants)];
        for (size_t i = 0; i < constants.size(); ++i)
          if (constants[i]) called.equal[i].push_back(constants[i]);
      }
  }
  /// The number of a copy, which is made where it is the first with these constants.
  size_t copy(const std::string& name, const std::vector<Expr>& constants) {
    if (const size_t* known = find(name, constants)) return *known;
    of_[name].push_back(copies_.size());
    copies_.push_back({name, constants, std::vector<std::vector<Expr>>(constants.size())});
    return copies_.size() - 1;
  }
  const size_t* find(const std::string& name, const std::vector<Expr>& constants) const {
    const auto all = of_.find(name);
    if (all == of_.end()) return nullptr;
    for (const size_t& each : all->second)
      if (same_constants(copies_[each].constants, constants)) return &each;
    return nullptr;
  }
  /// What a call in a copy binds of the function that it calls.
  std::vector<Expr> constants_of(size_t caller, const CallNode& call) const {
    const std::string& name = callee_of(call);
    std::vector<Expr> constants = general(name);
    for (size_t i = 0; i < constants.size(); ++i) {
      if (!bindable_(name, i)) continue;
      const Expr value = value_in(copies_[caller], call.args()[i]);
      if (is_weight(value) && same_type(type_of(*functions_.at(name)->params()[i]), type_of(value)))
        constants[i] = value;
    }
    const auto all = of_.find(name);
    const bool is_full = all != of_.end() && all->second.size() >= kMostCopies;
    return is_full && !find(name, constants) ? general(name) : constants;
  }
  /// What an expression of the original function is in a copy: a constant, or itself.
  Expr value_in(const Copy& copy, const Expr& expr) const {
    const Expr value = bindable_.body(copy.of).value_of(expr);
    if (const auto* item = as<TupleGetItemNode>(value)) {
      const Expr whole = value_in(copy, item->tuple());
      const auto* tuple = as<TupleNode>(whole);
      return tuple ? tuple->fields()[static_cast<size_t>(item->index())] : value;
    }
    const std::vector<Var>& params = functions_.at(copy.of)->params();
    for (size_t i = 0; i < params.size(); ++i)
      if (Expr(params[i]) == value && copy.constants[i]) return copy.constants[i];
    return value;
  }
  /// A general function and an only copy keep the name.
  void give_names() {
    std::set<std::string> taken;
    for (const auto& [name, function] : functions_) taken.insert(name);
    for (const auto& [name, copies] : of_) {
      size_t number = 0;
      for (const size_t each : copies) {
        copies_[each].name = name;
        if (copies_[each].is_general() || copies.size() == 1) continue;
        do copies_[each].name = name + "_" + std::to_string(++number);
        while (!taken.insert(copies_[each].name).second);
      }
    }
  }
  Function bound(size_t copy);

  IRModuleNode& module_;
  const std::map<std::string, Function> functions_;
  const BindableParameters bindable_;
  std::vector<Copy> copies_;
  size_t followed_ = 0;  // of the copies
  std::map<std::string, std::vector<size_t>> of_;
};

/// The body of a copy: constants in place of parameters, and calls without the arguments that are constants.
class ConstantArguments::Binder final : public Rewriter {
 public:
  Binder(const ConstantArguments& all, size_t copy) : all_(all), copy_(copy) {
    const Copy& of = all.copies_[copy];
    const std::vector<Var>& params = all.functions_.at(of.of)->params();
    for (size_t i = 0; i < params.size(); ++i)
      if (of.constants[i]) map(Expr(params[i]), merge_origins(of.constants[i], of.equal[i]));
  }

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (const auto* item = as<TupleGetItemNode>(rebuilt))  // (c, d).0  ->  c
      return is_value(item->tuple())
                 ? as<TupleNode>(item->tuple())->fields()[static_cast<size_t>(item->index())]
                 : rebuilt;
    const auto* call = as<CallNode>(original);
    const auto* global = call ? as<GlobalVarNode>(call->callee()) : nullptr;
    if (!global || !all_.functions_.contains(global->name())) return rebuilt;
    const Copy& called = all_.copies_[*all_.find(global->name(), all_.constants_of(copy_, *call))];
    if (called.is_general()) return rebuilt;
    std::vector<Expr> args;
    for (size_t i = 0; i < called.constants.size(); ++i)
      if (!called.constants[i]) args.push_back(as<CallNode>(rebuilt)->args()[i]);
    return make_call(Expr(all_.module_.global_var(called.name)), std::move(args), call->attrs(),
                     NodeInfo(original->origins(), original->span()));
  }

  const ConstantArguments& all_;
  const size_t copy_;
};

Function ConstantArguments::bound(size_t copy) {
  const Copy& of = copies_[copy];
  const Function& function = functions_.at(of.of);
  if (is_closed(*function)) return function;
  Expr body = Binder(*this, copy).run(function->body());
  if (body == function->body()) return function;
  std::vector<Var> params;
  for (size_t i = 0; i < of.constants.size(); ++i)
    if (!of.constants[i]) params.push_back(function->params()[i]);
  return make_function(std::move(params), std::move(body), function->ret_type(), function->attrs(),
                       NodeInfo(function->origins(), function->span()), function->type_params());
}

}  // namespace

Pass bind_constant_arguments(const PassArgs& args) {
  PassArgReader reader("BindConstantArguments", args);
  const auto entries = reader.texts("entry_functions", {"main"});
  reader.finish();
  return module_pass(
      {1, "BindConstantArguments", {"InferType"}},
      [entries](IRModule module, const PassContext&) {
        ConstantArguments(*module, entries).apply();
        return module;
      },
      /*may_retire=*/true);
}

}  // namespace baton
