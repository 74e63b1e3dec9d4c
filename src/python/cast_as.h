#pragma once
// Conversion of Python values, with errors that name the offending argument.
#include <string>
#include <utility>
#include <vector>

#include "python/casters.h"

namespace baton::python {

[[noreturn]] inline void wrong_type(nb::handle value, const std::string& what, const char* expected) {
  const std::string type = nb::cast<std::string>(value.type().attr("__name__"));
  throw nb::type_error((what + " is " + expected + ", not " + type).c_str());
}

/// `value` as a T. Otherwise TypeError: "`what` is `expected`, not list".
template <class T>
T cast_as(nb::handle value, const std::string& what, const char* expected) {
  T result{};
  if (!nb::try_cast(value, result)) wrong_type(value, what, expected);
  return result;
}

/// A dict of attributes by name; TypeError names invalid entries. `what`: the dict's name in messages.
inline std::vector<std::pair<std::string, AttrValue>> attrs_from_python(const nb::dict& given,
                                                                        const std::string& what) {
  std::vector<std::pair<std::string, AttrValue>> values;
  for (const auto& [key, value] : given) {
    std::string name = cast_as<std::string>(key, "a key of " + what, "a str");
    AttrValue read =
        cast_as<AttrValue>(value, what + "[\"" + name + "\"]", "a bool, a number, a str, a list or a dict");
    values.emplace_back(std::move(name), std::move(read));
  }
  return values;
}

}  // namespace baton::python
