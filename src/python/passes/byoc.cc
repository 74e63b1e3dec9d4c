// Dataflow patterns, and registrations of external compilers: rules, pattern tables, optimizers.
#include "baton/byoc/external.h"
#include "baton/byoc/pattern_rewrite.h"
#include "baton/byoc/pattern_table.h"
#include "baton/byoc/target_rules.h"

#include "python/bind.h"
#include "python/cast_as.h"
#include "python/door.h"
#include "python/held.h"
#include "python/ir/extents.h"

namespace baton::python {

namespace {

using Patterns = std::vector<DFPattern>;

// A Python predicate; None is always true.
DFCheck check_of(nb::object check) {
  if (check.is_none()) return {};
  return predicate_of(std::move(check));
}

const char* kind_name(DFPatternKind kind) {
  switch (kind) {
    case DFPatternKind::kWildcard:
      return "WildcardPattern";
    case DFPatternKind::kVar:
      return "VarPattern";
    case DFPatternKind::kConstant:
      return "ConstantPattern";
    case DFPatternKind::kExpr:
      return "ExprPattern";
    case DFPatternKind::kCall:
      return "CallPattern";
    case DFPatternKind::kFunction:
      return "FunctionPattern";
    case DFPatternKind::kLet:
      return "LetPattern";
    case DFPatternKind::kIf:
      return "IfPattern";
    case DFPatternKind::kTuple:
      return "TuplePattern";
    case DFPatternKind::kTupleGetItem:
      return "TupleGetItemPattern";
    case DFPatternKind::kAlt:
      return "AltPattern";
    case DFPatternKind::kType:
      return "TypePattern";
    case DFPatternKind::kShape:
      return "ShapePattern";
    case DFPatternKind::kDataType:
      return "DataTypePattern";
    case DFPatternKind::kAttr:
      return "AttrPattern";
    case DFPatternKind::kDominator:
      return "DominatorPattern";
  }
  return "";
}

DFPatternNode::NamedValues named_values(const nb::dict& given) { return attrs_from_python(given, "attrs"); }

nb::dict named_values_to_python(const DFPatternNode& pattern) {
  nb::dict values;
  for (const auto& [name, value] : pattern.attrs()) values[name.c_str()] = attr_to_python(value);
  return values;
}

// A Python callback: an object with pattern, require_type, rewrite_once and callback(pre, post, node_map).
DFCallback callback_of(nb::handle object) {
  DFCallback callback;
  callback.pattern = cast_as<DFPattern>(object.attr("pattern"), "the pattern of a callback", "a DFPattern");
  callback.require_type = cast_as<bool>(object.attr("require_type"), "require_type", "a bool");
  callback.rewrite_once = cast_as<bool>(object.attr("rewrite_once"), "rewrite_once", "a bool");
  callback.rewrite = [held = hold(nb::borrow(object))](const Expr& before, const Expr& after,
                                                       const DFMatches& matches) {
    const nb::gil_scoped_acquire gil;
    nb::dict node_map;
    for (const auto& [pattern, exprs] : matches.all()) node_map[nb::cast(pattern)] = nb::cast(exprs);
    const nb::object made = nb::handle(held.get()).attr("callback")(before, after, node_map);
    Expr result;
    if (nb::try_cast(made, result, false)) return result;
    throw nb::type_error(("callback() returned a " + nb::cast<std::string>(made.type().attr("__name__")) +
                          " instead of an expression")
                             .c_str());
  };
  return callback;
}

PatternTable table_of(const nb::sequence& entries) {
  PatternTable table;
  for (nb::handle entry : entries) {
    const size_t size = nb::len(entry);
    if (size != 2 && size != 3)
      throw nb::type_error("an entry of a pattern table is (name, pattern) or (name, pattern, check)");
    table.push_back({cast_as<std::string>(entry[0], "the name in a pattern table", "a str"),
                     cast_as<DFPattern>(entry[1], "the pattern in a pattern table", "a DFPattern"),
                     size == 3 ? check_of(nb::object(entry[2])) : DFCheck()});
  }
  return table;
}

void bind_patterns(nb::module_& m) {
  nb::class_<DFPatternNode>(m, "DFPattern", nb::dynamic_attr(), "Describes expressions of a dataflow graph.")
      .def_prop_ro("kind", [](const DFPatternNode& p) { return kind_name(p.kind()); })
      .def_prop_ro("parts", &DFPatternNode::parts, nb::rv_policy::copy)
      .def_prop_ro("open", &DFPatternNode::open)
      .def_prop_ro("_name", &DFPatternNode::name)
      .def_prop_ro("_expr", &DFPatternNode::expr)
      .def_prop_ro("_index", &DFPatternNode::index)
      .def_prop_ro("_type", &DFPatternNode::type)
      .def_prop_ro("_dtype", [](const DFPatternNode& p) { return p.dtype().str(); })
      .def_prop_ro("_attrs", &named_values_to_python)
      .def_prop_ro("_shape",
                   [](const DFPatternNode& p) {
                     nb::list shape;
                     for (const Dim& dim : p.shape())
                       shape.append(dim == Dim::any() ? nb::none() : extent_to_python(dim));
                     return shape;
                   })
      .def("__str__", [](const DFPatternNode& p) { return dataflow_pattern_text(DFPattern(&p)); })
      .def("__repr__", [](const DFPatternNode& p) { return dataflow_pattern_text(DFPattern(&p)); });
  m.def("df_wildcard", &wildcard);
  m.def("df_var", &is_var, nb::arg("name"));
  m.def("df_constant", &is_constant);
  m.def("df_expr", &is_expr, nb::arg("expr"));
  m.def("df_op", &is_op, nb::arg("name"));
  m.def(
      "df_call",
      [](const DFPattern& callee, std::optional<Patterns> args) {
        return args ? callee->call(std::move(*args)) : callee->call_any();
      },
      nb::arg("callee"), nb::arg("args").none());
  m.def("df_function", &is_function, nb::arg("params").none(), nb::arg("body"));
  m.def("df_let", &is_let, nb::arg("var"), nb::arg("value"), nb::arg("body"));
  m.def("df_if", &is_if, nb::arg("cond"), nb::arg("then"), nb::arg("otherwise"));
  m.def("df_tuple", &is_tuple, nb::arg("fields").none());
  m.def("df_tuple_get_item", &is_tuple_get_item, nb::arg("tuple"), nb::arg("index"));
  m.def(
      "df_alt", [](const DFPattern& left, const DFPattern& right) { return left | right; }, nb::arg("left"),
      nb::arg("right"));
  m.def(
      "df_type", [](const DFPattern& pattern, Type type) { return pattern->has_type(std::move(type)); },
      nb::arg("pattern"), nb::arg("type"));
  m.def(
      "df_shape",
      [](const DFPattern& pattern, const nb::sequence& shape) {
        std::vector<Dim> dims;
        for (nb::handle each : shape) {
          const std::optional<Dim> dim = each.is_none() ? Dim::any() : extent_from_python(each);
          if (!dim) throw nb::type_error("shape: each extent is an int, None or symbolic");
          dims.push_back(*dim);
        }
        return pattern->has_shape(std::move(dims));
      },
      nb::arg("pattern"), nb::arg("shape"));
  m.def(
      "df_dtype",
      [](const DFPattern& pattern, const std::string& dtype) {
        return pattern->has_dtype(dtype_from_text(dtype));
      },
      nb::arg("pattern"), nb::arg("dtype"));
  m.def(
      "df_attr",
      [](const DFPattern& pattern, const nb::dict& attrs) { return pattern->has_attr(named_values(attrs)); },
      nb::arg("pattern"), nb::arg("attrs"));
  m.def("df_dominates", &dominates, nb::arg("parent"), nb::arg("path"), nb::arg("child"));
}

}  // namespace

void bind_byoc(nb::module_& m) {
  bind_patterns(m);
  m.def("df_match", &dataflow_match, nb::arg("pattern"), nb::arg("expr"));
  m.def(
      "df_partition",
      [](const DFPattern& pattern, const Expr& expr, const nb::dict& attrs, nb::object check) {
        return dataflow_partition(pattern, expr, named_values(attrs), check_of(std::move(check)));
      },
      nb::arg("pattern"), nb::arg("expr"), nb::arg("attrs"), nb::arg("check").none());
  m.def(
      "df_rewrite",
      [](const nb::sequence& callbacks, const Expr& expr, std::optional<IRModule> module) {
        std::vector<DFCallback> all;
        for (nb::handle callback : callbacks) all.push_back(callback_of(callback));
        return dataflow_rewrite(all, expr, module.value_or(IRModule()),
                                PythonPassScope::open() ? Replaced::kRetired : Replaced::kForgotten);
      },
      nb::arg("callbacks"), nb::arg("expr"), nb::arg("mod").none());
  m.def(
      "merge_composite", [](const nb::sequence& table) { return merge_composite(table_of(table)); },
      nb::arg("table"), "The pass MergeComposite with this pattern table.");
  m.def(
      "register_pattern_table",
      [](const std::string& compiler, const nb::sequence& table) {
        register_pattern_table(compiler, table_of(table));
      },
      nb::arg("compiler"), nb::arg("table"), "For MergeComposite by name.");
  m.def(
      "register_target_rule",
      [](const std::string& op, const std::string& compiler, nb::callable takes, int level) {
        register_target_rule(op, compiler, check_of(std::move(takes)), level);
      },
      nb::arg("op"), nb::arg("compiler"), nb::arg("takes"), nb::arg("level"),
      "`compiler` takes the calls of `op` for which takes(call) is true.");
  m.def("reset_target_rule", &reset_target_rule, nb::arg("op"), nb::arg("compiler"));
  m.def(
      "set_region_optimizer",
      [](const std::string& compiler, nb::object optimize) {
        if (optimize.is_none()) return set_region_optimizer(compiler, {});
        set_region_optimizer(compiler, [held = hold(std::move(optimize))](const IRModule& module,
                                                                          const BuildContext& context) {
          const nb::gil_scoped_acquire gil;
          const CallbackScope here(context);
          return nb::cast<IRModule>(nb::handle(held.get())(module));
        });
      },
      nb::arg("compiler"), nb::arg("optimize").none(),
      "What PartitionGraph calls for each region of `compiler`.");
}

}  // namespace baton::python
