// Gives open extents their values: FreezeShapes({x: [4, 3]}), or {n: 4}, is
//   fn (%x: Tensor[(n, 3), float32]) { concatenate((%x, %x)) }   ->   fn (%x: Tensor[(4, 3), float32]) { ...
//   }
// Constant shape attributes (reshape) are not changed.
#include "baton/transform/freeze_shapes.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "baton/ir/extent.h"
#include "baton/ir/functions.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/support/diagnostic.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

[[noreturn]] void cannot_freeze(const std::string& why) { throw Error("FreezeShapes: " + why); }

std::string axis_of(const VarNode& param, size_t axis) {
  return "axis " + std::to_string(axis) + " of %" + param.name();
}

bool is_symbolic(const Type& type) {
  bool found = false;
  visit_types(type, [&](const Type& part) {
    const auto* tensor = as_type<TensorTypeNode>(part);
    found = found || (tensor && std::ranges::any_of(tensor->shape(), &Dim::is_symbolic));
  });
  return found;
}

bool has_unknown(const Type& type) {
  bool found = false;
  visit_types(type, [&](const Type& part) {
    const auto* tensor = as_type<TensorTypeNode>(part);
    found = found || (tensor && std::ranges::find(tensor->shape(), Dim::any()) != tensor->shape().end());
  });
  return found;
}

void collect_extent_vars(const Type& type, std::vector<Dim>& into) {
  visit_types(type, [&](const Type& part) {
    const auto* tensor = as_type<TensorTypeNode>(part);
    if (!tensor) return;
    for (const Dim& dim : tensor->shape())
      visit_extent_vars(dim, [&](Dim var) {
        if (std::find(into.begin(), into.end(), var) == into.end()) into.push_back(var);
      });
  });
}

// The types that a program states; all others follow from them.
void for_each_stated_type(const IRModuleNode& module, FunctionRef<void(const Type&)> visit) {
  for (const auto& [name, function] : module.functions())
    post_order(Expr(function), [&](const Expr& node) {
      if (const auto* var = as<VarNode>(node); var && var->annotation()) visit(var->annotation());
      if (const auto* inner = as<FunctionNode>(node); inner && inner->ret_type()) visit(inner->ret_type());
    });
}

class FrozenShapes {
 public:
  FrozenShapes(const IRModuleNode& module, const std::vector<GivenShape>& given) : module_(module) {
    for_each_stated_type(module, [&](const Type& type) { collect_extent_vars(type, vars_); });
    for (const GivenShape& each : given) {
      if (const Var param = parameter(each.name))
        set_shape(param, each.values);
      else
        set_variables(each);
    }
    for (const auto& [param, shape] : shapes_) check_shape(*param, shape);
  }

  /// `type` with values; the same object when it has no extent with one.
  Type frozen(const Type& type) const {
    if (!type || !is_symbolic(type)) return type;
    Type changed = replace_extent_vars(type, [&](Dim var) { return value(var); });
    visit_types(changed, [&](const Type& part) {
      const auto* tensor = as_type<TensorTypeNode>(part);
      if (tensor && std::ranges::any_of(tensor->shape(), [](Dim d) { return !d.is_any() && d.value() < 0; }))
        cannot_freeze("an extent of " + type_text(type) + " would be negative: " + type_text(part));
    });
    return same_type(changed, type) ? type : changed;
  }
  /// The shape given for a parameter of @main, or null.
  const std::vector<int64_t>* shape(const VarNode* param) const {
    for (const auto& [var, shape] : shapes_)
      if (var.get() == param) return &shape;
    return nullptr;
  }

 private:
  Var parameter(const std::string& name) const {
    const Function main = module_.find("main");
    if (!main) return {};
    for (const Var& param : main->params())
      if (param->name() == name) return param;
    return {};
  }

  Dim value(Dim var) const {
    for (const auto& [known, number] : values_)
      if (known == var) return number;
    return var;
  }

  void set(Dim var, int64_t number) {
    const Dim known = value(var);
    if (!known.is_any() && known.value() != number)
      cannot_freeze(extent_text(var) + " cannot be both " + extent_text(known) + " and " +
                    std::to_string(number));
    if (known.is_any()) values_.emplace_back(var, number);
  }

  void set_variables(const GivenShape& given) {
    std::vector<std::string> names;
    bool found = false;
    for (const Dim& var : vars_) {
      names.push_back(as_extent_var(var)->name);
      if (names.back() != given.name) continue;
      if (given.values.size() != 1)
        cannot_freeze(given.name + " is a variable, of one value, not " +
                      std::to_string(given.values.size()));
      set(var, given.values[0]);
      found = true;
    }
    if (found) return;
    const std::string near = did_you_mean(given.name, names);
    std::string known;
    for (const std::string& name : names) known += (known.empty() ? "; the variables are " : ", ") + name;
    cannot_freeze("\"" + given.name + "\" is no parameter of @main and no variable of an extent" +
                  (near.empty() ? known : "; did you mean \"" + near + "\"?"));
  }

  void set_shape(const Var& param, const std::vector<int64_t>& shape) {
    const auto* type = as_type<TensorTypeNode>(declared_type(*param));
    if (!type) cannot_freeze("%" + param->name() + " is no tensor");
    if (type->shape().size() != shape.size())
      cannot_freeze("%" + param->name() + " is " + type_text(Type(type)) + ", of " +
                    std::to_string(type->rank()) + " axes, not " + std::to_string(shape.size()));
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] < 0) cannot_freeze(axis_of(*param, axis) + " cannot be " + std::to_string(shape[axis]));
      if (as_extent_var(type->shape()[axis])) set(type->shape()[axis], shape[axis]);
    }
    shapes_.emplace_back(param, shape);
  }

  // Once all variables have their values: sums and numbers are as given, too.
  void check_shape(const VarNode& param, const std::vector<int64_t>& shape) const {
    const auto* type = as_type<TensorTypeNode>(declared_type(param));
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const Dim dim = type->shape()[axis];
      if (dim == Dim::any()) continue;
      const Dim known = replace_extent_vars(dim, [&](Dim var) { return value(var); });
      if (known.is_any())
        cannot_freeze(axis_of(param, axis) + " is " + extent_text(dim) + ": give its variables their values");
      if (known.value() != shape[axis])
        cannot_freeze(axis_of(param, axis) + " is " + extent_text(dim) +
                      (dim.is_any() ? ", which is " + extent_text(known) : "") + ", not " +
                      std::to_string(shape[axis]));
    }
  }

  const IRModuleNode& module_;
  std::vector<Dim> vars_;
  std::vector<std::pair<Dim, int64_t>> values_;
  std::vector<std::pair<Var, std::vector<int64_t>>> shapes_;
};

class ShapeFreezer final : public Rewriter {
 public:
  explicit ShapeFreezer(const FrozenShapes& shapes) : shapes_(shapes) {}

  /// Whether `function` states a type that changes.
  bool changes(const Function& function) {
    for (const Var& param : function->params()) opened_ = opened_ || shapes_.shape(param.get());
    bool changes = opened_;
    post_order(Expr(function), [&](const Expr& node) {
      if (const auto* let = as<LetNode>(node)) bound_.insert(let->var().get());
      const auto* var = as<VarNode>(node);
      const auto* inner = as<FunctionNode>(node);
      const Type type = var ? var->annotation() : inner ? inner->ret_type() : Type();
      changes = changes || shapes_.frozen(type) != type;
    });
    return changes;
  }

 private:
  bool enter(const Expr&) override { return true; }

  // Bound variables without a stated type are inferred again, and those that state `?`.
  Var rewrite_var(const Var& var) override {
    Type type = shapes_.frozen(var->annotation());
    if (opened_ && bound_.contains(var.get()) && has_unknown(type)) type = {};
    if (const std::vector<int64_t>* shape = shapes_.shape(var.get()))
      type = tensor_type(*shape, as_type<TensorTypeNode>(declared_type(*var))->dtype());
    return make_var(var->name(), std::move(type), NodeInfo(var->origins(), var->span()));
  }

  // Where the shape of a parameter was `?`, a stated result with `?` would hide what it is now.
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* function = as<FunctionNode>(rebuilt);
    if (!function) return rebuilt;
    return make_function(
        function->params(), function->body(),
        opened_ && has_unknown(function->ret_type()) ? Type() : shapes_.frozen(function->ret_type()),
        function->attrs(), function->with_type({}), function->type_params());
  }

  const FrozenShapes& shapes_;
  bool opened_ = false;  // parameters have shapes of their own
  std::unordered_set<const VarNode*> bound_;
};

int64_t number_in(const std::string& text, const std::string& whole) {
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size() || value < 0)
    throw UsageError("\"" + whole +
                     "\" gives no shape: write x=1,3,224,224 or x=1x3x224x224 for a parameter, or n=4 for a "
                     "variable of an extent");
  return value;
}

}  // namespace

GivenShape parse_given_shape(const std::string& text) {
  const size_t equals = text.rfind('=');  // names of ONNX files contain anything
  GivenShape given{text.substr(0, equals), {}};
  if (given.name.empty() || equals == std::string::npos) number_in("", text);
  for (size_t at = equals; at != std::string::npos;) {
    const size_t next = text.find_first_of(",x", at + 1);
    given.values.push_back(number_in(text.substr(at + 1, next - at - 1), text));
    at = next;
  }
  return given;
}

IRModule freeze_shapes(IRModule module, const std::vector<GivenShape>& given) {
  const FrozenShapes shapes(*module, given);
  std::vector<std::pair<std::string, Function>> changed;
  for (const auto& [name, function] : module->functions()) {
    ShapeFreezer freezer(shapes);
    if (freezer.changes(function))
      changed.emplace_back(name, as_ref<FunctionNode>(freezer.run(Expr(function))));
  }
  for (auto& [name, function] : changed) module->replace(name, std::move(function));
  return infer_types(module);
}

void require_known_shapes(const IRModuleNode& module) {
  const Function main = module.find("main");
  if (!main) return;
  std::vector<Dim> vars;
  for (const Var& param : main->params()) collect_extent_vars(declared_type(*param), vars);
  if (vars.empty()) return;
  std::string names, values, flags;
  for (const Dim& var : vars) {
    const std::string name = as_extent_var(var)->name;
    names += (names.empty() ? "" : ", ") + name;
    values += (values.empty() ? "" : ", ") + ("\"" + name + "\": 1");
    flags += " --shape " + name + "=1";
  }
  throw NotSupported(
      "a build needs to know all shapes, and parameters of @main have symbolic extents: " + names +
      ". Give them values, such as relay.transform.FreezeShapes({" + values + "})(mod), or" + flags +
      " on the command line; a parameter's shape, x=1,3,224,224, gives those of its extents. `baton run` "
      "and `baton build`, in Python relay.vm.compile, take it as it is, as a program of the virtual machine");
}

Pass freeze_shapes_pass(const PassArgs& args) {
  PassArgReader reader("FreezeShapes", args);
  const AttrValue* shapes = reader.value("shapes");
  reader.finish();
  const auto wrong = [] {
    return UsageError(
        "FreezeShapes: shapes is a dict: of shapes by parameter of @main, or of numbers by variable: "
        "{\"x\": (1, 3), \"n\": 4}");
  };
  std::vector<GivenShape> given;
  const AttrList* list = shapes ? shapes->as<AttrList>() : nullptr;
  if (!list) throw wrong();
  for (const AttrValue& entry : *list) {
    const AttrList* pair = entry.as<AttrList>();
    const std::string* name = pair && pair->size() == 2 ? (*pair)[0].as<std::string>() : nullptr;
    if (!name) throw wrong();
    GivenShape one{*name, {}};
    const AttrValue& value = (*pair)[1];
    const AttrList* extents = value.as<AttrList>();
    const AttrList single{value};
    for (const AttrValue& each : extents ? *extents : single) {
      if (!each.as<int64_t>()) throw wrong();
      one.values.push_back(*each.as<int64_t>());
    }
    given.push_back(std::move(one));
  }
  return module_pass({1, "FreezeShapes", {}}, [=](IRModule module, const BuildContext&) {
    return freeze_shapes(std::move(module), given);
  });
}

}  // namespace baton
