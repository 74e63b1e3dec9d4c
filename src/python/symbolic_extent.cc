#include "python/symbolic_extent.h"

namespace baton::python {

namespace {

template <class T>
nb::object wrapped(Dim dim) {
  T made;
  made.dim = dim;
  return nb::cast(made);
}

// Owned for ever: modules are not unloaded while objects are made.
PyObject* integer_class = nullptr;
PyObject* real_class = nullptr;

// `number` as the class: its __new__ is that of int or float.
nb::object as_class(PyObject* type, nb::object number) {
  if (!type) return number;
  const nb::tuple arguments = nb::make_tuple(number);
  auto* base = reinterpret_cast<PyTypeObject*>(type)->tp_base;
  return nb::steal(base->tp_new(reinterpret_cast<PyTypeObject*>(type), arguments.ptr(), nullptr));
}

}  // namespace

void set_number_classes(nb::object integer, nb::object real) {
  integer_class = integer.release().ptr();
  real_class = real.release().ptr();
}

nb::object integer_to_python(int64_t value) { return as_class(integer_class, nb::int_(value)); }
nb::object real_to_python(double value) { return as_class(real_class, nb::float_(value)); }

nb::object extent_to_python(Dim dim) {
  if (!dim.is_any()) return integer_to_python(dim.value());
  if (!dim.is_symbolic()) return nb::cast(AnyDim{});
  if (const ExtentVar* var = as_extent_var(dim))
    return var->is_size ? wrapped<SizeVarExtent>(dim) : wrapped<VarExtent>(dim);
  switch (extent_parts(dim).op) {
    case ExtentOp::kAdd:
      return wrapped<AddExtent>(dim);
    case ExtentOp::kSub:
      return wrapped<SubExtent>(dim);
    case ExtentOp::kMul:
      return wrapped<MulExtent>(dim);
    case ExtentOp::kFloorDiv:
      return wrapped<FloorDivExtent>(dim);
  }
  return nb::none();
}

}  // namespace baton::python
