#include "baton/text/parser.h"

#include <algorithm>
#include <cstdio>

#include "baton/ir/placement.h"
#include "baton/text/diagnostics.h"
#include "baton/text/parser_impl.h"

namespace baton::text {

namespace {

constexpr std::string_view kMetadataMark = "#[metadata]";

// The section begins a line; everything after it is JSON.
size_t find_metadata(std::string_view text) {
  for (size_t at = text.find(kMetadataMark); at != std::string_view::npos;
       at = text.find(kMetadataMark, at + 1)) {
    size_t before = at;
    while (before > 0 && (text[before - 1] == ' ' || text[before - 1] == '\t')) --before;
    if (before == 0 || text[before - 1] == '\n') return at;
  }
  return std::string_view::npos;
}

// Diagnostics quote source lines, which must therefore be valid UTF-8.
std::string without_bad_bytes(std::string text) {
  for (size_t at = 0, bad;
       (bad = find_bad_utf8(std::string_view(text).substr(at))) != std::string_view::npos;) {
    at += bad;
    text[at] = '?';
  }
  return text;
}

Span span_at(const Ref<const Source>& source, size_t offset) {
  const std::string_view before = std::string_view(source->text()).substr(0, offset);
  const uint32_t line = static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  const uint32_t column = static_cast<uint32_t>(offset - start) + 1;
  return Span{source, line, column, line, column + 1};
}

bool opens(TokenKind kind) {
  return kind == TokenKind::kLeftParen || kind == TokenKind::kLeftBrace || kind == TokenKind::kLeftSquare;
}
bool closes(TokenKind kind) {
  return kind == TokenKind::kRightParen || kind == TokenKind::kRightBrace || kind == TokenKind::kRightSquare;
}

}  // namespace

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string near = did_you_mean(name, candidates);
  return near.empty() ? "" : "did you mean `" + near + "`?";
}

Parser::Deeper::Deeper(Parser& parser) : parser_(parser) {
  if (++parser.depth_ <= kMaxDepth) return;
  // Continuing after a thousand open brackets would only report spurious errors.
  parser.report(kTooDeep, parser.lexer_.span(parser.token_), {std::to_string(kMaxDepth)});
  parser.engine_.raise_errors();
}

Parser::Parser(std::string text, std::string source_name, IRModule module, MetaTable metadata)
    : source_([&] {
        const size_t bad = find_bad_utf8(text);
        std::string shown;
        if (bad != std::string_view::npos) {
          char byte[8];
          std::snprintf(byte, sizeof byte, "\\x%02x", static_cast<unsigned char>(text[bad]));
          shown = byte;
          text = without_bad_bytes(std::move(text));
        }
        auto source = make_ref<const Source>(std::move(source_name), std::move(text));
        if (!shown.empty()) engine_.report(kBadUtf8, span_at(source, bad), {shown});
        return source;
      }()),
      text_end_(std::min(find_metadata(source_->text()), source_->text().size())),
      lexer_(source_, text_end_, engine_),
      origins_(std::string_view(source_->text()).substr(0, text_end_), parse_attributes),
      init_(std::move(module)),
      given_metadata_(std::move(metadata)) {
  if (init_)
    for (const auto& [name, type] : init_->type_defs())
      for (const Constructor& each : type->constructors()) constructors_.emplace(each->name(), each);
  if (source_->text().size() > UINT32_MAX)
    engine_.report(kTooLong, Span{}, {std::to_string(source_->text().size())});
  engine_.raise_errors();
  if (text_end_ < source_->text().size()) {
    try {
      metadata_ = std::make_unique<MetadataReader>(
          std::string_view(source_->text()).substr(text_end_ + kMetadataMark.size()));
    } catch (const Error& error) {
      Span span = span_at(source_, text_end_);
      span.end_column += static_cast<uint32_t>(kMetadataMark.size()) - 1;
      engine_.report(kBadMetadata, span, {error.what()});
    }
  }
  token_ = lexer_.next();
  next_ = lexer_.next();
}

// ---- Tokens

void Parser::advance() {
  if (opens(token_.kind)) {
    if (at(TokenKind::kLeftBrace)) braces_.push_back(open_brackets_);
    ++open_brackets_;
  } else if (closes(token_.kind) && open_brackets_ > 0) {
    close_brackets(open_brackets_ - 1);
  }
  last_line_ = token_.line;
  last_column_ = token_.end_column();
  token_ = next_;
  if (!token_.is(TokenKind::kEnd)) next_ = lexer_.next();
}

void Parser::close_brackets(size_t left) {
  open_brackets_ = std::min(left, open_brackets_);
  while (!braces_.empty() && braces_.back() >= open_brackets_) braces_.pop_back();
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind)) return false;
  advance();
  return true;
}

Token Parser::expect(TokenKind kind) { return expect(kind, describe(kind)); }

Token Parser::expect(TokenKind kind, std::string_view what) {
  if (!at(kind)) fail_expected(what);
  const Token token = token_;
  advance();
  return token;
}

void Parser::fail_expected(std::string_view what) {
  if (at(TokenKind::kUnknown)) throw Recover();
  std::string found(describe(token_.kind));
  switch (token_.kind) {
    case TokenKind::kIdent:
    case TokenKind::kLocal:
    case TokenKind::kGraph:
    case TokenKind::kGlobal:
    case TokenKind::kNumber:
    case TokenKind::kMeta:
      found += " `" + std::string(token_.text) + "`";
      break;
    default:
      break;
  }
  fail(kExpected, lexer_.span(token_), {std::string(what), found});
}

Diagnostic& Parser::report(const DiagnosticDef& def, const Span& span,
                           const std::vector<std::string>& values) {
  if (engine_.diagnostics().size() >= kMaxErrors) {
    engine_.report(kTooManyErrors, Span{}, {std::to_string(kMaxErrors)});
    engine_.raise_errors();
  }
  return engine_.report(def, span, values);
}

void Parser::fail(const DiagnosticDef& def, const Span& span, const std::vector<std::string>& values) {
  report(def, span, values);
  throw Recover();
}

void Parser::not_yet(std::string_view what) { fail(kNotYet, lexer_.span(token_), {std::string(what)}); }

// Skips to the `;` that ends the statement, or to the `}` that ends its block. `brackets`: the nesting depth
// at its start.
void Parser::skip_statement(size_t brackets) {
  while (!at(TokenKind::kEnd) && !at(TokenKind::kDef)) {
    const bool inside = !braces_.empty() && braces_.back() >= brackets;  // in a block opened by the statement
    if (!inside && (at(TokenKind::kSemicolon) || at(TokenKind::kRightBrace))) {
      close_brackets(brackets);
      return;
    }
    if (inside && at(TokenKind::kRightBrace)) close_brackets(braces_.back() + 1);
    advance();
  }
}

void Parser::skip_to_definition() {
  while (!at(TokenKind::kEnd) && !at(TokenKind::kDef) && !at(TokenKind::kType) && !at(TokenKind::kExtern))
    advance();
  close_brackets(0);
}

// ---- Modules

IRModule Parser::module() {
  module_ = init_ ? init_->copy() : make_module();
  try {
    version(true);
  } catch (const Recover&) {
    skip_to_definition();
  }
  while (!at(TokenKind::kEnd)) {
    try {
      definition();
    } catch (const Recover&) {
      accept(TokenKind::kExtern);
      accept(TokenKind::kType);
      skip_to_definition();
    }
  }
  finish_globals();
  finish_types();
  engine_.raise_errors();
  origins_.enter(*module_);
  for (Definition& each : definitions_)
    module_->set(std::string(each.name.text.substr(1)), std::move(each.function));
  return module_;
}

Expr Parser::single_expr() {
  Expr expr;
  try {
    version(false);
    scope_.open_block();
    expr = sequence(Place::kBlock);
    if (!at(TokenKind::kEnd)) fail_expected("an operator or the end of the text");
  } catch (const Recover&) {
  }
  engine_.raise_errors();
  return expr;
}

Type Parser::single_type() {
  Type result;
  try {
    result = type();
    if (!at(TokenKind::kEnd)) fail_expected("the end of the text");
  } catch (const Recover&) {
  }
  engine_.raise_errors();
  return result;
}

FunctionAttrs Parser::single_attributes() {
  FunctionAttrs attrs;
  try {
    attrs = function_attrs();
    if (!at(TokenKind::kEnd)) fail_expected("an attribute, `key=value`, or the end of the text");
  } catch (const Recover&) {
  }
  engine_.raise_errors();
  return attrs;
}

void Parser::version(bool required) {
  if (!at(TokenKind::kHash)) {
    if (required) {
      report(kNoVersion, lexer_.span(token_), {std::string(describe(token_.kind))});
      if (!at(TokenKind::kDef)) throw Recover();
    }
    return;
  }
  const Token token = token_;
  std::string_view text = token.text.substr(2);  // version = "0.0.5"]
  auto skip = [&text](std::string_view what) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (!text.starts_with(what)) return false;
    text.remove_prefix(what.size());
    return true;
  };
  if (!skip("version") || !skip("=") || !skip("\""))
    fail(kUnknownHash, lexer_.span(token), {"`" + std::string(token.text) + "`"});
  const std::string_view number = text.substr(0, text.find('"'));
  text.remove_prefix(number.size());
  if (!skip("\"") || !skip("]"))
    fail(kUnknownHash, lexer_.span(token), {"`" + std::string(token.text) + "`"});
  if (number != "0.0.5") report(kBadVersion, lexer_.span(token), {std::string(number)});
  advance();
}

void Parser::definition() {
  if (after_extern_) fail_expected("the end of the text: nothing may follow an extern type");
  if (at(TokenKind::kType)) {
    advance();
    return type_definition(false);
  }
  if (at(TokenKind::kExtern)) {
    advance();
    expect(TokenKind::kType);
    type_definition(true);
    after_extern_ = true;
    return;
  }
  if (at(TokenKind::kHash)) fail(kUnknownHash, lexer_.span(token_), {"`" + std::string(token_.text) + "`"});
  if (!at(TokenKind::kDef)) {
    const Token start = token_;
    advance();  // a later stray `def` must not stop here again
    if (start.is(TokenKind::kUnknown)) throw Recover();
    fail(kExpected, lexer_.span(start), {"`def`", std::string(describe(start.kind))});
  }
  advance();
  function_definition();
}

void Parser::function_definition() {
  const Token name = expect(TokenKind::kGlobal, "a name such as `@main`");
  const auto [at_name, fresh] = defined_.try_emplace(name.text, definitions_.size());
  if (!fresh)
    report(kDuplicateDef, lexer_.span(name), {std::string(name.text)})
        .label(lexer_.span(definitions_[at_name->second].name), "the first definition");
  const size_t slot = definitions_.size();
  definitions_.push_back({name, Function()});  // known from here on, even if its body has errors
  scope_.clear_graph();
  definitions_[slot].function = function_rest(name);
}

// `[A, B]` or nothing. The variables are in scope until type_vars_ is truncated.
std::vector<TypeVar> Parser::generics() {
  std::vector<TypeVar> vars;
  if (!accept(TokenKind::kLeftSquare)) return vars;
  do {
    const Token name = expect(TokenKind::kIdent, "the name of a type variable");
    vars.push_back(type_var(std::string(name.text)));
    type_vars_.emplace_back(name.text, vars.back());
  } while (accept(TokenKind::kComma));
  if (!at(TokenKind::kRightSquare)) fail_expected("`,` or `]`");
  advance();
  return vars;
}

// type List[A] { Cons(A, List[A]), Nil, }
void Parser::type_definition(bool is_extern) {
  const Token name = expect(TokenKind::kIdent, "the name of a type");
  const auto [known, fresh] = defined_types_.try_emplace(name.text, name);
  if (!fresh)
    report(kDuplicateDef, lexer_.span(name), {std::string(name.text)})
        .label(lexer_.span(known->second), "the first definition");
  else if (init_ && init_->find_type(std::string(name.text)))
    report(kDuplicateDef, lexer_.span(name), {std::string(name.text)});
  const size_t outer = type_vars_.size();
  std::vector<std::pair<std::string, std::vector<Type>>> constructors;
  std::vector<Token> names;
  std::vector<TypeVar> vars;
  try {
    vars = generics();
    if (is_extern && at(TokenKind::kLeftBrace))
      fail_expected("the end of the text: an extern type has no constructors");
    if (accept(TokenKind::kLeftBrace)) {
      while (!at(TokenKind::kRightBrace)) {
        constructor_definition(constructors, names);
        if (!accept(TokenKind::kComma)) break;
      }
      if (!at(TokenKind::kRightBrace)) fail_expected("`,` or `}`");
      advance();
    }
  } catch (const Recover&) {
    type_vars_.resize(outer);
    throw;
  }
  type_vars_.resize(outer);
  if (!fresh) return;
  const TypeData type = type_data(module_->global_type_var(std::string(name.text)), std::move(vars),
                                  constructors, lexer_.span(name));
  for (size_t i = 0; i < names.size(); ++i)
    if (!constructors_.emplace(names[i].text, type->constructors()[i]).second)
      report(kDuplicateDef, lexer_.span(names[i]), {std::string(names[i].text)});
  module_->set_type(type);
}

void Parser::constructor_definition(std::vector<std::pair<std::string, std::vector<Type>>>& into,
                                    std::vector<Token>& names) {
  names.push_back(expect(TokenKind::kIdent, "the name of a constructor"));
  std::vector<Type> inputs;
  if (accept(TokenKind::kLeftParen)) inputs = types_until(TokenKind::kRightParen, nullptr);
  into.emplace_back(std::string(names.back().text), std::move(inputs));
}

// Resolves types used before their definition.
void Parser::finish_types() {
  for (const TypeUse& use : type_uses_) {
    const TypeData type = module_->find_type(std::string(use.name.text));
    if (!type) {
      std::vector<std::string> names = type_names();
      for (const auto& [name, def] : module_->type_defs()) names.push_back(name);
      report(kUnknownType, lexer_.span(use.name),
             {std::string(use.name.text), suggestion(use.name.text, names)});
    } else if (type->type_vars().size() != use.args) {
      report(
          kTypeArity, lexer_.span(use.name),
          {std::string(use.name.text), std::to_string(type->type_vars().size()), std::to_string(use.args)});
    }
  }
}

void Parser::finish_globals() {
  std::vector<const GlobalUse*> unknown;
  for (const auto& [name, use] : globals_)
    if (!defined_.contains(name) && !(init_ && init_->find(std::string(name.substr(1)))))
      unknown.push_back(&use);
  std::sort(unknown.begin(), unknown.end(), [](const GlobalUse* a, const GlobalUse* b) {
    return std::pair(a->first.line, a->first.column) < std::pair(b->first.line, b->first.column);
  });
  std::vector<std::string> names;
  for (const Definition& each : definitions_) names.emplace_back(each.name.text);
  for (const GlobalUse* use : unknown)
    report(kUnknownGlobal, lexer_.span(use->first),
           {std::string(use->first.text), suggestion(use->first.text, names)});
}

GlobalVar Parser::global(const Token& token) {
  GlobalUse& use = globals_[token.text];
  if (!use.var) {
    const std::string name(token.text.substr(1));
    use = {token, module_ ? module_->global_var(name) : make_global_var(name)};
  }
  return use.var;
}

// ---- Functions

namespace {

// RAII: the scopes opened while a function is parsed.
struct FunctionScope {
  explicit FunctionScope(Scope& scope) : scope(scope) {
    scope.open_block();
    scope.enter_function();
  }
  ~FunctionScope() {
    scope.leave_function();
    scope.close_block();
  }
  Scope& scope;
};

struct TypeVarScope {
  explicit TypeVarScope(std::vector<std::pair<std::string_view, TypeVar>>& vars)
      : vars(vars), outer(vars.size()) {}
  ~TypeVarScope() { vars.resize(outer); }
  std::vector<std::pair<std::string_view, TypeVar>>& vars;
  size_t outer;
};

}  // namespace

// The rest after `def @name` or `fn`.
Function Parser::function_rest(const Token& start) {
  const Deeper deeper(*this);
  const FunctionScope open(scope_);
  const TypeVarScope open_types(type_vars_);
  std::vector<TypeVar> type_params = generics();
  std::vector<Var> params;
  FunctionAttrs attrs;
  expect(TokenKind::kLeftParen);
  parameters(params, attrs);
  expect(TokenKind::kRightParen);
  Type ret_type;
  if (accept(TokenKind::kArrow)) ret_type = type();
  Expr body = block();
  return make_function(std::move(params), std::move(body), std::move(ret_type), std::move(attrs),
                       NodeInfo(noted(token_), span_since(start)), std::move(type_params));
}

void Parser::parameters(std::vector<Var>& params, FunctionAttrs& attrs) {
  std::vector<VirtualDevice> devices;
  while (at(TokenKind::kLocal)) {
    const Token name = binder_name();
    devices.push_back(at(TokenKind::kLeftBrace) ? param_device() : VirtualDevice());
    Type annotation;
    if (accept(TokenKind::kColon)) annotation = type();
    params.push_back(make_var(std::string(name.text.substr(1)), std::move(annotation),
                              NodeInfo(OriginSet::none(), lexer_.span(name))));
    if (!scope_.declared_here(name.text))
      scope_.declare(name, params.back());  // of two equal names the first is used
    if (!accept(TokenKind::kComma)) {
      attrs = with_param_devices({}, devices);
      return;
    }
  }
  attrs = with_param_devices(function_attrs(), devices);
  if (!at(TokenKind::kRightParen)) fail_expected("a parameter, an attribute or `)`");
}

}  // namespace baton::text

namespace baton {

IRModule parse_module(std::string text, std::string source_name, const IRModule& init, MetaTable metadata) {
  return text::Parser(std::move(text), std::move(source_name), init, std::move(metadata)).module();
}

Expr parse_expr(std::string text, std::string source_name) {
  return text::Parser(std::move(text), std::move(source_name)).single_expr();
}

Type parse_type(std::string text, std::string source_name) {
  return text::Parser(std::move(text), std::move(source_name)).single_type();
}

FunctionAttrs parse_attributes(std::string text, std::string source_name) {
  return text::Parser(std::move(text), std::move(source_name)).single_attributes();
}

Span argument_span(const Span& call, size_t index) {
  using text::TokenKind;
  if (!call.source || !call) return {};
  DiagnosticEngine ignored;
  text::Lexer lexer(call.source, call.source->text().size(), ignored);
  lexer.seek(call.line, call.column);
  text::Token token = lexer.next();
  if (!token.is(TokenKind::kIdent) && !token.is(TokenKind::kGlobal) && !token.is(TokenKind::kLocal) &&
      !token.is(TokenKind::kGraph))
    return {};
  auto inside = [&call](const text::Token& t) {
    return !t.is(TokenKind::kEnd) && std::pair(t.line, t.column) < std::pair(call.end_line, call.end_column);
  };
  std::vector<Span> arguments;
  Span current;
  int depth = 0;
  for (token = lexer.next(); inside(token); token = lexer.next()) {
    const bool opening = text::opens(token.kind), closing = text::closes(token.kind);
    if (depth == 0 && !token.is(TokenKind::kLeftParen)) return {};
    if (depth == 0) arguments.clear();  // for `f(x)(y)` the last list is used
    if (depth == 1 && (token.is(TokenKind::kComma) || closing)) {
      if (current) arguments.push_back(current);
      current = {};
    } else if (depth > 0) {
      current = current.merge(lexer.span(token));
    }
    depth += opening ? 1 : closing ? -1 : 0;
  }
  return index < arguments.size() ? arguments[index] : Span{};
}

}  // namespace baton
