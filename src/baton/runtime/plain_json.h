// nlohmann::json for code without exceptions, in an inline namespace of its own and hidden: the compiler's
// library instantiates the same templates with exceptions, and the two must never be taken for one another.
//
// Without exceptions every access to a value of the wrong type ends the process, so values are only read
// through the functions below.
#pragma once

// All that the library includes, before its own declarations become hidden.
#include <algorithm>
#include <any>
#include <array>
#include <cassert>
#include <cctype>
#include <cerrno>
#include <clocale>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <forward_list>
#include <functional>
#include <initializer_list>
#include <iomanip>
#include <ios>
#include <iosfwd>
#include <istream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <valarray>
#include <vector>
#include <version>

#define JSON_NOEXCEPTION 1
#define NLOHMANN_JSON_NAMESPACE nlohmann::without_exceptions
#define NLOHMANN_JSON_NAMESPACE_BEGIN \
  namespace nlohmann {                \
  inline namespace without_exceptions {
#define NLOHMANN_JSON_NAMESPACE_END \
  }                                 \
  }

#pragma GCC visibility push(hidden)
#include <nlohmann/json.hpp>
#pragma GCC visibility pop

namespace baton {

using Json = nlohmann::json;

/// The member of an object; null when there is none or `value` is no object.
inline const Json* json_member(const Json& value, const char* name) {
  if (!value.is_object()) return nullptr;
  const auto found = value.find(name);
  return found == value.end() ? nullptr : &*found;
}

/// An integer that fits int64.
inline std::optional<int64_t> json_int(const Json& value) {
  if (value.is_number_unsigned()) {
    const uint64_t number = value.get<uint64_t>();
    return number <= INT64_MAX ? std::optional<int64_t>(static_cast<int64_t>(number)) : std::nullopt;
  }
  return value.is_number_integer() ? std::optional<int64_t>(value.get<int64_t>()) : std::nullopt;
}

inline const std::string* json_string(const Json& value) { return value.get_ptr<const std::string*>(); }

}  // namespace baton
