#pragma once
// Maps struct members to members of a JSON object: a table declares each once, for writing and reading.
#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "baton/support/json.h"

namespace baton::json_fields {

/// One member of a Row's JSON object.
template <class Row>
struct Field {
  void (*write)(const char* name, const Row&, Json& object);
  void (*read)(const char* name, const Json& object, Row&);
  const char* name;
};

template <class T>
bool is_empty(const T& value) {
  if constexpr (requires { value.empty(); })
    return value.empty();
  else if constexpr (requires { value.has_value(); })
    return !value.has_value();
  else
    return false;
}

/// `value`, or the contents of an optional.
template <class T>
const T& content(const T& value) {
  return value;
}
template <class T>
const T& content(const std::optional<T>& value) {
  return *value;
}

/// A type with functions of its own beside it, `to_json(Json&, const T&)` and `from_json(const Json&, T&)`.
template <class T>
concept HasOwnForm = requires(Json& json, const T& value) { to_json(json, value); };
template <class T>
concept IsListOfRows = requires { typename T::value_type; } && HasOwnForm<typename T::value_type>;
template <class T>
concept IsMapOfRows = requires { typename T::mapped_type; } && HasOwnForm<typename T::mapped_type>;

template <class T>
void write_json(Json& json, const T& value) {
  if constexpr (HasOwnForm<T>) {
    to_json(json, value);
  } else if constexpr (IsMapOfRows<T>) {
    json = Json::object();
    for (const auto& [name, row] : value) to_json(json[name], row);
  } else if constexpr (IsListOfRows<T>) {
    json = Json::array();
    for (const auto& row : value) to_json(json.emplace_back(), row);
  } else {
    json = value;
  }
}
template <class T>
void read_json(const Json& json, T& value) {
  if constexpr (requires { value.has_value(); }) {
    read_json(json, value.emplace());
  } else if constexpr (HasOwnForm<T>) {
    from_json(json, value);
  } else if constexpr (IsMapOfRows<T>) {
    value.clear();
    for (const auto& [name, row] : json.items()) from_json(row, value[name]);
  } else if constexpr (IsListOfRows<T>) {
    value.clear();
    for (const Json& row : json.elements()) from_json(row, value.emplace_back());
  } else {
    json.get_to(value);
  }
}

/// `access`: a pointer to a member, or a function from a Row to a reference.
template <class Row, auto access>
void write_value(const char* name, const Row& row, Json& object) {
  write_json(object[name], std::invoke(access, row));
}
template <class Row, auto access>
void write_or_null(const char* name, const Row& row, Json& object) {
  const auto& value = std::invoke(access, row);
  Json& json = object[name] = nullptr;
  if (!is_empty(value)) write_json(json, content(value));
}
template <class Row, auto access>
void write_unless_empty(const char* name, const Row& row, Json& object) {
  if (!is_empty(std::invoke(access, row))) write_json(object[name], content(std::invoke(access, row)));
}
template <class Row, auto access>
void read_value(const char* name, const Json& object, Row& row) {
  read_json(object.at(name), std::invoke(access, row));
}
template <class Row, auto access>
void read_if_there(const char* name, const Json& object, Row& row) {
  if (const auto at = object.find(name); at != object.end() && !at->is_null())
    read_value<Row, access>(name, object, row);
}

/// Required.
template <class Row, auto access>
constexpr Field<Row> required(const char* name) {
  return {write_value<Row, access>, read_value<Row, access>, name};
}
/// Optional when reading, or null: absent in other versions.
template <class Row, auto access>
constexpr Field<Row> may_lack(const char* name) {
  return {write_value<Row, access>, read_if_there<Row, access>, name};
}
/// Written as null when empty.
template <class Row, auto access>
constexpr Field<Row> or_null(const char* name) {
  return {write_or_null<Row, access>, read_if_there<Row, access>, name};
}
/// Omitted when empty.
template <class Row, auto access>
constexpr Field<Row> unless_empty(const char* name) {
  return {write_unless_empty<Row, access>, read_if_there<Row, access>, name};
}
/// Derived from other members: written, but not read back. `value` is a function from a Row.
template <class Row, auto value>
constexpr Field<Row> derived(const char* name) {
  return {write_value<Row, value>, [](const char*, const Json&, Row&) {}, name};
}
/// With custom functions: `Json(const Row&)` and `void(const Json& value, Row&)`.
template <class Row, auto write, auto read>
constexpr Field<Row> custom(const char* name) {
  return {[](const char* key, const Row& row, Json& object) { object[key] = write(row); },
          [](const char* key, const Json& object, Row& row) { read(object.at(key), row); }, name};
}

template <class Row>
void write(std::span<const Field<Row>> fields, const Row& row, Json& object) {
  object = Json::object();
  for (const Field<Row>& field : fields) field.write(field.name, row, object);
}
template <class Row>
void read(std::span<const Field<Row>> fields, const Json& object, Row& row) {
  for (const Field<Row>& field : fields) field.read(field.name, object, row);
}

}  // namespace baton::json_fields
