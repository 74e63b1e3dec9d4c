// Attributes: `key=value` in calls and functions.
#include <algorithm>
#include <charconv>

#include "baton/ir/placement.h"
#include "baton/text/diagnostics.h"
#include "baton/text/literal.h"
#include "baton/text/parser_impl.h"

namespace baton::text {

namespace {

// Keywords that are allowed as attribute names: type="...".
bool names_attribute(TokenKind kind) {
  switch (kind) {
    case TokenKind::kIdent:
    case TokenKind::kLet:
    case TokenKind::kFn:
    case TokenKind::kDef:
    case TokenKind::kIf:
    case TokenKind::kElse:
    case TokenKind::kType:
    case TokenKind::kMatch:
    case TokenKind::kExtern:
    case TokenKind::kRef:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool Parser::at_attribute() const { return next_.is(TokenKind::kAssign) && names_attribute(token_.kind); }

Parser::Argument Parser::attribute() {
  const Token name = token_;
  advance();
  advance();
  const Token start = token_;
  AttrValue value = attr_value();
  return {name, std::move(value), span_since(start)};
}

AttrValue Parser::attr_value() {
  const Deeper deeper(*this);
  const Token start = token_;
  switch (start.kind) {
    case TokenKind::kNumber: {
      advance();
      const std::optional<Number> number = parse_number(start, lexer_.span(start), engine_);
      if (!number) return AttrValue(int64_t{0});
      return number->dtype.is_float() ? AttrValue(number->real) : AttrValue(number->integer);
    }
    case TokenKind::kTrue:
      advance();
      return AttrValue(true);
    case TokenKind::kFalse:
      advance();
      return AttrValue(false);
    case TokenKind::kString:
      if (start.text[0] != '"') break;
      advance();
      return AttrValue(unquote(start.text));
    case TokenKind::kLeftSquare: {
      advance();
      AttrList list;
      while (!at(TokenKind::kRightSquare)) {
        list.push_back(attr_value());
        if (!accept(TokenKind::kComma)) break;
      }
      if (!at(TokenKind::kRightSquare)) fail_expected("`,` or `]`");
      advance();
      return AttrValue(std::move(list));
    }
    case TokenKind::kLeftParen: {
      advance();
      AttrValue value = attr_value();
      expect(TokenKind::kRightParen);
      return value;
    }
    case TokenKind::kIdent:
      if (start.text == "None" || start.text == "nullptr") {
        advance();
        return AttrValue();
      }
      if (start.text == "VirtualDevice") return virtual_device();
      break;
    case TokenKind::kMeta:
      advance();
      return meta_value(start);
    case TokenKind::kLocal:
    case TokenKind::kGlobal:  // expressions, as in arange
      return expr_attr(atomic());
    default:
      break;
  }
  fail_expected("the value of an attribute");
}

// ---- References to the metadata section

// meta[relay.Constant][0]
Parser::MetaRef Parser::meta_reference(const Token& token) {
  const std::string_view text = token.text.substr(5);
  const std::string_view key = text.substr(0, text.find(']'));
  const std::string_view digits = text.substr(key.size() + 2, text.size() - key.size() - 3);
  size_t index = SIZE_MAX;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size())
    fail(kExpected, lexer_.span(token), {"meta[type][index]", "`" + std::string(token.text) + "`"});
  return {std::string(key), index};
}

// An object passed to parse_module, or null.
const MetaObject* Parser::given_metadata(const MetaRef& ref) const {
  const auto at = given_metadata_.find(ref.key);
  const size_t own = own_metadata(ref.key);
  if (at == given_metadata_.end() || ref.index < own || ref.index - own >= at->second.size()) return nullptr;
  return &at->second[ref.index - own];
}

bool Parser::has_metadata(const MetaRef& ref, const Token& token) {
  if (ref.index < own_metadata(ref.key) || given_metadata(ref)) return true;
  const auto given = given_metadata_.find(ref.key);
  const size_t count = own_metadata(ref.key) + (given == given_metadata_.end() ? 0 : given->second.size());
  const std::string hint = metadata_ || !given_metadata_.empty()
                               ? "it has " + std::to_string(count) + " of them"
                               : "the text has no #[metadata] section: print it with its metadata";
  report(kNoMetadata, lexer_.span(token), {std::string(token.text), hint});
  return false;
}

AttrValue Parser::meta_value(const Token& token) {
  const MetaRef ref = meta_reference(token);
  if (ref.key == "relay.Constant") return expr_attr(meta_constant(token));
  if (!has_metadata(ref, token)) return {};
  if (const MetaObject* given = given_metadata(ref)) return given->value;
  AttrValue& known = meta_values_[std::string(token.text)];  // equal references share one object
  if (!known.is_none()) return known;
  try {
    known = metadata_->value(ref.key, ref.index);
  } catch (const Error& what) {
    report(kBadMetadata, lexer_.span(token), {what.what()});
  }
  return known;
}

Attrs Parser::meta_attrs(const OpEntry* op, const Token& token) {
  const MetaRef ref = meta_reference(token);
  if (!op || !op->def) {
    if (!op) report(kAttrOfFunction, lexer_.span(token), {std::string(token.text)});
    return {};
  }
  const AttrSchema* schema = op->def->attrs;
  if (!schema || schema->type_key != ref.key) {
    report(kWrongAttrsType, lexer_.span(token), {op->def->name, schema ? schema->type_key : "none", ref.key});
    return op->defaults;
  }
  if (!has_metadata(ref, token)) return op->defaults;
  if (const MetaObject* given = given_metadata(ref)) return given->attrs ? given->attrs : op->defaults;
  try {
    return metadata_->attrs(*schema, ref.index);
  } catch (const Error& what) {
    report(kBadMetadata, lexer_.span(token), {what.what()});
    return op->defaults;
  }
}

// VirtualDevice(device_type=2, virtual_device_id=0), VirtualDevice(?): its printed form.
AttrValue Parser::virtual_device() {
  advance();
  expect(TokenKind::kLeftParen);
  VirtualDevice device;
  if (!accept(TokenKind::kQuestion)) {
    while (!at(TokenKind::kRightParen)) {
      const Token name = expect(TokenKind::kIdent, "`device_type`, `virtual_device_id` or `memory_scope`");
      expect(TokenKind::kAssign);
      const Token start = token_;
      if (name.text == "target") {
        device.target = device_target();
        if (!accept(TokenKind::kComma)) break;
        continue;
      }
      const bool quoted = at(TokenKind::kString) && start.text[0] == '\'';
      if (quoted) advance();
      const AttrValue value =
          quoted ? AttrValue(std::string(start.text.substr(1, start.text.size() - 2))) : attr_value();
      bool good = name.text == "memory_scope" && value.as<std::string>();
      if (good) device.memory_scope = *value.as<std::string>();
      const int64_t* number = value.as<int64_t>();
      if (number && *number >= -1 && *number < 1 << 20 &&
          (name.text == "device_type" || name.text == "virtual_device_id")) {
        (name.text == "device_type" ? device.device_type : device.device_id) = static_cast<int>(*number);
        good = true;
      }
      if (!good)
        fail(kBadAttr, lexer_.span(start),
             {std::string(name.text), "VirtualDevice", "a small number, or a string as memory_scope",
              attr_text(value)});
      if (!accept(TokenKind::kComma)) break;
    }
  }
  expect(TokenKind::kRightParen);
  return virtual_device_attr(std::move(device));
}

// Target(id=?, kind='llvm', keys={'cpu'}): parsed by Target itself.
TargetRef Parser::device_target() {
  const Token start = expect(TokenKind::kIdent, "`Target(...)`");
  int open = 0;
  Token last = token_;
  do {
    if (at(TokenKind::kEnd)) fail_expected("`)`");
    open += at(TokenKind::kLeftParen) - at(TokenKind::kRightParen);
    last = token_;
    advance();
  } while (open > 0);
  const std::string text(start.text.data(), last.text.data() + last.text.size());
  TargetRef target = Target::from_text(text);
  if (!target)
    fail(kBadAttr, lexer_.span(start),
         {"target", "VirtualDevice", "a target such as Target(id=?, kind='llvm', keys={'cpu'})",
          "`" + text + "`"});
  return target;
}

// %x {virtual_device=...}
VirtualDevice Parser::param_device() {
  expect(TokenKind::kLeftBrace);
  const Token start = token_;
  const FunctionAttrs attrs = function_attrs();
  expect(TokenKind::kRightBrace);
  for (const auto& [name, value] : attrs)
    if (const auto* device = value.object<VirtualDeviceAttr>();
        device && name == kResultDevice && attrs.size() == 1)
      return device->device();
  fail(kExpected, lexer_.span(start),
       {"`virtual_device=` and a virtual device", "`" + std::string(start.text) + "`"});
}

void Parser::check_duplicates(const std::vector<Argument>& arguments) {
  for (size_t i = 1; i < arguments.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (arguments[k].name.text == arguments[i].name.text) {
        report(kDuplicateAttr, lexer_.span(arguments[i].name), {std::string(arguments[i].name.text)})
            .label(lexer_.span(arguments[k].name), "the first one");
        break;
      }
}

// `key=value` pairs up to another token; commas between them are optional.
FunctionAttrs Parser::function_attrs() {
  keywords_.clear();
  while (at_attribute()) {
    keywords_.push_back(attribute());
    accept(TokenKind::kComma);
  }
  check_duplicates(keywords_);
  FunctionAttrs attrs;
  for (Argument& keyword : keywords_)
    attrs.emplace_back(std::string(keyword.name.text), std::move(keyword.value));
  return attrs;
}

// As in TVM, a call with attributes has all those that are without a default.
void Parser::check_complete(const OpDef& op, const AttrSchema& schema) {
  for (const AttrField& field : schema.fields) {
    const auto names_it = [&](const Argument& keyword) { return keyword.name.text == field.name; };
    if (field.default_value || std::ranges::any_of(keywords_, names_it)) continue;
    report(kMissingAttr, lexer_.span(keywords_[0].name),
           {op.name, field.name, "`" + field.name + "=` takes " + field.type->expects});
    return;
  }
}

// Built from the keywords just parsed. Reports errors, but the call is made regardless.
Attrs Parser::call_attrs(const OpEntry* op) {
  if (keywords_.empty()) return op ? op->defaults : Attrs();
  check_duplicates(keywords_);
  if (!op) {
    report(kAttrOfFunction, lexer_.span(keywords_[0].name), {std::string(keywords_[0].name.text)});
    return {};
  }
  if (!op->def) return {};
  const AttrSchema* schema = op->def->attrs;
  Ref<AttrsNode> attrs = schema ? schema->make() : Ref<AttrsNode>();
  for (const Argument& keyword : keywords_) {
    const std::string name(keyword.name.text);
    if (name == "attrs_type_key" && keyword.value.as<std::string>()) {
      const std::string& type_key = *keyword.value.as<std::string>();
      if (!schema || schema->type_key != type_key)
        report(kWrongAttrsType, keyword.span, {op->def->name, schema ? schema->type_key : "none", type_key});
      continue;
    }
    const AttrField* field = schema ? schema->find(name) : nullptr;
    if (!field) {
      std::vector<std::string> names;
      if (schema)
        for (const AttrField& known : schema->fields) names.push_back(known.name);
      std::string hint = suggestion(name, names);
      if (hint.empty() && !names.empty()) {
        hint = "it has";
        for (const std::string& known : names) hint += (hint == "it has" ? " " : ", ") + known;
      }
      report(kUnknownAttr, lexer_.span(keyword.name), {op->def->name, name, hint});
    } else if (!field->set(attrs->data(), keyword.value)) {
      report(kBadAttr, keyword.span, {name, op->def->name, field->type->expects, attr_text(keyword.value)});
    }
  }
  if (schema) check_complete(*op->def, *schema);
  return attrs;
}

}  // namespace baton::text
