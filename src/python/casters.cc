#include "python/casters.h"

#include "baton/ir/attr_objects.h"
#include "baton/support/base/ndarray.h"

#include "python/symbolic_extent.h"

namespace baton::python {

namespace {

constexpr int kMostNested = 100;  // nested lists; bounds lists that contain themselves

/// May raise Python exceptions: a str with lone surrogates is not valid text, and a list's __iter__ may raise
/// anything.
bool read_attr(nb::handle value, AttrValue& result, int nested) {
  if (nested > kMostNested) return false;
  PyObject* object = value.ptr();
  Expr expr;
  if (nb::try_cast(value, expr, false)) {
    result = expr_attr(std::move(expr));
  } else if (nb::isinstance<VirtualDevice>(value)) {
    result = virtual_device_attr(nb::cast<VirtualDevice>(value));
  } else if (nb::isinstance<SymbolicExtent>(value)) {
    const Dim dim = nb::cast<SymbolicExtent>(value).dim;
    result = AttrValue(Ref<const AttrObject>(make_ref<const ExtentAttr>(dim)));
  } else if (value.is_none()) {
    result = AttrValue();
  } else if (PyBool_Check(object)) {
    result = AttrValue(object == Py_True);
  } else if (PyUnicode_Check(object)) {
    result = AttrValue(nb::cast<std::string>(value));
  } else if (PyFloat_Check(object)) {
    result = AttrValue(PyFloat_AsDouble(object));
  } else if (PyIndex_Check(object)) {
    const long long number = PyLong_AsLongLong(nb::steal(PyNumber_Index(object)).ptr());
    if (number == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
    result = AttrValue(static_cast<int64_t>(number));
  } else if (PyDict_Check(object)) {
    AttrList list;
    for (const auto& [key, item] : nb::borrow<nb::dict>(value)) {
      AttrList entry(2);
      if (!read_attr(key, entry[0], nested + 1) || !read_attr(item, entry[1], nested + 1)) return false;
      list.push_back(std::move(entry));
    }
    result = std::move(list);
  } else if (PyList_Check(object) || PyTuple_Check(object)) {
    AttrList list;
    for (nb::handle item : value) {
      AttrValue element;
      if (!read_attr(item, element, nested + 1)) return false;
      list.push_back(std::move(element));
    }
    result = std::move(list);
  } else if (PyNumber_Check(object) && !PySequence_Check(object)) {  // numpy.float32
    const double number = PyFloat_AsDouble(object);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
    result = AttrValue(number);
  } else {
    return false;
  }
  return true;
}

}  // namespace

// Catches all exceptions: casters may not throw.
bool attr_from_python(nb::handle value, AttrValue& result) {
  try {
    return read_attr(value, result, 0);
  } catch (const std::exception&) {
    PyErr_Clear();
    return false;
  }
}

nb::object attr_to_python(const AttrValue& value) {
  if (value.is_none()) return nb::none();
  if (const bool* flag = value.as<bool>()) return nb::bool_(*flag);
  if (const int64_t* number = value.as<int64_t>()) return integer_to_python(*number);
  if (const double* number = value.as<double>()) return real_to_python(*number);
  if (const std::string* text = value.as<std::string>()) return nb::str(text->c_str(), text->size());
  if (const DType* dtype = value.as<DType>()) return nb::str(dtype->str().c_str());
  if (const auto* expr = value.object<ExprAttr>()) return nb::cast(expr->expr());
  if (const auto* device = value.object<VirtualDeviceAttr>()) return nb::cast(device->device());
  if (const auto* extent = value.object<ExtentAttr>()) return extent_to_python(extent->dim());
  nb::list list;
  for (const AttrValue& item : *value.as<AttrList>()) list.append(attr_to_python(item));
  return list;
}

nb::object wrapped_expression(nb::handle value) noexcept {
  PyObject* object = value.ptr();
  const bool is_plain = PyLong_Check(object) || PyFloat_Check(object) || PyUnicode_Check(object) ||
                        PyList_Check(object) || PyTuple_Check(object) || PyDict_Check(object);
  if (is_plain || !PyObject_HasAttrString(object, "astuple")) return {};
  PyObject* expr = PyObject_CallMethod(object, "astuple", nullptr);
  if (!expr) PyErr_Clear();
  return nb::steal(expr);
}

DType dtype_from_text(const std::string& text) {
  const std::optional<DType> dtype = DType::parse(text);
  if (!dtype || dtype->is_void())
    throw nb::value_error(("\"" + text + "\" is no dtype such as \"float32\"").c_str());
  return *dtype;
}

NamedArrays arrays_from_python(const nb::dict& arrays) {
  NamedArrays named;
  for (const auto& [name, array] : arrays) {
    NDArray value;
    if (!PyUnicode_Check(name.ptr()) || !nb::try_cast(array, value, false)) {
      throw nb::type_error("parameters are a dict of NDArray by name");
    }
    named.emplace_back(nb::cast<std::string>(name), std::move(value));
  }
  return named;
}

nb::dict arrays_to_python(const NamedArrays& arrays) {
  nb::dict named;
  for (const auto& [name, array] : arrays) named[name.c_str()] = nb::cast(array);
  return named;
}

}  // namespace baton::python
