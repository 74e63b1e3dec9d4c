#pragma once
// Type casters for Python: reference-counted nodes (one Python object per C++ object while it is alive in
// Python), attribute values, arrays by name. Include it in every file of this folder, before any binding.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/support/base/params_blob.h"
#include "baton/support/json.h"
#include "baton/support/ref.h"
#include "baton/support/source.h"

namespace nb = nanobind;

namespace baton::python {

/// False for unsupported Python values, i.e. other than None, bool, int, float, str, list, tuple or dict of
/// them. A dict becomes a list of [key, value] lists. numpy's integers and floats count as int and float.
bool attr_from_python(nb::handle value, AttrValue& result);
nb::object attr_to_python(const AttrValue& value);

/// The expression that `value` stands for (a TupleWrapper, by astuple()); null when it is none.
nb::object wrapped_expression(nb::handle value) noexcept;

/// The dtype named `text`; ValueError when there is none.
DType dtype_from_text(const std::string& text);

/// A `span` argument; None means no span.
using MaybeSpan = std::optional<Span>;
inline Span span_or_none(const MaybeSpan& span) { return span.value_or(Span()); }

/// A dict of arrays, in its order; TypeError for other values.
NamedArrays arrays_from_python(const nb::dict& arrays);
nb::dict arrays_to_python(const NamedArrays& arrays);

/// What json.loads(json.dumps(value)) would give; TypeError for what JSON cannot hold.
Json json_from_python(nb::handle value);
nb::object json_to_python(const Json& json);

}  // namespace baton::python

namespace nanobind::detail {

/// The Python object owns one reference to the C++ object; nanobind finds it again by address.
template <class T>
struct type_caster<baton::Ref<T>> {
  static constexpr bool IsClass = true;
  using Td = std::remove_const_t<T>;
  using Caster = make_caster<Td>;
  NB_TYPE_CASTER(baton::Ref<T>, Caster::Name)

  bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
    if (src.is_none()) return false;  // use std::optional for nullable arguments
    Caster caster;
    const uint32_t exact = flags & ~static_cast<uint32_t>(cast_flags::convert);
    if (!caster.from_python(src, exact, cleanup)) {
      if constexpr (std::is_same_v<Td, baton::ExprNode>) {
        const object wrapped = baton::python::wrapped_expression(src);
        return wrapped.is_valid() && from_python(wrapped, exact, cleanup);
      }
      return false;
    }
    value = baton::Ref<T>(static_cast<T*>(caster.operator Td*()));
    return true;
  }

  static handle from_cpp(const baton::Ref<T>& ref, rv_policy, cleanup_list* cleanup) noexcept {
    if (!ref) return none().release();
    Td* object = const_cast<Td*>(ref.get());
    bool is_new = false;
    handle result = NB_CALL(nb_type_put)(NB_CTX_C(cleanup), &typeid(Td), &typeid(*object), object,
                                         rv_policy::reference, cleanup, &is_new);
    if (result.is_valid() && is_new) {
      object->retain();
      keep_alive_cb(result, object, [](void* payload) noexcept { static_cast<Td*>(payload)->release(); });
    }
    return result;
  }
};

template <>
struct type_caster<baton::AttrValue> {
  NB_TYPE_CASTER(baton::AttrValue, const_name("bool | int | float | str | list | dict | None"))
  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    return baton::python::attr_from_python(src, value);
  }
  static handle from_cpp(const baton::AttrValue& value, rv_policy, cleanup_list*) noexcept {
    return baton::python::attr_to_python(value).release();
  }
};

template <>
struct has_arg_defaults<baton::AttrValue> : std::true_type {};

/// Of results only: json_from_python() says what is wrong with an argument.
template <>
struct type_caster<baton::Json> {
  static constexpr auto Name = const_name("object");
  static handle from_cpp(const baton::Json& json, rv_policy, cleanup_list*) {
    return baton::python::json_to_python(json).release();
  }
};

}  // namespace nanobind::detail
