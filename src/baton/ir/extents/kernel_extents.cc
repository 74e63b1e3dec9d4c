#include "baton/ir/extents/kernel_extents.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "baton/ir/extent.h"
#include "baton/ir/inspect.h"
#include "baton/ir/visit.h"

namespace baton {

namespace {

void add_vars(const Type& type, std::vector<Dim>& vars) {
  for (const TensorTypeNode* tensor : flat_types(type))
    for (const Dim& dim : tensor->shape())
      visit_extent_vars(dim, [&](Dim var) {
        if (std::ranges::find(vars, var) == vars.end()) vars.push_back(var);
      });
}

/// Rebuilds nodes with other types; what does not change stays the same object.
class ExtentReplacer {
 public:
  explicit ExtentReplacer(FunctionRef<Dim(Dim)> value) : value_(value) {}

  Function run(const Function& function) {
    std::vector<Var> params;
    for (const Var& param : function->params()) {
      params.push_back(replaced(param));
      made_[param.get()] = params.back();
    }
    post_order(function->body(), [&](const Expr& node) {
      if (!made_.contains(node.get())) made_[node.get()] = remade(node);
    });
    const NodeInfo info = function->with_type(replaced(function->checked_type()));
    return make_function(std::move(params), made_.at(function->body().get()), replaced(function->ret_type()),
                         function->attrs(), info, function->type_params());
  }

 private:
  Type replaced(const Type& type) const { return type ? replace_extent_vars(type, value_) : type; }
  Var replaced(const Var& var) const {
    return make_var(var->name(), replaced(var->annotation()), var->with_type(replaced(var->checked_type())));
  }
  Expr made(const Expr& node) const { return made_.at(node.get()); }

  Expr remade(const Expr& node) const {
    const NodeInfo info = node->with_type(replaced(node->checked_type()));
    if (const auto* call = as<CallNode>(node)) {
      std::vector<Expr> args;
      for (const Expr& arg : call->args()) args.push_back(made(arg));
      return make_call(made(call->callee()), std::move(args), call->attrs(), info);
    }
    if (const auto* tuple = as<TupleNode>(node)) {
      std::vector<Expr> fields;
      for (const Expr& field : tuple->fields()) fields.push_back(made(field));
      return make_tuple(std::move(fields), info);
    }
    if (const auto* item = as<TupleGetItemNode>(node))
      return make_tuple_get_item(made(item->tuple()), item->index(), info);
    if (as<VarNode>(node)) return replaced(as_ref<VarNode>(node));
    if (!is_leaf(node->kind()))
      throw NotSupported("a fused function holds control flow or a function of its own");
    return node;
  }

  FunctionRef<Dim(Dim)> value_;
  std::unordered_map<const ExprNode*, Expr> made_;
};

/// The variables that numbered_extent() has given out, for good.
class Numbered {
 public:
  static Numbered& all() {
    static Numbered numbered;
    return numbered;
  }
  Dim at(int i) {
    const std::lock_guard lock(mutex_);
    while (static_cast<int>(vars_.size()) <= i)
      vars_.push_back(extent_var({"extent" + std::to_string(vars_.size())}));
    return vars_[static_cast<size_t>(i)];
  }
  int number_of(Dim var) {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find(vars_, var);
    return at == vars_.end() ? -1 : static_cast<int>(at - vars_.begin());
  }

 private:
  std::mutex mutex_;
  std::vector<Dim> vars_;
};

bool has_symbols(const FunctionNode& function) {
  bool found = false;
  const auto look_at = [&](const Type& type) { found = found || (type && !is_static(type)); };
  for (const Var& param : function.params()) look_at(type_of(*param));
  post_order(function.body(), [&](const Expr& node) {
    if (node->kind() != ExprKind::kOp) look_at(type_of(node));
  });
  return found;
}

}  // namespace

std::vector<Dim> kernel_extents(const FunctionNode& function) {
  std::vector<Dim> vars;
  for (const Var& param : function.params()) add_vars(type_of(*param), vars);
  add_vars(type_of(function.body()), vars);
  return vars;
}

Function replace_extent_vars(const Function& function, FunctionRef<Dim(Dim)> value) {
  return has_symbols(*function) ? ExtentReplacer(value).run(function) : function;
}

Function at_extents(const FunctionNode& function, std::span<const int64_t> numbers) {
  const std::vector<Dim> vars = kernel_extents(function);
  if (vars.size() != numbers.size())
    throw UsageError("a kernel of " + std::to_string(vars.size()) +
                     " symbolic extents needs as many numbers, not " + std::to_string(numbers.size()));
  return replace_extent_vars(Function(&function), [&](Dim var) {
    const auto at = std::ranges::find(vars, var);
    return at == vars.end() ? var : Dim(numbers[static_cast<size_t>(at - vars.begin())]);
  });
}

Dim numbered_extent(int i) { return Numbered::all().at(i); }
int extent_number(Dim var) { return as_extent_var(var) ? Numbered::all().number_of(var) : -1; }

Function with_numbered_extents(const Function& function) {
  if (!has_symbols(*function)) return function;
  const std::vector<Dim> vars = kernel_extents(*function);
  const auto check = [&](const Type& type) {
    for (const TensorTypeNode* tensor : flat_types(type))
      for (const Dim& dim : tensor->shape()) {
        if (dim.is_any() && !dim.is_symbolic())
          throw NeedsNumbers("a kernel needs to know the extents of " + type_text(Type(tensor)));
        visit_extent_vars(dim, [&](Dim var) {
          if (std::ranges::find(vars, var) == vars.end())
            throw NeedsNumbers("no operand of the kernel says what " + extent_text(var) + " in " +
                               type_text(Type(tensor)) + " is");
        });
      }
  };
  for (const Var& param : function->params()) check(type_of(*param));
  post_order(function->body(), [&](const Expr& node) {
    if (node->kind() != ExprKind::kOp) check(type_of(node));
  });
  return replace_extent_vars(function, [&](Dim var) {
    return numbered_extent(static_cast<int>(std::ranges::find(vars, var) - vars.begin()));
  });
}

}  // namespace baton
