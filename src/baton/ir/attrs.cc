#include "baton/ir/attrs.h"

#include <cmath>
#include <cstdio>

#include "baton/support/diagnostic.h"
#include "baton/support/hash.h"

namespace baton {

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
  if (const double* number = value.as<double>()) hash.add_double(*number);
  if (const std::string* text = value.as<std::string>()) hash.add_text(*text);
  if (const DType* dtype = value.as<DType>()) hash.add_text(dtype->str());
  if (const AttrList* list = value.as<AttrList>()) {
    hash.add(list->size());
    for (const AttrValue& item : *list) hash.add(attr_hash(item));
  }
  if (const AttrObjectRef* object = value.as<AttrObjectRef>()) hash.add(object->object->hash());
  return hash.value();
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
      throw Error("attribute `" + name + "` of " + schema.type_key + " expects " + field->expects + ", got " +
                  attr_text(value));
  }
  return attrs;
}

namespace attr {
std::string concat(std::string_view a, std::string_view b) {
  std::string text(a);
  text += b;
  return text;
}

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
}  // namespace attr

}  // namespace baton
