#include "python/casters.h"

#include <cmath>

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

namespace {

Json read_json(nb::handle value, size_t nested) {
  if (nested > Json::kDeepest) throw nb::value_error("JSON is not as deep as this");
  PyObject* object = value.ptr();
  if (value.is_none()) return nullptr;
  if (PyBool_Check(object)) return object == Py_True;
  if (PyUnicode_Check(object)) return nb::cast<std::string>(value);
  if (PyFloat_Check(object)) return PyFloat_AsDouble(object);
  if (PyDict_Check(object)) {
    Json json = Json::object();
    for (const auto& [key, item] : nb::borrow<nb::dict>(value))
      json[nb::cast<std::string>(nb::str(key))] = read_json(item, nested + 1);
    return json;
  }
  if (PyList_Check(object) || PyTuple_Check(object)) {
    Json json = Json::array();
    for (nb::handle item : value) json.push_back(read_json(item, nested + 1));
    return json;
  }
  if (PyIndex_Check(object)) return nb::cast<int64_t>(nb::steal(PyNumber_Index(object)));
  throw nb::type_error(("JSON has no " + nb::cast<std::string>(value.type().attr("__name__"))).c_str());
}

}  // namespace

Json json_from_python(nb::handle value) { return read_json(value, 0); }

nb::object json_to_python(const Json& json) {
  switch (json.kind()) {
    case Json::Kind::kBool:
      return nb::bool_(json.get<bool>());
    case Json::Kind::kInteger:
      return nb::int_(json.get<int64_t>());
    case Json::Kind::kNatural:
      return nb::int_(json.get<uint64_t>());
    case Json::Kind::kReal:  // no text of JSON has what is not finite
      return std::isfinite(json.get<double>()) ? nb::object(nb::float_(json.get<double>())) : nb::none();
    case Json::Kind::kString:
      return nb::cast(json.get<std::string>());
    case Json::Kind::kArray: {
      nb::list list;
      for (const Json& item : json) list.append(json_to_python(item));
      return list;
    }
    case Json::Kind::kObject: {
      nb::dict dict;
      for (const auto& [name, item] : json.items()) dict[nb::cast(name)] = json_to_python(item);
      return dict;
    }
    default:
      return nb::none();
  }
}

}  // namespace baton::python
