#pragma once
// Attributes of operators. A struct's fields are declared once, in an AttrSchema (name, member, default,
// doc); parser, printer, Python, hashing and docs all read that declaration.
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "baton/support/base/dtype.h"
#include "baton/support/error.h"
#include "baton/support/ref.h"

namespace baton {

/// An attribute value without a literal form: an expression, a virtual device, ... (ir/attr_objects.h).
/// Printed as `meta[key][n]`.
class AttrObject : public RefCounted {
 public:
  virtual std::string type_key() const = 0;  ///< "VirtualDevice", "relay.Constant", ...
  virtual std::string text() const = 0;      ///< for display only; not parsed back
  virtual bool equals(const AttrObject& other) const = 0;
  virtual uint64_t hash() const = 0;
};
/// A reference to an AttrObject, compared by value.
struct AttrObjectRef {
  Ref<const AttrObject> object;  ///< never null
  friend bool operator==(const AttrObjectRef& a, const AttrObjectRef& b) {
    return a.object == b.object || a.object->equals(*b.object);
  }
};

/// The value of one attribute, as seen by text and Python. std::monostate is `None`.
struct AttrValue;
using AttrList = std::vector<AttrValue>;
struct AttrValue
    : std::variant<std::monostate, bool, int64_t, double, std::string, DType, AttrList, AttrObjectRef> {
  using Base =
      std::variant<std::monostate, bool, int64_t, double, std::string, DType, AttrList, AttrObjectRef>;
  AttrValue();
  template <class B>
    requires std::is_same_v<B, bool>  // no pointer
  AttrValue(B value) : AttrValue(value ? kTrue : kFalse) {}
  AttrValue(int64_t value);
  AttrValue(int value);
  AttrValue(double value);
  AttrValue(std::string value);
  AttrValue(const char* value);
  AttrValue(DType value);
  AttrValue(AttrList values);
  AttrValue(const std::vector<int64_t>& values);
  AttrValue(AttrObjectRef object);
  explicit AttrValue(Ref<const AttrObject> object);

  // Out of line, for a variant's are long and wanted everywhere.
  AttrValue(const AttrValue&);
  AttrValue(AttrValue&&) noexcept;
  AttrValue& operator=(const AttrValue&);
  AttrValue& operator=(AttrValue&&) noexcept;
  ~AttrValue();
  friend bool operator==(const AttrValue& a, const AttrValue& b);

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

 private:
  enum Flag : uint8_t { kFalse, kTrue };
  AttrValue(Flag flag);
};

/// Relay text: `2`, `0.1f`, `True`, `"NCHW"`, `"float32"` (a DType), `None`, `[1, 2]`.
std::string attr_text(const AttrValue& value);
uint64_t attr_hash(const AttrValue& value);

class AttrsNode;
using Attrs = Ref<const AttrsNode>;

/// Converts between a C++ member type and AttrValue.
struct AttrType {
  std::string expects;  ///< for errors: "an integer", "a list, each an integer", ...
  bool boxed = false;   ///< TVM's JSON stores the value as a separate node
  AttrValue (*get)(const void* member);
  bool (*set)(void* member, const AttrValue& value);  ///< false when the value has the wrong type
};

/// The AttrType of a member type. Supported types are listed twice: here, and in attr_types.cc, the only file
/// that compiles the conversions.
template <class M>
const AttrType& attr_type();

/// The AttrValue for a member of a supported type.
template <class M>
AttrValue attr_value(const M& value) {
  return attr_type<M>().get(&value);
}

/// One field.
struct AttrField {
  std::string name, doc;
  const AttrType* type = nullptr;
  size_t offset = 0;                       ///< byte offset of the member in the struct
  std::optional<AttrValue> default_value;  ///< none: always printed
  bool boxed = false;  ///< TVM's JSON stores the value as a separate node instead of inside the attributes'

  /// Access to the field in the struct held by an AttrsNode.
  AttrValue get(const void* data) const { return type->get(static_cast<const char*>(data) + offset); }
  bool set(void* data, const AttrValue& value) const {
    return type->set(static_cast<char*>(data) + offset, value);
  }
};

/// Marks a field without a default: it is always printed.
struct NoDefault {};
inline constexpr NoDefault kNoDefault{};
/// Marks a number that TVM stores as an object (Integer, Bool); only its JSON differs. Lists and optional
/// values are always objects.
struct Boxed {};
inline constexpr Boxed kBoxed{};

/// One field's declaration: {"axis", &SoftmaxAttrs::axis, "negative counts from the back"}. The default is
/// the member's initialiser, unless kNoDefault follows.
struct AttrDeclaration {
  const char *name, *doc;
  const AttrType* type;
  size_t offset;
  bool has_default = true, boxed = false;
};
/// The same for a member of struct A or of a base of A.
template <class A>
struct AttrSpec : AttrDeclaration {
  template <class B, class M>
  AttrSpec(const char* name, M B::* member, const char* doc)
      : AttrDeclaration{name, doc, &attr_type<M>(), offset_of<M>(member)} {}
  template <class B, class M>
  AttrSpec(const char* name, M B::* member, const char* doc, NoDefault) : AttrSpec(name, member, doc) {
    has_default = false;
  }
  template <class B, class M>
  AttrSpec(const char* name, M B::* member, const char* doc, Boxed) : AttrSpec(name, member, doc) {
    boxed = true;
  }

 private:
  /// The ABI representation of a pointer to data member in g++ and clang.
  template <class M>
  static size_t offset_of(M A::* member) {
    size_t offset;
    static_assert(sizeof member == sizeof offset);
    std::memcpy(&offset, &member, sizeof offset);
    return offset;
  }
};

/// All fields of one attribute struct, and a factory for a default instance.
struct AttrSchema {
  std::string type_key;  ///< "relay.attrs.Conv2DAttrs"
  std::vector<AttrField> fields;
  Ref<AttrsNode> (*make)() = nullptr;

  /// `defaults`: a default-constructed instance of the struct.
  void add(const AttrDeclaration& field, const void* defaults);
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

/// The struct behind `attrs`; InternalError when it has another type.
template <class A>
const A& attrs_as(const Attrs& attrs) {
  const auto* typed = dynamic_cast<const AttrsOf<A>*>(attrs.get());
  BATON_CHECK(typed, attrs ? "attributes are " + attrs->schema().type_key : std::string("no attributes"));
  return typed->value();
}

/// Whether two attribute sets have the same type and values. Two nulls are equal.
bool same_attrs(const Attrs& a, const Attrs& b);
uint64_t attrs_hash(const Attrs& attrs);

/// A new attribute set from named values. Throws Error for an unknown name or a value of the wrong type.
Attrs make_attrs(const AttrSchema& schema, const std::vector<std::pair<std::string, AttrValue>>& values);

/// The schema of attribute struct A, declared once:
///   template <> const AttrSchema& attr_schema<SoftmaxAttrs>() {
///     static const AttrSchema schema = make_schema<SoftmaxAttrs>("relay.attrs.SoftmaxAttrs", {{"axis",
///     ...}}); return schema;
///   }
template <class A>
const AttrSchema& attr_schema();

template <class A, class Specs = std::initializer_list<AttrSpec<A>>>
AttrSchema make_schema(std::string type_key, const Specs& specs) {
  const A defaults{};
  AttrSchema schema{
      std::move(type_key), {}, [] { return Ref<AttrsNode>(make_ref<AttrsOf<A>>(&attr_schema<A>(), A{})); }};
  for (const AttrSpec<A>& spec : specs) schema.add(spec, &defaults);
  return schema;
}

/// Wraps a filled struct: make_attrs(SoftmaxAttrs{.axis = 1}).
template <class A>
Attrs make_attrs(A value) {
  return make_ref<const AttrsOf<A>>(&attr_schema<A>(), std::move(value));
}

}  // namespace baton
