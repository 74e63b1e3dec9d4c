#include "python/ir/extents.h"

#include <cmath>

#include "baton/support/error.h"

namespace baton::python {

namespace {

nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

Dim operation(ExtentOp op, Dim a, Dim b) {
  if (op == ExtentOp::kFloorDiv && (b.is_any() || b.value() < 1))
    throw NotSupported("extents are divided by numbers above 0, not by " + extent_text(b));
  return make_extent({op, a, b});
}

// An operand, which may also be a float without a fraction: sizes are scaled by such.
std::optional<Dim> scale_from_python(nb::handle value) {
  if (PyFloat_Check(value.ptr())) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == std::floor(number) && std::abs(number) < 1e15) return Dim(static_cast<int64_t>(number));
    return std::nullopt;
  }
  return extent_from_python(value);
}

template <ExtentOp op>
nb::object from_left(const SymbolicExtent& a, nb::handle other) {
  const std::optional<Dim> b = scale_from_python(other);
  return b ? extent_to_python(operation(op, a.dim, *b)) : not_implemented();
}
template <ExtentOp op>
nb::object from_right(const SymbolicExtent& b, nb::handle other) {
  const std::optional<Dim> a = scale_from_python(other);
  return a ? extent_to_python(operation(op, *a, b.dim)) : not_implemented();
}

nb::object refuse_operation(const SymbolicExtent&, nb::handle) {
  throw NotSupported("extents are numbers, variables, and sums, products and quotients (//) of them");
}

Dim operand(nb::handle value, const char* name) {
  if (const std::optional<Dim> dim = extent_from_python(value)) return *dim;
  throw nb::type_error((std::string(name) + ": an int or an extent is expected").c_str());
}

template <class T, ExtentOp op>
void bind_operation(nb::module_& m, const char* name, const char* doc) {
  nb::class_<T, SymbolicExtent>(m, name, doc)
      .def(nb::new_([](nb::handle a, nb::handle b, nb::handle) {
             return extent_to_python(operation(op, operand(a, "a"), operand(b, "b")));
           }),
           nb::arg("a"), nb::arg("b"), nb::arg("span") = nb::none())
      .def_prop_ro("a", [](const T& e) { return extent_to_python(extent_parts(e.dim).a); })
      .def_prop_ro("b", [](const T& e) { return extent_to_python(extent_parts(e.dim).b); });
}

template <class T>
nb::object new_extent_var(const std::string& name, const std::string& dtype, nb::handle) {
  const DType type = dtype_from_text(dtype);
  if (!type.is_int())
    throw NotSupported("the variable " + name + " of " + dtype +
                       ": variables are extents, integers such as \"int32\"");
  return extent_to_python(extent_var({name, type, std::is_same_v<T, SizeVarExtent>}));
}

}  // namespace

std::optional<Dim> extent_from_python(nb::handle value) {
  if (nb::isinstance<SymbolicExtent>(value)) return nb::cast<SymbolicExtent>(value).dim;
  if (nb::isinstance<AnyDim>(value)) return Dim::any();
  AttrValue read;
  if (!attr_from_python(value, read) || !read.as<int64_t>()) return std::nullopt;
  const Dim dim(*read.as<int64_t>());
  return dim.is_any() ? std::nullopt : std::optional(dim);
}

std::vector<Dim> shape_from_python(nb::handle shape) {
  std::vector<Dim> dims;
  for (nb::handle extent : shape) {
    const std::optional<Dim> dim = extent_from_python(extent);
    if (!dim) throw nb::type_error("shape: each extent is an int, Any() or symbolic, as of te.var(\"n\")");
    dims.push_back(*dim);
  }
  return dims;
}

void bind_extents(nb::module_& m) {
  m.def("set_number_classes", &set_number_classes, nb::arg("integer"), nb::arg("real"),
        "The subclasses of int and float that extents and attributes are given as.");
  nb::class_<AnyDim>(m, "Any", "An extent that is known at run time only: `?` in text.")
      .def(nb::init<>())
      .def("__str__", [](const AnyDim&) { return "?"; })
      .def("__eq__", [](const AnyDim&, nb::handle other) { return nb::isinstance<AnyDim>(other); })
      .def("__hash__", [](const AnyDim&) { return 1; });

  nb::class_<SymbolicExtent>(m, "SymbolicExtent",
                             "An extent with variables, in normal form: n + 1 == 1 + n. Two are == when they "
                             "are of the same variables and equal for all their values.")
      .def("__add__", &from_left<ExtentOp::kAdd>, nb::is_operator())
      .def("__radd__", &from_right<ExtentOp::kAdd>, nb::is_operator())
      .def("__sub__", &from_left<ExtentOp::kSub>, nb::is_operator())
      .def("__rsub__", &from_right<ExtentOp::kSub>, nb::is_operator())
      .def("__mul__", &from_left<ExtentOp::kMul>, nb::is_operator())
      .def("__rmul__", &from_right<ExtentOp::kMul>, nb::is_operator())
      .def("__floordiv__", &from_left<ExtentOp::kFloorDiv>, nb::is_operator())
      .def("__neg__", [](const SymbolicExtent& e) { return extent_to_python(0 - e.dim); })
      .def("__truediv__", &refuse_operation)
      .def("__mod__", &refuse_operation)
      .def("__lt__", &refuse_operation)
      .def("__le__", &refuse_operation)
      .def("__gt__", &refuse_operation)
      .def("__ge__", &refuse_operation)
      .def("__eq__",
           [](const SymbolicExtent& a, nb::handle b) {
             return nb::isinstance<SymbolicExtent>(b) && nb::cast<SymbolicExtent>(b).dim == a.dim;
           })
      .def("__hash__", [](const SymbolicExtent& e) { return static_cast<Py_hash_t>(e.dim.symbol_id()); })
      .def(
          "same_as",
          [](const SymbolicExtent& a, nb::handle b) {
            return nb::isinstance<SymbolicExtent>(b) && nb::cast<SymbolicExtent>(b).dim == a.dim;
          },
          nb::arg("other").none(), "Whether both are the same extent.")
      .def("__str__", [](const SymbolicExtent& e) { return extent_text(e.dim); })
      .def("__repr__", [](const SymbolicExtent& e) { return extent_text(e.dim); })
      .def_prop_ro("dtype", [](const SymbolicExtent& e) { return extent_dtype(e.dim).str(); });

  const auto var_name = [](const SymbolicExtent& e) { return as_extent_var(e.dim)->name; };
  nb::class_<VarExtent, SymbolicExtent>(m, "ExtentVar", "A variable. Each is another, whatever its name.")
      .def(nb::new_(&new_extent_var<VarExtent>), nb::arg("name"), nb::arg("dtype") = "int32",
           nb::arg("span") = nb::none())
      .def_prop_ro("name", var_name);
  nb::class_<SizeVarExtent, VarExtent>(m, "ExtentSizeVar", "A variable that is not negative.")
      .def(nb::new_(&new_extent_var<SizeVarExtent>), nb::arg("name"), nb::arg("dtype") = "int32",
           nb::arg("span") = nb::none());
  bind_operation<AddExtent, ExtentOp::kAdd>(m, "ExtentAdd", "a + b.");
  bind_operation<SubExtent, ExtentOp::kSub>(m, "ExtentSub", "a - b.");
  bind_operation<MulExtent, ExtentOp::kMul>(m, "ExtentMul", "a * b.");
  bind_operation<FloorDivExtent, ExtentOp::kFloorDiv>(m, "ExtentFloorDiv", "a // b, where b is above 0.");
}

}  // namespace baton::python
