// Attributes: `key=value` in calls and functions.
#include "baton/text/diagnostics.h"
#include "baton/text/literal.h"
#include "baton/text/parser_impl.h"

namespace baton::text {

namespace {

// Words that are keywords elsewhere may name an attribute: type="...".
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
      break;
    case TokenKind::kMeta:
      not_yet("`" + std::string(start.text) + "` as an attribute");
    default:
      break;
  }
  fail_expected("the value of an attribute");
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

// `key=value`s up to something else; the commas between them may be left out.
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

// From the keywords just read. Mistakes are reported; the call is made all the same.
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
      report(kBadAttr, keyword.span, {name, op->def->name, field->expects, attr_text(keyword.value)});
    }
  }
  return attrs;
}

}  // namespace baton::text
