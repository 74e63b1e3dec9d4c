#include "baton/ir/type.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"

#include "python/bind.h"
#include "python/cast_as.h"
#include "python/ir/extents.h"

namespace baton::python {

namespace {

nb::tuple shape_of(const TensorTypeNode& type) {
  nb::list shape;
  for (const Dim& dim : type.shape()) shape.append(extent_to_python(dim));
  return nb::tuple(shape);
}

nb::tuple concrete_shape(const TensorTypeNode& type) {
  if (!type.is_static())
    throw nb::type_error(
        ("the shape of " + type_text(Type(&type)) + " is not known before run time").c_str());
  return shape_of(type);
}

template <class T>
Ref<const T> as_type_ref(const Type& type) {
  return Ref<const T>(as_type<T>(type));
}

Type make_func_type(std::vector<Type> params, const Type& result,
                    std::optional<std::vector<TypeVar>> type_params,
                    const std::optional<nb::sequence>& constraints) {
  if (constraints && nb::len(*constraints))
    throw NotSupported(
        "FuncType: type_constraints are not provided (operators carry their relations themselves)");
  return func_type(std::move(params), result, std::move(type_params).value_or(std::vector<TypeVar>()));
}

}  // namespace

void bind_types(nb::module_& m) {
  bind_extents(m);

  nb::class_<TypeNode>(m, "Type", "A type of Relay. Two are == when they are structurally equal.")
      .def(
          "__eq__",
          [](const TypeNode& a, nb::handle b) {
            Type other;
            return nb::try_cast(b, other, false) && same_type(Type(&a), other);
          },
          nb::arg("other").none())
      .def("__hash__", [](const TypeNode& t) { return static_cast<Py_hash_t>(type_hash(Type(&t)) >> 1); })
      .def(
          "same_as", [](nb::handle a, nb::handle b) { return a.is(b); }, nb::arg("other").none(), "Identity.")
      .def("__str__", [](const TypeNode& t) { return str(Type(&t)); })
      .def(
          "astext", [](const TypeNode& t, bool) { return astext(Type(&t)); },
          nb::arg("show_meta_data") = true);

  nb::class_<TensorTypeNode, TypeNode>(
      m, "TensorType", "A tensor of a shape (ints, Any() or symbolic extents) and a dtype (a str).")
      .def(nb::new_([](const nb::sequence& shape, const std::string& dtype) {
             return tensor_type(shape_from_python(shape), dtype_from_text(dtype));
           }),
           nb::arg("shape"), nb::arg("dtype") = "float32")
      .def_prop_ro("shape", &shape_of, "a tuple of ints, Any() and symbolic extents")
      .def_prop_ro("concrete_shape", &concrete_shape, "a tuple of ints; TypeError when an extent is none")
      .def_prop_ro(
          "dtype", [](const TensorTypeNode& t) { return t.dtype().str(); }, "a str, e.g. \"float32\"");

  nb::class_<TupleTypeNode, TypeNode>(m, "TupleType", "A tuple of types.")
      .def(nb::new_([](std::vector<Type> fields) { return tuple_type(std::move(fields)); }),
           nb::arg("fields"))
      .def_prop_ro("fields", &TupleTypeNode::fields);

  nb::enum_<Kind>(m, "TypeKind", nb::is_arithmetic(), "What a type variable stands for.")
      .value("Type", Kind::kType)
      .value("ShapeVar", Kind::kShapeVar)
      .value("BaseType", Kind::kBaseType)
      .value("Constraint", Kind::kConstraint)
      .value("AdtHandle", Kind::kAdtHandle)
      .value("TypeData", Kind::kTypeData);

  const char* const call_doc = "The TypeCall of this with those type arguments.";
  const auto call = [](const TypeNode& callee, const nb::args& args) {
    std::vector<Type> types;
    for (nb::handle each : args) types.push_back(cast_as<Type>(each, "an argument of a data type", "a Type"));
    return as_type_ref<TypeCallNode>(type_call(Type(&callee), std::move(types)));
  };
  nb::class_<TypeVarNode, TypeNode>(m, "TypeVar", "A type parameter. Each is another, whatever its name.")
      .def(nb::new_([](const std::string& name, Kind kind) { return type_var(name, kind); }),
           nb::arg("name_hint"), nb::arg("kind") = Kind::kType)
      .def_prop_ro("name_hint", &TypeVarNode::name)
      .def_prop_ro("kind", &TypeVarNode::var_kind, "a TypeKind")
      .def("__call__", call, call_doc);

  nb::class_<GlobalTypeVarNode, TypeNode>(m, "GlobalTypeVar",
                                          "The name of a data type. Two of one name are equal.")
      .def(nb::new_([](const std::string& name, Kind kind) { return global_type_var(name, kind); }),
           nb::arg("name_hint"), nb::arg("kind") = Kind::kAdtHandle)
      .def_prop_ro("name_hint", &GlobalTypeVarNode::name)
      .def_prop_ro("kind", &GlobalTypeVarNode::var_kind, "a TypeKind")
      .def("__call__", call, call_doc);

  nb::class_<TypeCallNode, TypeNode>(m, "TypeCall", "A data type with its type arguments: List[int32].")
      .def(nb::new_([](const Type& func, std::vector<Type> args) {
             return as_type_ref<TypeCallNode>(type_call(func, std::move(args)));
           }),
           nb::arg("func"), nb::arg("args"))
      .def_prop_ro("func", &TypeCallNode::callee, "a GlobalTypeVar in every well-kinded program")
      .def_prop_ro("args", &TypeCallNode::args);

  nb::class_<RefTypeNode, TypeNode>(m, "RelayRefType", "A cell that can be written: ref(T).")
      .def(nb::new_([](const Type& value) { return as_type_ref<RefTypeNode>(ref_type(value)); }),
           nb::arg("value"))
      .def_prop_ro("value", &RefTypeNode::value);

  nb::class_<FuncTypeNode, TypeNode>(m, "FuncType",
                                     "The type of a function, polymorphic when it has type_params.")
      .def(nb::new_(&make_func_type), nb::arg("arg_types"), nb::arg("ret_type"),
           nb::arg("type_params").none() = nb::none(), nb::arg("type_constraints").none() = nb::none(),
           "type_constraints: TVM's relations between types; NotSupported unless there are none.")
      .def_prop_ro("arg_types", &FuncTypeNode::params)
      .def_prop_ro("ret_type", &FuncTypeNode::result)
      .def_prop_ro("type_params", &FuncTypeNode::type_params)
      .def_prop_ro("type_constraints", [](const FuncTypeNode&) { return nb::list(); }, "always empty");

  nb::class_<IncompleteTypeNode, TypeNode>(m, "IncompleteType",
                                           "A type that inference finds; each is another unknown.")
      .def(nb::new_([](Kind kind) {
             if (kind != Kind::kType)
               throw NotSupported("IncompleteType: only types of kind Type can be left open");
             return incomplete_type();
           }),
           nb::arg("kind") = Kind::kType)
      .def_prop_ro("kind", [](const IncompleteTypeNode&) { return Kind::kType; });

  m.def("parse_type", &parse_type, nb::arg("source"), nb::arg("source_name") = "string",
        "Reads a type. Raises DiagnosticError.");
}

}  // namespace baton::python
