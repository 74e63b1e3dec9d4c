#include "baton/text/json/json_common.h"

#include <unordered_map>

#include "baton/text/json/json_keys.h"

namespace baton::text {

const AttrSchema* find_schema(std::string_view type_key) {
  static const std::unordered_map<std::string_view, const AttrSchema*> all = [] {
    std::unordered_map<std::string_view, const AttrSchema*> by_key;
    for (const OpDef* op : all_ops())
      if (op->attrs) by_key.try_emplace(op->attrs->type_key, op->attrs);
    return by_key;
  }();
  const auto at = all.find(type_key);
  return at == all.end() ? nullptr : at->second;
}

Attrs fitting_attrs(const Expr& callee, Attrs attrs) {
  const auto* op = as<OpNode>(callee);
  if (!op) return attrs;
  const AttrSchema* schema = op->def().attrs;
  if (!schema && !attrs) return attrs;
  if (!schema)
    throw Error("operator `" + op->name() + "` has no attributes, found " + attrs->schema().type_key);
  if (!attrs) return schema->make();
  if (attrs->schema().type_key != schema->type_key)
    throw Error("operator `" + op->name() + "` has attributes of type " + schema->type_key + ", found " +
                attrs->schema().type_key);
  if (&attrs->schema() == schema) return attrs;
  std::vector<std::pair<std::string, AttrValue>> values;
  for (const AttrField& field : attrs->schema().fields)
    values.emplace_back(field.name, field.get(attrs->data()));
  return make_attrs(*schema, values);
}

DType dtype_named(std::string_view name) {
  const std::optional<DType> dtype = DType::parse(name);
  if (!dtype) throw Error("there is no element type `" + std::string(name.substr(0, 40)) + "`");
  return *dtype;
}

void TypeSizes::add(Size& outer, const Size& inner) {
  outer.depth = std::max(outer.depth, inner.depth + 1);
  outer.parts += inner.parts;
  if (outer.depth > kMaxJsonNesting)
    throw Error("a type is nested more than " + std::to_string(kMaxJsonNesting) + " deep");
  if (outer.parts > 1'000'000) throw Error("a type has more than 1000000 parts");
}

void TypeSizes::use(uint64_t parts) {
  if (parts > budget_) throw Error("the types and sets of origins of this program are too large together");
  budget_ -= parts;
}

void check_names(size_t names, size_t nodes) {
  if (names > nodes + 1000)
    throw Error(std::to_string(names) + " functions have names, but there are " + std::to_string(nodes) +
                " nodes");
}

void check_constructor(const IRModuleNode& module, const ConstructorNode& constructor) {
  const TypeData type = module.find_type(constructor.belongs_to()->name());
  const auto tag = static_cast<size_t>(constructor.tag());
  if (type && (tag >= type->constructors().size() || type->constructors()[tag].get() != &constructor))
    throw Error("constructor `" + constructor.name().substr(0, 80) + "` is none of those that `" +
                type->header()->name().substr(0, 80) + "` has");
}

}  // namespace baton::text

namespace baton {

Saved from_json(std::string_view bytes, bool types) {
  const text::JsonTape tape(bytes, {text::kJsonKeys.begin(), text::kJsonKeys.end()});
  using Key = text::JsonKey;
  if (!tape.is(text::JsonTape::kRoot, text::JsonTape::Kind::kObject))
    throw Error("expected an object, found " + tape.shown(0));
  if (tape.find(text::JsonTape::kRoot, static_cast<uint32_t>(Key::kFormat)))
    return text::read_baton_json(tape, bytes.size(), types);
  const auto nodes = tape.find(text::JsonTape::kRoot, static_cast<uint32_t>(Key::kNodes));
  const auto root = tape.find(text::JsonTape::kRoot, static_cast<uint32_t>(Key::kRoot));
  if (nodes && root) return text::read_tvm_json(tape, bytes.size());
  throw Error(
      "this JSON holds no module: there is neither `format`, as in Baton's own, nor `root` and `nodes`, as "
      "in TVM's");
}

}  // namespace baton
