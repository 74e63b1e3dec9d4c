// Expressions: statements, infix operators, calls, atoms.
#include <charconv>
#include <iterator>
#include <optional>

#include "baton/ir/attr_objects.h"
#include "baton/ir/origin_scope.h"
#include "baton/text/diagnostics.h"
#include "baton/text/literal.h"
#include "baton/text/parser_impl.h"

namespace baton::text {

namespace {

struct BlockScope {
  explicit BlockScope(Scope& scope) : scope(scope) { scope.open_block(); }
  ~BlockScope() { scope.close_block(); }
  Scope& scope;
};

struct Infix {
  int precedence = 0;  // 0: not an infix operator
  std::string_view op;
};

Infix infix(TokenKind kind) {
  switch (kind) {
    case TokenKind::kStar:
      return {12, "multiply"};
    case TokenKind::kSlash:
      return {12, "divide"};
    case TokenKind::kPlus:
      return {10, "add"};
    case TokenKind::kMinus:
      return {10, "subtract"};
    case TokenKind::kLess:
      return {8, "less"};
    case TokenKind::kLessEqual:
      return {8, "less_equal"};
    case TokenKind::kGreater:
      return {8, "greater"};
    case TokenKind::kGreaterEqual:
      return {8, "greater_equal"};
    case TokenKind::kEqual:
      return {7, "equal"};
    case TokenKind::kNotEqual:
      return {7, "not_equal"};
    default:
      return {};
  }
}

// A number with too many digits cannot have been defined.
uint64_t graph_number(const Token& token) {
  uint64_t number = UINT64_MAX;
  std::from_chars(token.text.data() + 1, token.text.data() + token.text.size(), number);
  return number;
}

}  // namespace

OriginSet Parser::noted(const Token& token) const {
  if (token.note.empty() || !origins_.has_table()) return OriginSet::none();
  return origins_.read(token.note).value_or(OriginSet::none());
}

Expr Parser::stand_in() { return make_tuple({}, NodeInfo(OriginSet::none())); }

// ---- Statements

Expr Parser::block() {
  expect(TokenKind::kLeftBrace);
  Expr result;
  {
    const BlockScope open(scope_);
    result = sequence(Place::kBlock);
  }
  if (!at(TokenKind::kRightBrace)) fail_expected("an operator, `;` or `}`");
  advance();
  return result;
}

// Statements up to the final expression. Lets are collected and nested at the end, innermost last.
Expr Parser::sequence(Place place) {
  const Deeper deeper(*this);
  const size_t first_let = lets_.size(), brackets = open_brackets_;
  Expr result;
  std::optional<Token> first_binding;  // since the last let
  for (bool more = true; more;) {
    const size_t lets = lets_.size(), args = args_.size();
    const Token start = token_;
    try {
      more = statement(result, place == Place::kBlock || (place == Place::kOperand && lets > first_let));
    } catch (const Recover&) {
      if (place != Place::kBlock) throw;
      lets_.resize(lets);
      args_.resize(args);
      skip_statement(brackets);
      if (at(TokenKind::kDef) || at(TokenKind::kEnd)) throw;
      result = stand_in();
      more = accept(TokenKind::kSemicolon) && !at(TokenKind::kRightBrace);
    }
    if (lets_.size() > lets)
      first_binding.reset();
    else if (more && !first_binding)
      first_binding = start;
  }
  if (first_binding) show_at(result, *first_binding);  // `%0 = a; e` has the position of `%0`
  while (lets_.size() > first_let) {
    PendingLet& let = lets_.back();
    result = make_let(std::move(let.var), std::move(let.value), std::move(result),
                      NodeInfo(OriginSet::none(), std::move(let.span)));
    lets_.pop_back();
  }
  return result;
}

// Parses one statement with its `;` (true), or the final expression (false). An operand is a sequence only if
// it begins with a statement: in `add(%x; ...` the parenthesis is missing.
bool Parser::statement(Expr& result, bool takes_values) {
  if (at(TokenKind::kGraph) && next_.is(TokenKind::kAssign)) {
    graph_binding();
  } else if (at(TokenKind::kLet)) {
    let_binding();
  } else if (at(TokenKind::kFreeVar)) {
    free_var();
  } else {
    const Token start = token_;
    if (at(TokenKind::kLeftBrace)) {
      const Deeper deeper(*this);
      result = block();
    } else {
      result = infix_chain();
    }
    if (!at(TokenKind::kSemicolon) || !takes_values) return false;
    // `e1; e2` evaluates and discards e1: a let of an unnamed variable.
    const Span span = span_since(start);
    lets_.push_back({make_var("", {}, NodeInfo(OriginSet::none(), span)), std::move(result), span});
  }
  if (!at(TokenKind::kSemicolon)) fail_expected("an operator or `;`");
  advance();
  return true;
}

void Parser::graph_binding() {
  const Token name = token_;
  const uint64_t number = graph_number(name);
  advance();
  advance();
  const Scope::Graph* first = scope_.open_graph(number);
  if (first)
    report(kDuplicateDef, lexer_.span(name), {std::string(name.text)})
        .label(lexer_.span(first->name), "the first definition");
  try {
    scope_.define_graph(number, name, infix_chain());
  } catch (const Recover&) {
    scope_.define_graph(number, name, stand_in());  // suppresses errors at its uses
    throw;
  }
}

void Parser::let_binding() {
  const Token start = token_;
  advance();
  if (!at(TokenKind::kLocal)) fail_expected(describe(TokenKind::kLocal));
  const Token name = binder_name();
  auto declare = [&](Type annotation) {
    Var var = make_var(std::string(name.text.substr(1)), std::move(annotation),
                       NodeInfo(OriginSet::none(), lexer_.span(name)));
    var->span().show_at(Span::kNowhere, 0);  // until it is used
    scope_.declare(name, var);
    return var;
  };
  Type annotation;
  try {
    if (accept(TokenKind::kColon)) annotation = type();
  } catch (const Recover&) {
    declare({});  // suppresses errors at its uses
    throw;
  }
  Var var = declare(std::move(annotation));  // declared before the value: functions may be recursive
  expect(TokenKind::kAssign);
  scope_.find(name.text)->in_own_value = true;
  Expr value;
  try {
    value = at(TokenKind::kLet) ? nested_let() : infix_chain();
  } catch (const Recover&) {
    if (Scope::Local* local = scope_.find(name.text)) local->in_own_value = false;
    throw;
  }
  scope_.find(name.text)->in_own_value = false;
  lets_.push_back({std::move(var), std::move(value), span_since(start)});
}

// `let %a = let %b = x; b; a`: the printed form of a let in the value of a let. The inner one ends after one
// expression.
Expr Parser::nested_let() {
  const BlockScope open(scope_);
  return sequence(Place::kLetValue);
}

void Parser::free_var() {
  advance();
  if (!at(TokenKind::kLocal)) fail_expected(describe(TokenKind::kLocal));
  const Token name = binder_name();
  Type annotation;
  if (accept(TokenKind::kColon)) annotation = type();
  if (module_) report(kFreeVariable, lexer_.span(name), {std::string(name.text)});
  scope_.declare(name, make_var(std::string(name.text.substr(1)), std::move(annotation),
                                NodeInfo(OriginSet::none(), lexer_.span(name))));
}

// ---- Infix operators

// Sets the position that TVM shows for a node. Operators and global functions are shared, and have none.
void Parser::show_at(const Expr& expr, const Token& token) {
  const ExprKind kind = expr->kind();
  if (kind != ExprKind::kOp && kind != ExprKind::kGlobalVar && kind != ExprKind::kConstructor)
    expr->span().show_at(token.line, token.shown);
}

void Parser::reduce(std::vector<Operand>& operands, const PendingInfix& infix) {
  Operand right = std::move(operands.back());
  operands.pop_back();
  Operand& left = operands.back();
  Span span = left.span.merge(right.span);
  const auto shown = [](const Expr& expr) {
    return std::pair(expr->span().shown_line, expr->span().shown_column);
  };
  const auto [line, column] = std::min(shown(left.expr), shown(right.expr));
  span.show_at(line, column);
  const OpEntry& op = op_entry(infix.op, infix.symbol);
  std::vector<Expr> args;
  args.reserve(2);
  args.push_back(std::move(left.expr));
  args.push_back(std::move(right.expr));
  left.expr = operator_call(op, infix.symbol, std::move(args), op.defaults, span);
  left.span = std::move(span);
}

// Operator precedence parsing with an operand and an operator stack. An operator is applied after the operand
// of the next operator of no higher precedence is parsed: as in TVM, where this determines the result's
// position.
Expr Parser::infix_chain() {
  const Token start = token_;
  Expr first = call();
  if (infix(token_.kind).precedence == 0) return first;
  std::vector<Operand> operands;
  operands.push_back({std::move(first), span_since(start)});
  std::vector<PendingInfix> pending;
  for (Infix next = infix(token_.kind); next.precedence > 0; next = infix(token_.kind)) {
    const PendingInfix read{token_, next.precedence, next.op};
    advance();
    const Token operand_start = token_;
    Expr operand = call();
    Span span = span_since(operand_start);
    for (; !pending.empty() && pending.back().precedence >= read.precedence; pending.pop_back())
      reduce(operands, pending.back());
    pending.push_back(read);
    operands.push_back({std::move(operand), std::move(span)});
  }
  for (; !pending.empty(); pending.pop_back()) reduce(operands, pending.back());
  show_at(operands[0].expr, start);
  return std::move(operands[0].expr);
}

// ---- Calls

const Parser::OpEntry& Parser::op_entry(std::string_view name, const Token& where) {
  const auto [at, fresh] = ops_.try_emplace(name);
  OpEntry& entry = at->second;
  if (fresh) {
    entry.def = find_op(name);
    entry.expr = entry.def ? op_expr(*entry.def) : stand_in();
    if (entry.def && entry.def->attrs) entry.defaults = entry.def->attrs->make();
  }
  if (!entry.def && !entry.reported) {
    entry.reported = true;
    std::vector<std::string> names;
    for (const OpDef* op : all_ops()) names.push_back(op->name);
    const std::string near = suggestion(name, names);
    report(kUnknownOp, lexer_.span(where),
           {std::string(name),
            near.empty() ? "docs/compatibility.md lists the operators of Relay that are not supported yet"
                         : near});
  }
  return entry;
}

Expr Parser::operator_call(const OpEntry& op, const Token& name, std::vector<Expr> args, Attrs attrs,
                           Span span) {
  if (!op.def) return stand_in();
  std::optional<OriginSet> known;
  if (!token_.note.empty() && origins_.has_table()) known = origins_.read(token_.note);
  OriginSet origins =
      known ? *known
      : OriginScope::current()
          ? *OriginScope::current()
          : OriginSet::of(Origin::create(op.def->name, attrs, lexer_.span(name), {}, current_module()));
  return make_call(op.expr, std::move(args), std::move(attrs), NodeInfo(std::move(origins), std::move(span)));
}

Expr Parser::call() {
  const Token start = token_;
  const OpEntry* op = nullptr;
  Expr callee;
  if (at(TokenKind::kIdent)) {
    if (const auto known = constructors_.find(token_.text); known != constructors_.end()) {
      advance();
      callee = constructor_value(known->second, start);
    } else {
      op = &op_entry(token_.text, token_);
      callee = op->expr;
      advance();
    }
  } else {
    callee = atomic();
  }
  while (at(TokenKind::kLeftParen)) {
    Attrs attrs;
    std::vector<Expr> args = arguments(op, attrs);
    if (op) {
      callee = operator_call(*op, start, std::move(args), std::move(attrs), span_since(start));
    } else {
      callee = make_call(std::move(callee), std::move(args), {}, NodeInfo(noted(token_), span_since(start)));
    }
    op = nullptr;
  }
  return callee;
}

// `(a, b, key=value)`. Arguments are collected on a stack, so that each call allocates once.
std::vector<Expr> Parser::arguments(const OpEntry* op, Attrs& attrs) {
  expect(TokenKind::kLeftParen);
  const size_t first = args_.size();
  bool more = !at(TokenKind::kRightParen);
  Token all_attrs;  // `meta[relay.attrs.X][n]`: all attributes in one object
  while (more && !at_attribute()) {
    if (at(TokenKind::kMeta) && token_.text.starts_with("meta[relay.attrs.")) {
      all_attrs = token_;
      advance();
      break;
    }
    Expr argument = sequence(Place::kOperand);
    args_.push_back(std::move(argument));
    more = accept(TokenKind::kComma);
  }
  keywords_.clear();
  while (at_attribute()) {
    keywords_.push_back(attribute());
    if (!accept(TokenKind::kComma)) break;
  }
  if (!at(TokenKind::kRightParen)) {
    fail_expected(keywords_.empty() ? (more ? "an expression" : "an operator, `,` or `)`")
                                    : "an attribute, `,` or `)`");
  }
  advance();
  attrs = all_attrs.is(TokenKind::kMeta) ? meta_attrs(op, all_attrs) : call_attrs(op);
  std::vector<Expr> args(std::make_move_iterator(args_.begin() + static_cast<ptrdiff_t>(first)),
                         std::make_move_iterator(args_.end()));
  args_.resize(first);
  return args;
}

// ---- Atoms

Expr Parser::atomic() {
  const Token start = token_;
  Expr expr;
  switch (start.kind) {
    case TokenKind::kLocal:
      extend_name();
      expr = local(token_);
      advance();
      break;
    case TokenKind::kGraph:
      expr = graph(start);
      advance();
      break;
    case TokenKind::kGlobal:
      expr = global(start);
      advance();
      break;
    case TokenKind::kNumber:
    case TokenKind::kTrue:
    case TokenKind::kFalse:
      expr = literal(start);
      advance();
      break;
    case TokenKind::kMeta:
      expr = meta_constant(start);
      advance();
      break;
    case TokenKind::kLeftParen:
      expr = parenthesized();
      break;
    case TokenKind::kFn:
      advance();
      expr = function_rest(start);
      break;
    case TokenKind::kIf:
      expr = if_else();
      break;
    case TokenKind::kMatch:
    case TokenKind::kMatchPartial:
      expr = match_expr();
      break;
    case TokenKind::kRef:
    case TokenKind::kRefRead:
    case TokenKind::kRefWrite:
      expr = reference();
      break;
    default:
      fail_expected("an expression");
  }
  if (at(TokenKind::kDot)) expr = projection(std::move(expr), start);
  return expr;
}

Expr Parser::projection(Expr tuple, const Token& start) {
  advance();
  const Token field = expect(TokenKind::kNumber, "the number of a field");
  int index = -1;
  const auto [end, error] = std::from_chars(field.text.data(), field.text.data() + field.text.size(), index);
  if (error != std::errc() || end != field.text.data() + field.text.size() || index < 0)
    fail(kExpected, lexer_.span(field), {"the number of a field", "`" + std::string(field.text) + "`"});
  return make_tuple_get_item(std::move(tuple), index, NodeInfo(noted(token_), span_since(start)));
}

Expr Parser::local(const Token& token) {
  const Scope::Local* found = scope_.find(token.text);
  if (!found) {
    report(kUnknownLocal, lexer_.span(token),
           {std::string(token.text), suggestion(token.text, scope_.visible_names())});
    Var unknown = make_var(std::string(token.text.substr(1)), {}, NodeInfo(OriginSet::none()));
    scope_.declare(token, unknown);  // report each only once
    return unknown;
  }
  if (found->in_own_value && found->function_depth == scope_.function_depth())
    report(kOwnValue, lexer_.span(token), {std::string(token.text)})
        .label(lexer_.span(found->name), "defined here");
  show_at(Expr(found->var), token);
  return found->var;
}

Expr Parser::graph(const Token& token) {
  const uint64_t number = graph_number(token);
  if (const Scope::Graph* found = scope_.find_graph(number)) {
    show_at(found->expr, token);
    return found->expr;
  }
  report(kUnknownGraph, lexer_.span(token), {std::string(token.text)});
  return stand_in();
}

Expr Parser::literal(const Token& token) {
  Span span = lexer_.span(token);
  NDArray value;
  if (token.is(TokenKind::kNumber)) {
    const std::optional<Number> number = parse_number(token, span, engine_);
    if (!number) return stand_in();
    value = scalar_array(*number);
  } else {
    value = scalar_array(token.is(TokenKind::kTrue));
  }
  return make_constant(std::move(value), NodeInfo(noted(next_), std::move(span)));
}

// Equal references share one node.
Expr Parser::meta_constant(const Token& token) {
  const MetaRef ref = meta_reference(token);
  if (const MetaObject* given = given_metadata(ref))
    if (const auto* expr = given->value.object<ExprAttr>()) return expr->expr();
  if (ref.key != "relay.Constant") {
    report(kMetaNoExpr, lexer_.span(token), {std::string(token.text)});
    return stand_in();
  }
  Expr& known = meta_constants_[ref.index];
  if (known) {
    show_at(known, token);
    return known;
  }
  if (!has_metadata(ref, token)) return known = stand_in();
  try {
    known = make_constant(metadata_->constant(ref.index), NodeInfo(noted(next_), lexer_.span(token)));
  } catch (const Error& what) {
    report(kBadMetadata, lexer_.span(token), {what.what()});
    known = stand_in();
  }
  return known;
}

// `()`, `(e)`, `(e,)`, `(a, b)`.
Expr Parser::parenthesized() {
  const Token start = token_;
  advance();
  const BlockScope open(scope_);
  std::vector<Expr> fields;
  bool comma = true;
  while (comma && !at(TokenKind::kRightParen)) {
    fields.push_back(sequence(Place::kOperand));
    comma = accept(TokenKind::kComma);
  }
  if (!at(TokenKind::kRightParen)) fail_expected("an operator, `,` or `)`");
  advance();
  if (fields.size() == 1 && !comma) {
    show_at(fields[0], start);
    return std::move(fields[0]);
  }
  return make_tuple(std::move(fields), NodeInfo(noted(token_), span_since(start)));
}

// `ref(e)`, `ref_read(r)`, `ref_write(r, e)`.
Expr Parser::reference() {
  const Token start = token_;
  const Deeper deeper(*this);
  advance();
  expect(TokenKind::kLeftParen);
  Expr first = sequence(Place::kOperand), second;
  if (start.is(TokenKind::kRefWrite)) {
    expect(TokenKind::kComma);
    second = sequence(Place::kOperand);
  }
  expect(TokenKind::kRightParen);
  NodeInfo info(OriginSet::none(), span_since(start));
  if (start.is(TokenKind::kRef)) return make_ref_create(std::move(first), std::move(info));
  if (start.is(TokenKind::kRefRead)) return make_ref_read(std::move(first), std::move(info));
  return make_ref_write(std::move(first), std::move(second), std::move(info));
}

// A nullary constructor denotes its value; any other is a function.
Expr Parser::constructor_value(const Constructor& constructor, const Token& name) {
  if (!constructor->inputs().empty() || at(TokenKind::kLeftParen)) return Expr(constructor);
  return make_call(Expr(constructor), {}, {}, NodeInfo(OriginSet::none(), lexer_.span(name)));
}

// match (data) { pattern => body, ... }
Expr Parser::match_expr() {
  const Token start = token_;
  const Deeper deeper(*this);
  advance();
  Expr data = atomic();
  expect(TokenKind::kLeftBrace);
  std::vector<Clause> clauses;
  while (!at(TokenKind::kRightBrace)) {
    const BlockScope open(scope_);
    Pattern pattern = this->pattern();
    expect(TokenKind::kFatArrow);
    Expr body = at(TokenKind::kLeftBrace) ? block() : sequence(Place::kOperand);
    clauses.push_back({std::move(pattern), std::move(body)});
    if (!accept(TokenKind::kComma)) break;
  }
  if (!at(TokenKind::kRightBrace)) fail_expected("`,` or `}`");
  advance();
  return make_match(std::move(data), std::move(clauses), start.is(TokenKind::kMatch),
                    NodeInfo(OriginSet::none(), span_since(start)));
}

// `_`, `%x`, `%x: T`, `Cons(p, p)`, `Nil`, `(p, p)`.
Pattern Parser::pattern() {
  const Deeper deeper(*this);
  if (accept(TokenKind::kUnderscore)) return wildcard_pattern();
  if (at(TokenKind::kLocal)) {
    const Token name = binder_name();
    Type annotation;
    if (accept(TokenKind::kColon)) annotation = type();
    Var var = make_var(std::string(name.text.substr(1)), std::move(annotation),
                       NodeInfo(OriginSet::none(), lexer_.span(name)));
    scope_.declare(name, var);
    return var_pattern(std::move(var));
  }
  if (at(TokenKind::kIdent)) {
    const Token name = token_;
    advance();
    return constructor_pattern_rest(name);
  }
  if (!at(TokenKind::kLeftParen)) fail_expected("a pattern");
  advance();
  std::vector<Pattern> patterns;
  while (!at(TokenKind::kRightParen)) {
    patterns.push_back(pattern());
    if (!accept(TokenKind::kComma)) break;
  }
  if (!at(TokenKind::kRightParen)) fail_expected("`,` or `)`");
  advance();
  return tuple_pattern(std::move(patterns));
}

Pattern Parser::constructor_pattern_rest(const Token& name) {
  std::vector<Pattern> patterns;
  if (accept(TokenKind::kLeftParen)) {
    while (!at(TokenKind::kRightParen)) {
      patterns.push_back(pattern());
      if (!accept(TokenKind::kComma)) break;
    }
    if (!at(TokenKind::kRightParen)) fail_expected("`,` or `)`");
    advance();
  }
  const auto known = constructors_.find(name.text);
  if (known == constructors_.end()) {
    std::vector<std::string> names;
    for (const auto& [text, constructor] : constructors_) names.emplace_back(text);
    std::string near = suggestion(name.text, names);
    if (near.empty()) near = "a variable is written %" + std::string(name.text);
    report(kUnknownConstructor, lexer_.span(name), {std::string(name.text), near});
    return wildcard_pattern();
  }
  if (patterns.size() != known->second->inputs().size()) {
    report(kPatternArity, lexer_.span(name),
           {std::string(name.text), std::to_string(known->second->inputs().size()),
            std::to_string(patterns.size())});
    return wildcard_pattern();
  }
  return constructor_pattern(known->second, std::move(patterns));
}

// ---- Names written by printers: `%conv.weight`, `%input.1`, `%data:0`

namespace {

// The number of bytes of `text`, after a local name, that may belong to it.
size_t name_tail(std::string_view text) {
  size_t end = 0;
  while (end + 1 < text.size()) {
    const auto inside = [](char c) {
      return c == '_' || c == '/' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
             (c >= 'A' && c <= 'Z');
    };
    const bool colon = text[end] == ':' && text[end + 1] >= '0' && text[end + 1] <= '9';
    if (!colon && (text[end] != '.' || !inside(text[end + 1]))) break;
    for (++end; end < text.size() && inside(text[end]); ++end) continue;
  }
  return end;
}

}  // namespace

// Consumes a local name at its binding: the longest possible name.
Token Parser::binder_name() {
  if (next_.is(TokenKind::kDot) || next_.is(TokenKind::kColon)) {
    const char* end = token_.text.data() + token_.text.size();
    const char* stop = source_->text().data() + text_end_;
    if (const size_t tail = name_tail(std::string_view(end, static_cast<size_t>(stop - end)))) {
      token_.text = std::string_view(token_.text.data(), token_.text.size() + tail);
      lexer_.resume(token_);
      next_ = lexer_.next();
    }
  }
  const Token name = token_;
  advance();
  return name;
}

// At a use, the longest bound name is taken: `%x.1` is variable `x.1`, or field 1 of `x`.
void Parser::extend_name() {
  if (!next_.is(TokenKind::kDot) && !next_.is(TokenKind::kColon)) return;
  const char* end = token_.text.data() + token_.text.size();
  const char* stop = source_->text().data() + text_end_;
  for (size_t tail = name_tail(std::string_view(end, static_cast<size_t>(stop - end))); tail > 0;) {
    const std::string_view name(token_.text.data(), token_.text.size() + tail);
    if (scope_.find(name)) {
      token_.text = name;
      lexer_.resume(token_);
      next_ = lexer_.next();
      return;
    }
    const size_t shorter = std::string_view(end, tail).find_last_of(".:");
    tail = shorter == std::string_view::npos ? 0 : shorter;
  }
}

Expr Parser::if_else() {
  const Token start = token_;
  const Deeper deeper(*this);
  advance();
  const Token open = expect(TokenKind::kLeftParen);
  Expr condition = sequence(Place::kOperand);
  show_at(condition, open);
  expect(TokenKind::kRightParen);
  Expr then = block();
  expect(TokenKind::kElse);
  Expr otherwise = block();
  return make_if(std::move(condition), std::move(then), std::move(otherwise),
                 NodeInfo(OriginSet::none(), span_since(start)));
}

}  // namespace baton::text
