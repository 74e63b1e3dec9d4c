// Types.
#include <charconv>

#include "baton/ir/attr_objects.h"
#include "baton/support/error.h"
#include "baton/text/diagnostics.h"
#include "baton/text/parser_impl.h"

namespace baton::text {

const std::vector<std::string>& type_names() {
  static const std::vector<std::string> names = {"Tensor",  "bool",    "int8",    "int16",   "int32",
                                                 "int64",   "uint8",   "uint16",  "uint32",  "uint64",
                                                 "float16", "float32", "float64", "bfloat16"};
  return names;
}

Type Parser::type() {
  const Deeper deeper(*this);
  const Token start = token_;
  switch (start.kind) {
    case TokenKind::kUnderscore:
      advance();
      return incomplete_type();
    case TokenKind::kLeftParen:
      return tuple_type_rest();
    case TokenKind::kFn:
      return func_type_rest();
    case TokenKind::kRef: {
      advance();
      expect(TokenKind::kLeftParen);
      Type value = type();
      expect(TokenKind::kRightParen);
      return ref_type(std::move(value));
    }
    case TokenKind::kMeta: {
      if (!start.text.starts_with("meta[IncompleteType]")) not_yet("`" + std::string(start.text) + "`");
      advance();
      Type& known = meta_types_[start.text];
      if (!known) known = incomplete_type();
      return known;
    }
    case TokenKind::kIdent:
      break;
    default:
      fail_expected("a type");
  }
  if (start.text == "Tensor") return tensor_type_rest();
  if (const std::optional<DType> dtype = DType::parse(start.text)) {
    advance();
    return scalar_type(*dtype);
  }
  return named_type();
}

// Whether `[(` and an extent follow, which only tensor types have.
bool Parser::at_shape() const {
  if (!at(TokenKind::kLeftSquare) || !next_.is(TokenKind::kLeftParen)) return false;
  const char* next = next_.text.data() + 1;
  const char* end = source_->text().data() + text_end_;
  while (next < end && *next == ' ') ++next;
  return next < end && (*next == '?' || *next == '-' || (*next >= '0' && *next <= '9'));
}

// A type variable in scope, or a data type with its arguments; `Color` abbreviates `Color[]`.
Type Parser::named_type() {
  const Token name = token_;
  advance();
  for (auto var = type_vars_.rbegin(); var != type_vars_.rend(); ++var)
    if (var->first == name.text) return Type(var->second);
  if (at_shape()) {  // `Tensr[(2, 3), float32]`
    report(kUnknownType, lexer_.span(name), {std::string(name.text), suggestion(name.text, type_names())});
    const size_t outside = open_brackets_;
    do advance();
    while (open_brackets_ > outside && !at(TokenKind::kSemicolon) && !at(TokenKind::kEnd));
    return incomplete_type();
  }
  std::vector<Type> args;
  if (accept(TokenKind::kLeftSquare)) args = types_until(TokenKind::kRightSquare, nullptr);
  type_uses_.push_back({name, args.size()});
  if (module_) return type_call(Type(module_->global_type_var(std::string(name.text))), std::move(args));
  GlobalTypeVar& var = global_type_vars_[name.text];
  if (!var) var = global_type_var(std::string(name.text));
  return type_call(Type(var), std::move(args));
}

// Tensor[(1, ?, 3), float32]
Type Parser::tensor_type_rest() {
  advance();
  expect(TokenKind::kLeftSquare);
  expect(TokenKind::kLeftParen);
  std::vector<Dim> shape;
  while (!at(TokenKind::kRightParen)) {
    shape.push_back(extent());
    if (!accept(TokenKind::kComma)) break;
  }
  if (!at(TokenKind::kRightParen)) fail_expected("`,` or `)`");
  advance();
  expect(TokenKind::kComma);
  const Token name = expect(TokenKind::kIdent, "an element type");
  const std::optional<DType> dtype = DType::parse(name.text);
  if (!dtype)
    report(kBadDType, lexer_.span(name), {std::string(name.text), suggestion(name.text, type_names())});
  expect(TokenKind::kRightSquare);
  return tensor_type(std::move(shape), dtype.value_or(DType::float_(32)));
}

Dim Parser::extent() {
  if (accept(TokenKind::kQuestion)) return Dim::any();
  if (at(TokenKind::kMeta)) return meta_extent();
  const Token token = expect(TokenKind::kNumber, "an extent: an integer or `?`");
  int64_t value = 0;
  const char* end = token.text.data() + token.text.size();
  const auto [stop, error] = std::from_chars(token.text.data(), end, value);
  if (error == std::errc::result_out_of_range)
    report(kOutOfRange, lexer_.span(token), {"`" + std::string(token.text) + "`", "int64"});
  else if (error != std::errc() || stop != end)
    report(kBadInteger, lexer_.span(token), {"`" + std::string(token.text) + "`", "extents are integers"});
  else if (value < 0)
    report(kNegativeExtent, lexer_.span(token), {std::string(token.text)});
  else
    return Dim(value);
  return Dim::any();
}

// meta[tir.Var][0], meta[tir.Add][0], ...; `?` after a report.
Dim Parser::meta_extent() {
  const Token token = token_;
  advance();
  const MetaRef ref = meta_reference(token);
  if (!has_metadata(ref, token)) return Dim::any();
  try {
    const MetaObject* given = given_metadata(ref);
    const ExtentAttr* symbolic = given ? given->value.object<ExtentAttr>() : nullptr;
    const int64_t* number = given ? given->value.as<int64_t>() : nullptr;
    if (given && !symbolic && !number) throw Error(std::string(token.text) + " is no extent");
    const Dim dim = symbolic ? symbolic->dim()
                    : number ? Dim(*number)
                             : metadata_->extent(ref.key, ref.index);
    if (dim.is_any() || dim.value() >= 0) return dim;
    report(kNegativeExtent, lexer_.span(token), {std::to_string(dim.value())});
  } catch (const Error& what) {
    report(kBadMetadata, lexer_.span(token), {what.what()});
  }
  return Dim::any();
}

std::vector<Type> Parser::types_until(TokenKind close, bool* trailing_comma) {
  std::vector<Type> types;
  bool comma = true;
  while (comma && !at(close)) {
    types.push_back(type());
    comma = accept(TokenKind::kComma);
  }
  if (!at(close)) fail_expected("`,` or " + std::string(describe(close)));
  advance();
  if (trailing_comma) *trailing_comma = comma;
  return types;
}

// (T1, T2), (T,), (); (T) is T
Type Parser::tuple_type_rest() {
  advance();
  bool comma = false;
  std::vector<Type> fields = types_until(TokenKind::kRightParen, &comma);
  if (fields.size() == 1 && !comma) return fields[0];
  return tuple_type(std::move(fields));
}

// fn (T1, T2) -> R, fn [A](A) -> A
Type Parser::func_type_rest() {
  advance();
  const size_t outer = type_vars_.size();
  std::vector<TypeVar> type_params = generics();
  expect(TokenKind::kLeftParen);
  std::vector<Type> params = types_until(TokenKind::kRightParen, nullptr);
  expect(TokenKind::kArrow);
  Type result = type();
  type_vars_.resize(outer);
  return func_type(std::move(params), std::move(result), std::move(type_params));
}

}  // namespace baton::text
