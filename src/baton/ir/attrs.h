#pragma once
// Attributes of operators. A struct's fields are declared once, in an AttrSchema (name, member, default,
// doc); parser, printer, Python, hashing and docs all read that declaration.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "baton/support/base/dtype.h"
#include "baton/support/error.h"
#include "baton/support/ref.h"

namespace baton {

/// A value that has no literal: an expression, a virtual device, ... (ir/attr_objects.h). Text names it
/// `meta[key][n]`.
class AttrObject : public RefCounted {
 public:
  virtual std::string type_key() const = 0;  ///< "VirtualDevice", "relay.Constant", ...
  virtual std::string text() const = 0;      ///< for people, where nothing is to be read back
  virtual bool equals(const AttrObject& other) const = 0;
  virtual uint64_t hash() const = 0;
};
/// Compared by value.
struct AttrObjectRef {
  Ref<const AttrObject> object;  ///< never null
  friend bool operator==(const AttrObjectRef& a, const AttrObjectRef& b) {
    return a.object == b.object || a.object->equals(*b.object);
  }
};

/// The value of one attribute, as text and Python know it. std::monostate is `None`.
struct AttrValue;
using AttrList = std::vector<AttrValue>;
struct AttrValue
    : std::variant<std::monostate, bool, int64_t, double, std::string, DType, AttrList, AttrObjectRef> {
  using Base =
      std::variant<std::monostate, bool, int64_t, double, std::string, DType, AttrList, AttrObjectRef>;
  using Base::Base;
  AttrValue(int value) : Base(static_cast<int64_t>(value)) {}
  AttrValue(const char* value) : Base(std::string(value)) {}
  AttrValue(const std::vector<int64_t>& values) : Base(AttrList(values.begin(), values.end())) {}
  explicit AttrValue(Ref<const AttrObject> object) : Base(AttrObjectRef{std::move(object)}) {}
  bool is_none() const { return std::holds_alternative<std::monostate>(*this); }
  /// The object as a T, or null.
  template <class T>
  const T* object() const {
    const AttrObjectRef* ref = as<AttrObjectRef>();
    return ref ? dynamic_cast<const T*>(ref->object.get()) : nullptr;
  }
  template <class T>
  const T* as() const {
    return std::get_if<T>(static_cast<const Base*>(this));
  }
};

/// Relay text: `2`, `0.1f`, `True`, `"NCHW"`, `"float32"` (a DType), `None`, `[1, 2]`.
std::string attr_text(const AttrValue& value);
uint64_t attr_hash(const AttrValue& value);

class AttrsNode;
using Attrs = Ref<const AttrsNode>;

/// One field. `get` and `set` work on the struct behind an AttrsNode.
struct AttrField {
  std::string name, doc;
  std::string expects;                     ///< for errors: "an integer", "a list of integers", ...
  std::optional<AttrValue> default_value;  ///< none: always printed
  bool boxed =
      false;  ///< whether TVM's JSON keeps the value as a node of its own, not inside the attributes' node
  std::function<AttrValue(const void*)> get;
  std::function<bool(void*, const AttrValue&)> set;  ///< false when the value has the wrong form
};

/// All fields of one attribute struct, and how to make one with its defaults.
struct AttrSchema {
  std::string type_key;  ///< "relay.attrs.Conv2DAttrs"
  std::vector<AttrField> fields;
  std::function<Ref<AttrsNode>()> make;
  const AttrField* find(std::string_view name) const;
};

/// An attribute struct with its schema. Immutable once shared.
class AttrsNode : public RefCounted {
 public:
  const AttrSchema& schema() const { return *schema_; }
  AttrValue get(std::string_view name) const;  ///< None when there is no such field
  virtual const void* data() const = 0;
  virtual void* data() = 0;
  virtual Ref<AttrsNode> copy() const = 0;

 protected:
  explicit AttrsNode(const AttrSchema* schema) : schema_(schema) {}

 private:
  const AttrSchema* schema_;
};

template <class A>
class AttrsOf final : public AttrsNode {
 public:
  AttrsOf(const AttrSchema* schema, A value) : AttrsNode(schema), value_(std::move(value)) {}
  const void* data() const override { return &value_; }
  void* data() override { return &value_; }
  Ref<AttrsNode> copy() const override { return make_ref<AttrsOf<A>>(&schema(), value_); }
  const A& value() const { return value_; }

 private:
  A value_;
};

/// The struct behind `attrs`; an InternalError when it is of another kind.
template <class A>
const A& attrs_as(const Attrs& attrs) {
  const auto* typed = dynamic_cast<const AttrsOf<A>*>(attrs.get());
  BATON_CHECK(typed, attrs ? "attributes are " + attrs->schema().type_key : std::string("no attributes"));
  return typed->value();
}

/// Whether two attribute sets have the same type and values. Two nulls are equal.
bool same_attrs(const Attrs& a, const Attrs& b);
uint64_t attrs_hash(const Attrs& attrs);

/// A new attribute set from named values; throws Error for an unknown name or a value of the wrong form.
Attrs make_attrs(const AttrSchema& schema, const std::vector<std::pair<std::string, AttrValue>>& values);

// ---- How C++ member types map to AttrValue. Add an overload pair here for a new member type.
namespace attr {
AttrValue get(bool value);
AttrValue get(int64_t value);
AttrValue get(int32_t value);
AttrValue get(double value);
AttrValue get(const std::string& value);
AttrValue get(DType value);
AttrValue get(const AttrValue& value);
bool set(bool& field, const AttrValue& value);
bool set(int64_t& field, const AttrValue& value);
bool set(int32_t& field, const AttrValue& value);
bool set(double& field, const AttrValue& value);  ///< integers are accepted
bool set(std::string& field, const AttrValue& value);
bool set(DType& field, const AttrValue& value);  ///< a string is accepted
bool set(AttrValue& field, const AttrValue& value);
template <class T>
AttrValue get(const std::optional<T>& value) {
  return value ? get(*value) : AttrValue();
}
template <class T>
AttrValue get(const std::vector<T>& values) {
  AttrList list;
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
constexpr bool boxed() {
  return !std::is_arithmetic_v<T> && !std::is_same_v<T, std::string> && !std::is_same_v<T, DType>;
}
std::string concat(std::string_view a,
                   std::string_view b);  // out of line: g++ 12 warns wrongly about an inlined +
template <class T>
std::string expects() {
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
  else if constexpr (std::is_same_v<T, AttrValue>)
    return "a value";
  else if constexpr (requires(T t) { t.push_back(typename T::value_type{}); })
    return concat("a list, each ", expects<typename T::value_type>());
  else
    return concat(expects<typename T::value_type>(), " or None");
}
}  // namespace attr

/// Marks a field without a default: it is always printed.
struct NoDefault {};
inline constexpr NoDefault kNoDefault{};
/// Marks a number that TVM keeps as an object (Integer, Bool): matters to its JSON only. Lists and optional
/// values are objects anyway.
struct Boxed {};
inline constexpr Boxed kBoxed{};

/// One field's declaration, inside an AttrStruct: {"axis", &SoftmaxAttrs::axis, "negative counts from the
/// back"}. The default is the member's initialiser, unless kNoDefault follows.
template <class A>
struct AttrSpec {
  AttrField field;
  template <class M>
  AttrSpec(const char* name, M A::* member, const char* doc) : AttrSpec(name, member, doc, kNoDefault) {
    field.default_value = attr::get(A{}.*member);
  }
  template <class M>
  AttrSpec(const char* name, M A::* member, const char* doc, Boxed) : AttrSpec(name, member, doc) {
    field.boxed = true;
  }
  template <class M>
  AttrSpec(const char* name, M A::* member, const char* doc, NoDefault) {
    field.boxed = attr::boxed<M>();
    field.name = name;
    field.doc = doc;
    field.expects = attr::expects<M>();
    field.get = [member](const void* data) { return attr::get(static_cast<const A*>(data)->*member); };
    field.set = [member](void* data, const AttrValue& value) {
      return attr::set(static_cast<A*>(data)->*member, value);
    };
  }
};

/// The schema of attribute struct A, declared once:
///   template <> const AttrSchema& attr_schema<SoftmaxAttrs>() {
///     static const AttrSchema schema = make_schema<SoftmaxAttrs>("relay.attrs.SoftmaxAttrs", {{"axis",
///     ...}}); return schema;
///   }
template <class A>
const AttrSchema& attr_schema();

template <class A>
AttrSchema make_schema(std::string type_key, std::vector<AttrSpec<A>> specs) {
  AttrSchema schema;
  schema.type_key = std::move(type_key);
  for (auto& spec : specs) schema.fields.push_back(std::move(spec.field));
  schema.make = [] { return Ref<AttrsNode>(make_ref<AttrsOf<A>>(&attr_schema<A>(), A{})); };
  return schema;
}

/// Wraps a filled struct: make_attrs(SoftmaxAttrs{.axis = 1}).
template <class A>
Attrs make_attrs(A value) {
  return make_ref<const AttrsOf<A>>(&attr_schema<A>(), std::move(value));
}

}  // namespace baton
