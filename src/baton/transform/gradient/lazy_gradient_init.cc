// Inside functions, tensors become grad cells, the data type of std/gradient.rly that represents zeros and
// ones symbolically:
//   fn (x: T) -> T { f(x) }
//   ->  fn (x: T) -> T { let r = fn (x: GradCell[T]) -> GradCell[T] { Raw(f(FromGradCell(x))) }(Raw(x));
//   FromGradCell(r) }
// zeros and ones become Zero(fn () { zeros }) and One(..); sums and products of equal types go through
// AddGradCell and MultiplyGradCell. Signatures are unchanged, so unsupported functions can be skipped.
#include <algorithm>

#include "baton/ir/build.h"
#include "baton/ir/functions.h"
#include "baton/ir/let_list.h"
#include "baton/ir/rules/algebra.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/support/pointer_map.h"
#include "baton/text/std_library.h"
#include "baton/transform/gradient/tensor_rewriter.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

const NodeInfo kNoOrigin(OriginSet::none());

/// The definitions of std/gradient.rly in the module.
class GradCells {
 public:
  explicit GradCells(IRModuleNode& module) {
    if (!module.find_type("GradCell")) import_std(module, "gradient.rly");
    cell_ = module.find_type("GradCell");
    raw_ = constructor("Raw");
    zero_ = constructor("Zero");
    one_ = constructor("One");
    from_ = Expr(module.global_var("FromGradCell"));
    add_ = Expr(module.global_var("AddGradCell"));
    multiply_ = Expr(module.global_var("MultiplyGradCell"));
  }

  /// The type inside the function of a value with type `type` outside.
  const Type& inside(const Type& type) {
    Inside& known = inside_[type.get()];
    if (type && !known.outside)
      known = {type, rewrite_type(type, [&](const Type& part) {
                 return part->kind() == TypeKind::kTensor ? type_call(Type(cell_->header()), {part}) : Type();
               })};
    return known.inside;
  }
  // All nodes are built typed, so that no inference is needed: the tensors inside are of type `type`.
  Expr raw(const Type& type, Expr value) { return call(inside(type), raw_, {std::move(value)}); }
  Expr zero(const Type& type, Expr later) { return call(inside(type), zero_, {std::move(later)}); }
  Expr one(const Type& type, Expr later) { return call(inside(type), one_, {std::move(later)}); }
  Expr value(const Type& type, Expr cell) { return call(type, from_, {std::move(cell)}); }
  Expr sum(const Type& type, Expr combine, Expr left, Expr right) {
    return call(inside(type), add_, {std::move(combine), std::move(left), std::move(right)});
  }
  Expr product(const Type& type, Expr combine, Expr left, Expr right) {
    return call(inside(type), multiply_, {std::move(combine), std::move(left), std::move(right)});
  }

 private:
  struct Inside {
    Type outside, inside;
  };

  static Expr call(const Type& type, const Expr& callee, std::vector<Expr> args) {
    const OriginSet* origins = OriginScope::current();
    return Expr(
        make_call(callee, std::move(args), {}, NodeInfo(origins ? *origins : OriginSet::none(), {}, type)));
  }
  Expr constructor(const char* name) const {
    for (const Constructor& each : cell_->constructors())
      if (each->name() == name) return Expr(each);
    throw Error("the module has a data type GradCell of its own, without " + std::string(name));
  }
  TypeData cell_;
  Expr raw_, zero_, one_, from_, add_, multiply_;
  PointerMap<Inside> inside_;
};

/// Whether `type` is unchanged inside: it contains no tensor.
bool stays(const Type& type) {
  bool tensors = false;
  visit_types(type, [&](const Type& part) { tensors |= part->kind() == TypeKind::kTensor; });
  return !tensors;
}

/// Whether values of `type` can be converted in and out.
bool crosses(const Type& type) {
  if (!type) return false;
  if (type->kind() == TypeKind::kTensor) return true;
  if (const auto* tuple = as_type<TupleTypeNode>(type))
    return std::all_of(tuple->fields().begin(), tuple->fields().end(), crosses);
  return stays(type);
}

const FuncTypeNode* type_of_global(const IRModuleNode& module, const Expr& callee) {
  const auto* name = as<GlobalVarNode>(callee);
  const Function function = name ? module.find(name->name()) : Function();
  return function ? as_type<FuncTypeNode>(function->checked_type()) : nullptr;
}

// A data type can hold grad cells only in fields typed by a type variable.
bool can_hold_cells(const Constructor& constructor) {
  return std::all_of(constructor->inputs().begin(), constructor->inputs().end(), stays);
}
bool can_match_cells(const Pattern& pattern) {
  return (pattern->kind() != PatternKind::kConstructor || can_hold_cells(pattern->constructor())) &&
         std::all_of(pattern->patterns().begin(), pattern->patterns().end(), can_match_cells);
}

bool can_change_call(const CallNode& call, const IRModuleNode& module) {
  if (const auto constructor = as_ref<ConstructorNode>(call.callee())) return can_hold_cells(constructor);
  if (!call.op() && call.callee()->kind() != ExprKind::kGlobalVar) return true;
  const FuncTypeNode* global = type_of_global(module, call.callee());
  if (!call.op() && !global) return false;
  // Polymorphic functions work on grad cells unchanged.
  if (global && !global->type_params().empty())
    return stays(global->result()) && std::all_of(global->params().begin(), global->params().end(), stays);
  return crosses(call.checked_type()) &&
         std::all_of(call.args().begin(), call.args().end(),
                     [](const Expr& arg) { return crosses(arg->checked_type()); });
}

// Whether every operation of the function supports grad cells.
bool can_change(const Function& function, const IRModuleNode& module) {
  if (!function->type_params().empty() || !crosses(function->body()->checked_type())) return false;
  bool good = true;
  for (const Var& param : function->params()) good = good && crosses(param->checked_type());
  post_order(Expr(function), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (call) good = good && can_change_call(*call, module);
    if (const auto* match = as<MatchNode>(node))
      for (const Clause& clause : match->clauses()) good = good && can_match_cells(clause.pattern);
    // Operators, constructors and module functions may only be callees.
    for_each_child(*node, [&](const Expr& child) {
      const bool name = child->kind() == ExprKind::kOp || child->kind() == ExprKind::kGlobalVar ||
                        child->kind() == ExprKind::kConstructor;
      good = good && (!name || (call && child == call->callee()));
    });
  });
  return good;
}

/// A list of typed let bindings.
class TypedLets {
 public:
  explicit TypedLets(FreshVars& fresh) : list_(fresh, true) {}
  Expr push(Expr value) {
    const Type type = value->checked_type();
    return list_.push(std::move(value), type);
  }
  Expr close(Expr body) { return list_.close(std::move(body)); }

 private:
  LetList list_;
};

class CellRewriter final : public TensorRewriter {
 public:
  CellRewriter(const IRModuleNode& module, GradCells& cells, FreshVars& fresh)
      : module_(module), cells_(cells), fresh_(fresh) {}

  Expr wrapped(const Type& type, const Expr& value, TypedLets& list) const {
    return crossed(type, value, list,
                   [&](const Type& of, const Expr& tensor) { return cells_.raw(of, tensor); });
  }
  Expr unwrapped(const Type& type, const Expr& value, TypedLets& list) const {
    return crossed(type, value, list,
                   [&](const Type& of, const Expr& cell) { return cells_.value(of, cell); });
  }

 private:
  bool enter(const Expr&) override { return true; }
  Type type_of_rebuilt(const ExprNode& node) const override { return cells_.inside(node.checked_type()); }
  Expr tensor_in(const Expr& changed, const Type& type) const override { return cells_.value(type, changed); }

  Var rewrite_var(const Var& var) override {
    return make_var(var->name(), cells_.inside(declared_type(*var)), NodeInfo(var->origins(), var->span()));
  }

  Expr rewrite_constant(const Expr& constant) override {
    return cells_.raw(constant->checked_type(), constant);
  }

  Expr rewrite_function(const FunctionNode& original, const Expr& rebuilt) override {
    const auto& function = static_cast<const FunctionNode&>(*rebuilt);
    return Expr(make_function(function.params(), function.body(), cells_.inside(function.ret_type()),
                              function.attrs(), original.with_type(cells_.inside(original.checked_type())),
                              function.type_params()));
  }

  Expr rewrite_call(const CallNode& original, const Expr& rebuilt) override {
    // A constant argument gets a separate cell for each call, as in TVM.
    std::vector<Expr> args = static_cast<const CallNode&>(*rebuilt).args();
    for (size_t i = 0; i < args.size(); ++i)
      if (const Expr& arg = original.args()[i]; arg->kind() == ExprKind::kConstant)
        args[i] = cells_.raw(arg->checked_type(), arg);
    const OpDef* op = original.op();
    const Type& type = original.checked_type();
    if (!op) {
      const FuncTypeNode* global = type_of_global(module_, original.callee());
      if (global && global->type_params().empty()) return plain_call(original, args);
      return Expr(make_call(static_cast<const CallNode&>(*rebuilt).callee(), std::move(args),
                            original.attrs(), original.with_type(cells_.inside(type))));
    }
    if (const auto* filled = op->rules.get<FilledWith>()) {
      if (filled->value == 0) return cells_.zero(type, later(original, args));
      if (filled->value == 1) return cells_.one(type, later(original, args));
    }
    const auto* arithmetic = op->rules.get<Arithmetic>();
    const bool sum = arithmetic && *arithmetic == Arithmetic::kSum;
    if ((sum || (arithmetic && *arithmetic == Arithmetic::kProduct)) &&
        same_type(original.args()[0]->checked_type(), original.args()[1]->checked_type())) {
      const Var left = make_var("lhs", type, kNoOrigin), right = make_var("rhs", type, kNoOrigin);
      const Expr both(
          make_call(original.callee(), {Expr(left), Expr(right)}, original.attrs(), original.info()));
      const Expr combine = function_of({left, right}, both);
      return sum ? cells_.sum(type, combine, args[0], args[1])
                 : cells_.product(type, combine, args[0], args[1]);
    }
    return plain_call(original, args);
  }

  static Expr function_of(std::vector<Var> params, const Expr& body) {
    std::vector<Type> types;
    for (const Var& param : params) types.push_back(param->checked_type());
    const Type& result = body->checked_type();
    return Expr(make_function(std::move(params), body, result, {},
                              NodeInfo(OriginSet::none(), {}, func_type(std::move(types), result))));
  }

  // Delays the call: fn () { call }
  Expr later(const CallNode& original, const std::vector<Expr>& args) const {
    TypedLets list(fresh_);
    return function_of({}, list.close(called(original, args, list)));
  }

  // The call on tensors, its result as a grad cell.
  Expr plain_call(const CallNode& original, const std::vector<Expr>& args) const {
    TypedLets list(fresh_);
    Expr value = called(original, args, list);
    const Type& type = original.checked_type();
    if (type->kind() == TypeKind::kTuple) value = list.push(std::move(value));
    value = wrapped(type, value, list);
    return list.close(std::move(value));
  }

  Expr called(const CallNode& original, const std::vector<Expr>& args, TypedLets& list) const {
    std::vector<Expr> values;
    values.reserve(args.size());
    for (size_t i = 0; i < args.size(); ++i)
      values.push_back(unwrapped(original.args()[i]->checked_type(), args[i], list));
    return Expr(make_call(original.callee(), std::move(values), original.attrs(), original.info()));
  }

  // Maps `leaf` over every tensor in a value; tuple items are bound.
  template <class Leaf>
  static Expr crossed(const Type& type, const Expr& value, TypedLets& list, const Leaf& leaf) {
    if (type->kind() == TypeKind::kTensor) return leaf(type, value);
    const auto* tuple = as_type<TupleTypeNode>(type);
    if (!tuple) return value;
    const auto* now = as_type<TupleTypeNode>(value->checked_type());
    std::vector<Expr> items, fields;
    std::vector<Type> types;
    for (size_t i = 0; i < tuple->fields().size(); ++i)
      items.push_back(list.push(make_tuple_get_item(
          value, static_cast<int>(i), NodeInfo(OriginSet::none(), {}, now ? now->fields()[i] : Type()))));
    for (size_t i = 0; i < items.size(); ++i) {
      fields.push_back(crossed(tuple->fields()[i], items[i], list, leaf));
      types.push_back(fields.back()->checked_type());
    }
    const bool typed = std::all_of(types.begin(), types.end(), [](const Type& each) { return bool(each); });
    return make_tuple(std::move(fields),
                      NodeInfo(OriginSet::none(), {}, typed ? tuple_type(std::move(types)) : Type()));
  }

  const IRModuleNode& module_;
  GradCells& cells_;
  FreshVars& fresh_;
};

Function with_cells(const Function& given, const IRModule& module) {
  const Function function =
      given->checked_type() ? given : as_ref<FunctionNode>(infer_type(Expr(given), module.get()));
  if (!can_change(function, *module)) return function;
  GradCells cells(*module);
  FreshVars fresh;
  CellRewriter rewriter(*module, cells, fresh);
  const Expr inner = rewriter.run(Expr(function));
  TypedLets list(fresh);
  std::vector<Expr> args;
  for (const Var& param : function->params())
    args.push_back(rewriter.wrapped(param->checked_type(), Expr(param), list));
  const Type& type = function->body()->checked_type();
  const Expr result = list.push(
      Expr(make_call(inner, std::move(args), {}, NodeInfo(function->origins(), {}, cells.inside(type)))));
  Expr body = list.close(rewriter.unwrapped(type, result, list));
  return make_function(function->params(), std::move(body), function->ret_type(), function->attrs(),
                       function->info(), function->type_params());
}

}  // namespace

Pass lazy_gradient_init() {
  // Functions added by the pass itself are polymorphic, and therefore skipped.
  return function_pass({2, "LazyGradientInit", {}},
                       [](const Function& function, const IRModule& module, const PassContext&) {
                         return with_cells(function, module);
                       });
}

}  // namespace baton
