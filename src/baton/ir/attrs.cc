#include "baton/ir/attrs.h"

#include <cmath>
#include <cstdio>
#include <limits>

#include "baton/support/diagnostic.h"
#include "baton/support/hash.h"

namespace baton {

AttrValue::AttrValue() = default;
AttrValue::AttrValue(Flag flag) : Base(flag == kTrue) {}
AttrValue::AttrValue(int64_t value) : Base(value) {}
AttrValue::AttrValue(int value) : Base(static_cast<int64_t>(value)) {}
AttrValue::AttrValue(double value) : Base(value) {}
AttrValue::AttrValue(std::string value) : Base(std::move(value)) {}
AttrValue::AttrValue(const char* value) : Base(std::string(value)) {}
AttrValue::AttrValue(DType value) : Base(value) {}
AttrValue::AttrValue(AttrList values) : Base(std::move(values)) {}
AttrValue::AttrValue(const std::vector<int64_t>& values) : Base(AttrList(values.begin(), values.end())) {}
AttrValue::AttrValue(AttrObjectRef object) : Base(std::move(object)) {}
AttrValue::AttrValue(Ref<const AttrObject> object) : Base(AttrObjectRef{std::move(object)}) {}
AttrValue::AttrValue(const AttrValue&) = default;
AttrValue::AttrValue(AttrValue&&) noexcept = default;
AttrValue& AttrValue::operator=(const AttrValue&) = default;
AttrValue& AttrValue::operator=(AttrValue&&) noexcept = default;
AttrValue::~AttrValue() = default;
namespace {

/// `value` in the precision in which Relay's attributes are compared and printed: that of float32. Numbers
/// outside of its range stay as they are.
double narrowed(double value) {
  return std::fabs(value) <= std::numeric_limits<float>::max() ? static_cast<float>(value) : value;
}

}  // namespace

bool operator==(const AttrValue& a, const AttrValue& b) {
  const double *x = a.as<double>(), *y = b.as<double>();
  if (x && y) return narrowed(*x) == narrowed(*y);
  return static_cast<const AttrValue::Base&>(a) == static_cast<const AttrValue::Base&>(b);
}

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "\"";
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

std::string attr_text(const AttrValue& value) {
  struct Text {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool v) const { return v ? "True" : "False"; }
    std::string operator()(int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return number_text(v) + "f"; }
    std::string operator()(const std::string& v) const { return quoted(v); }
    std::string operator()(DType v) const { return quoted(v.str()); }
    std::string operator()(const AttrList& v) const {
      std::string out = "[";
      for (size_t i = 0; i < v.size(); ++i) out += (i ? ", " : "") + attr_text(v[i]);
      return out + "]";
    }
    std::string operator()(const AttrObjectRef& v) const { return v.object->text(); }
  };
  return std::visit(Text(), static_cast<const AttrValue::Base&>(value));
}

uint64_t attr_hash(const AttrValue& value) {
  Hasher hash(value.index() + 1);
  if (const bool* flag = value.as<bool>()) hash.add(*flag);
  if (const int64_t* number = value.as<int64_t>()) hash.add(static_cast<uint64_t>(*number));
  if (const double* number = value.as<double>()) hash.add_double(narrowed(*number));
  if (const std::string* text = value.as<std::string>()) hash.add_text(*text);
  if (const DType* dtype = value.as<DType>()) hash.add_text(dtype->str());
  if (const AttrList* list = value.as<AttrList>()) {
    hash.add(list->size());
    for (const AttrValue& item : *list) hash.add(attr_hash(item));
  }
  if (const AttrObjectRef* object = value.as<AttrObjectRef>()) hash.add(object->object->hash());
  return hash.value();
}

void AttrSchema::add(const AttrDeclaration& declared, const void* defaults) {
  AttrField& field = fields.emplace_back();
  field.name = declared.name;
  field.doc = declared.doc;
  field.type = declared.type;
  field.offset = declared.offset;
  field.boxed = declared.boxed || declared.type->boxed;
  if (declared.has_default) field.default_value = field.get(defaults);
}

const AttrField* AttrSchema::find(std::string_view name) const {
  for (const AttrField& field : fields)
    if (field.name == name) return &field;
  return nullptr;
}

AttrValue AttrsNode::get(std::string_view name) const {
  const AttrField* field = schema().find(name);
  return field ? field->get(data()) : AttrValue();
}

bool same_attrs(const Attrs& a, const Attrs& b) {
  if (a == b) return true;
  if (!a || !b || &a->schema() != &b->schema()) return false;
  for (const AttrField& field : a->schema().fields)
    if (field.get(a->data()) != field.get(b->data())) return false;
  return true;
}

uint64_t attrs_hash(const Attrs& attrs) {
  if (!attrs) return 0;
  Hasher hash;
  hash.add_text(attrs->schema().type_key);
  for (const AttrField& field : attrs->schema().fields) hash.add(attr_hash(field.get(attrs->data())));
  return hash.value();
}

Attrs make_attrs(const AttrSchema& schema, const std::vector<std::pair<std::string, AttrValue>>& values) {
  Ref<AttrsNode> attrs = schema.make();
  for (const auto& [name, value] : values) {
    const AttrField* field = schema.find(name);
    if (!field) {
      std::vector<std::string> names;
      for (const AttrField& known : schema.fields) names.push_back(known.name);
      const std::string near = did_you_mean(name, names);
      std::string list;
      for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
      throw Error("there is no attribute `" + name + "` in " + schema.type_key +
                  (near.empty() ? "" : "; did you mean `" + near + "`?") + " (it has: " + list + ")");
    }
    if (!field->set(attrs->data(), value))
      throw Error("attribute `" + name + "` of " + schema.type_key + " expects " + field->type->expects +
                  ", got " + attr_text(value));
  }
  return attrs;
}

}  // namespace baton
