// The C++ types that members of attribute structs may have. To add one, add a line at the end of this file.
#include <cstdint>

#include "baton/ir/attrs.h"

namespace baton {

namespace {

AttrValue get(bool value) { return AttrValue(value); }
AttrValue get(int64_t value) { return AttrValue(value); }
AttrValue get(int32_t value) { return AttrValue(static_cast<int64_t>(value)); }
AttrValue get(double value) { return AttrValue(value); }
AttrValue get(const std::string& value) { return AttrValue(value); }
AttrValue get(DType value) { return AttrValue(value); }
AttrValue get(const AttrValue& value) { return value; }

bool set(bool& field, const AttrValue& value) {
  if (const bool* flag = value.as<bool>()) return field = *flag, true;
  if (const int64_t* number = value.as<int64_t>()) return field = *number != 0, true;
  return false;
}
bool set(int64_t& field, const AttrValue& value) {
  if (const int64_t* number = value.as<int64_t>()) return field = *number, true;
  if (const bool* flag = value.as<bool>()) return field = *flag, true;
  return false;
}
bool set(int32_t& field, const AttrValue& value) {
  int64_t wide;
  if (!set(wide, value) || wide != static_cast<int32_t>(wide)) return false;
  return field = static_cast<int32_t>(wide), true;
}
bool set(double& field, const AttrValue& value) {
  if (const double* number = value.as<double>()) return field = *number, true;
  if (const int64_t* number = value.as<int64_t>()) return field = static_cast<double>(*number), true;
  return false;
}
bool set(std::string& field, const AttrValue& value) {
  if (const std::string* text = value.as<std::string>()) return field = *text, true;
  return false;
}
bool set(DType& field, const AttrValue& value) {
  if (const DType* dtype = value.as<DType>()) return field = *dtype, true;
  const std::string* text = value.as<std::string>();
  const std::optional<DType> parsed = text ? DType::parse(*text) : std::nullopt;
  if (parsed) field = *parsed;
  return parsed.has_value();
}
bool set(AttrValue& field, const AttrValue& value) { return field = value, true; }

template <class T>
AttrValue get(const std::vector<T>& values) {
  AttrList list;
  list.reserve(values.size());
  for (const auto& value : values) list.push_back(get(value));
  return list;
}
template <class T>
bool set(std::vector<T>& field, const AttrValue& value) {
  const AttrList* list = value.as<AttrList>();
  if (!list) return false;
  std::vector<T> read(list->size());
  for (size_t i = 0; i < read.size(); ++i)
    if (!set(read[i], (*list)[i])) return false;
  field = std::move(read);
  return true;
}

template <class T>
AttrValue get(const std::optional<T>& value) {
  return value ? get(*value) : AttrValue();
}
template <class T>
bool set(std::optional<T>& field, const AttrValue& value) {
  if (value.is_none()) {
    field.reset();
    return true;
  }
  T read{};
  if (!set(read, value)) return false;
  field = std::move(read);
  return true;
}

template <class T>
struct Expected {
  static std::string text() {
    if constexpr (std::is_same_v<T, bool>)
      return "True or False";
    else if constexpr (std::is_integral_v<T>)
      return "an integer";
    else if constexpr (std::is_floating_point_v<T>)
      return "a number";
    else if constexpr (std::is_same_v<T, std::string>)
      return "a string";
    else if constexpr (std::is_same_v<T, DType>)
      return "a dtype such as \"float32\"";
    else
      return "a value";
  }
};
template <class T>
struct Expected<std::vector<T>> {
  static std::string text() { return "a list, each " + Expected<T>::text(); }
};
template <class T>
struct Expected<std::optional<T>> {
  static std::string text() { return Expected<T>::text() + " or None"; }
};

template <class T>
constexpr bool kIsBoxed =
    !std::is_arithmetic_v<T> && !std::is_same_v<T, std::string> && !std::is_same_v<T, DType>;

template <class M>
const AttrType& type_of_member() {
  static const AttrType type{
      Expected<M>::text(), kIsBoxed<M>,
      [](const void* member) { return get(*static_cast<const M*>(member)); },
      [](void* member, const AttrValue& value) { return set(*static_cast<M*>(member), value); }};
  return type;
}

}  // namespace

#define BATON_ATTR_TYPE(...)                 \
  template <>                                \
  const AttrType& attr_type<__VA_ARGS__>() { \
    return type_of_member<__VA_ARGS__>();    \
  }
BATON_ATTR_TYPE(bool)
BATON_ATTR_TYPE(int32_t)
BATON_ATTR_TYPE(int64_t)
BATON_ATTR_TYPE(double)
BATON_ATTR_TYPE(std::string)
BATON_ATTR_TYPE(DType)
BATON_ATTR_TYPE(AttrValue)
BATON_ATTR_TYPE(std::optional<int64_t>)
BATON_ATTR_TYPE(std::optional<double>)
BATON_ATTR_TYPE(std::optional<std::string>)
BATON_ATTR_TYPE(std::optional<bool>)
BATON_ATTR_TYPE(std::optional<std::vector<int64_t>>)
BATON_ATTR_TYPE(std::optional<std::vector<double>>)
BATON_ATTR_TYPE(std::vector<int32_t>)
BATON_ATTR_TYPE(std::vector<int64_t>)
BATON_ATTR_TYPE(std::vector<double>)
BATON_ATTR_TYPE(std::vector<std::string>)
BATON_ATTR_TYPE(std::vector<std::vector<int64_t>>)
#undef BATON_ATTR_TYPE

}  // namespace baton
