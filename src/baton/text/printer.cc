// The layout of printed text. Only atoms (variables, constants, names) and tails (the result of a block, the
// value of a let; used once) are printed inline; every other node gets the next number and its own line.
//
// A node's right-hand side (its Piece) is built when a depth-first walk from the tail leaves it: callee
// first, then the arguments; constants are numbered on that walk. Its number is assigned, and its line
// written, when its first user's piece is built: arguments in order, then the callee. So numbers increase in
// order of need, and lines precede their users.
#include "baton/text/printer.h"

#include <algorithm>

#include "baton/ir/op.h"
#include "baton/ir/placement.h"
#include "baton/ir/visit.h"
#include "baton/text/literal.h"
#include "baton/text/map_order.h"
#include "baton/text/printer_impl.h"

namespace baton::text {

namespace {

// Deeper nesting would print mostly indentation; the limit bounds the recursion.
constexpr int kMaxBlocks = 1000;

// Nodes that the walk passes through; other nodes open blocks or are atoms.
bool is_dataflow(const ExprNode* node) {
  switch (node->kind()) {
    case ExprKind::kCall:
    case ExprKind::kTuple:
    case ExprKind::kTupleGetItem:
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
    case ExprKind::kRefWrite:
      return true;
    default:
      return false;
  }
}

// Operands of these are numbered one at a time, each before the next is visited.
bool is_reference(const ExprNode* node) {
  return node->kind() == ExprKind::kRefCreate || node->kind() == ExprKind::kRefRead ||
         node->kind() == ExprKind::kRefWrite;
}

bool is_atom(const ExprNode* node) { return is_leaf(node->kind()); }

bool has_type(const ExprNode* node) { return node->checked_type() != nullptr; }

// Whether a function's type was inferred. (Its variables and constants may be typed without inference.)
bool is_typed(const FunctionNode* function) {
  return has_type(function) || (!is_atom(function->body().get()) && has_type(function->body().get()));
}
bool is_typed(const LetNode* let) {
  return has_type(let) || (!is_atom(let->value().get()) && has_type(let->value().get()));
}

}  // namespace

// ---- Pieces

uint32_t Printer::new_piece() {
  if (free_pieces_.empty()) {
    pieces_.emplace_back();
    free_pieces_.push_back(static_cast<uint32_t>(pieces_.size() - 1));
  }
  const uint32_t piece = free_pieces_.back();
  free_pieces_.pop_back();
  pieces_[piece].clear();
  pieces_[piece].indent = scope_->indent;
  return piece;
}

void Printer::free_piece(uint32_t piece) { free_pieces_.push_back(piece); }

// Lines of `from` are reindented for `to`: a node may be built in one block and printed in an inner one.
void Printer::append(Piece& to, const Piece& from) {
  const size_t start = to.text.size();
  if (to.indent == from.indent || from.text.find('\n') == std::string::npos) {
    to.text += from.text;
    for (const auto& [at, call] : from.calls) to.calls.emplace_back(start + at, call);
    return;
  }
  auto call = from.calls.begin();
  for (size_t at = 0; at < from.text.size();) {
    const size_t line_end = std::min(from.text.find('\n', at), from.text.size());
    for (; call != from.calls.end() && call->first < line_end; ++call)
      to.calls.emplace_back(to.text.size() + call->first - at, call->second);
    to.text.append(from.text, at, line_end - at);
    at = line_end;
    if (at == from.text.size()) break;
    new_line(to);
    at += 1;
    for (int skipped = 0; skipped < from.indent && at < from.text.size() && from.text[at] == ' '; ++skipped)
      ++at;
  }
}

// `%3 = <piece>;`
void Printer::emit_line(const ExprNode* node, NodeState& state, bool typed) {
  state.number = next_number_++;
  std::string& out = scope_->text;
  out += '%';
  append_integer(out, state.number);
  out += " = ";
  append(*scope_, pieces_[state.piece]);
  free_piece(state.piece);
  state.piece = NodeState::kNone;
  comment(node, typed, out);
  out += ';';
  new_line(*scope_);
}

// ---- Expressions

void Printer::count_uses(const Expr& root) {
  std::vector<const ExprNode*> pending;
  auto use = [&](const Expr& child) {
    if (child->kind() == ExprKind::kOp || child->kind() == ExprKind::kGlobalVar ||
        child->kind() == ExprKind::kConstructor)
      return;
    const auto [state, fresh] = nodes_.add(child.get());
    ++state->uses;
    if (fresh && child->kind() != ExprKind::kConstant) pending.push_back(child.get());
  };
  use(root);
  while (!pending.empty()) {
    const ExprNode* node = pending.back();
    pending.pop_back();
    for_each_child(*node, use);
  }
}

// Builds the pieces of `root` and of all its operands.
void Printer::visit(const ExprNode* root) {
  auto done = [&](const ExprNode* node) {
    if (is_atom(node)) return true;
    const NodeState& state = nodes_[node];
    return state.piece != NodeState::kNone || state.number != NodeState::kNone;
  };
  if (done(root)) return;
  const size_t base = stack_.size();
  stack_.emplace_back(root, 0);
  while (stack_.size() > base) {
    auto& [node, next] = stack_.back();
    const Expr* found = is_dataflow(node) ? baton::child(*node, next) : nullptr;
    const ExprNode* child = found ? found->get() : nullptr;
    if (is_reference(node) && next > 0) {
      const ExprNode* operand = baton::child(*node, next - 1)->get();
      NodeState* state = is_atom(operand) ? nullptr : &nodes_[operand];
      if (state && state->number == NodeState::kNone && state->piece != NodeState::kNone)
        emit_line(operand, *state, true);
    }
    if (child) {
      ++next;
      if (child->kind() == ExprKind::kConstant)
        meet(static_cast<const ConstantNode*>(child));
      else if (!done(child))
        stack_.emplace_back(child, 0);
      continue;
    }
    const ExprNode* finished = node;
    stack_.pop_back();
    if (!done(finished)) make_piece(finished);  // a block may have built it meanwhile
  }
}

void Printer::make_piece(const ExprNode* node) {
  Piece piece;
  {
    const uint32_t recycled = new_piece();
    std::swap(piece, pieces_[recycled]);
    free_piece(recycled);
  }
  piece.indent = scope_->indent;
  const bool typed = has_type(node);
  switch (node->kind()) {
    case ExprKind::kCall:
      make_call(static_cast<const CallNode*>(node), piece);
      break;
    case ExprKind::kTuple: {
      const auto& fields = static_cast<const TupleNode*>(node)->fields();
      piece.text += '(';
      for (size_t i = 0; i < fields.size(); ++i) {
        if (i) piece.text += ", ";
        operand(fields[i].get(), piece, typed);
      }
      piece.text += fields.size() == 1 ? ",)" : ")";
      break;
    }
    case ExprKind::kTupleGetItem: {
      const auto* item = static_cast<const TupleGetItemNode*>(node);
      operand(item->tuple().get(), piece, typed);
      piece.text += '.';
      append_integer(piece.text, item->index());
      break;
    }
    case ExprKind::kFunction:
      function(static_cast<const FunctionNode*>(node), "fn ", piece);
      break;
    case ExprKind::kIf:
      if_else(static_cast<const IfNode*>(node), piece);
      break;
    case ExprKind::kLet: {  // not a tail: printed as `(`, the block, `)`
      piece.text += '(';
      piece.indent += 2;
      new_line(piece);
      let_chain(static_cast<const LetNode*>(node), piece, typed);  // lines of the first value go to *scope_
      piece.indent -= 2;
      new_line(piece);
      piece.text += ')';
      break;
    }
    case ExprKind::kMatch:
      match(static_cast<const MatchNode*>(node), piece);
      break;
    case ExprKind::kRefCreate:
      piece.text += "ref(";
      operand(static_cast<const RefCreateNode*>(node)->value().get(), piece, typed);
      piece.text += ')';
      break;
    case ExprKind::kRefRead:
      piece.text += "ref_read(";
      operand(static_cast<const RefReadNode*>(node)->ref().get(), piece, typed);
      piece.text += ')';
      break;
    case ExprKind::kRefWrite: {
      const auto* write = static_cast<const RefWriteNode*>(node);
      piece.text += "ref_write(";
      operand(write->ref().get(), piece, typed);
      piece.text += ", ";
      operand(write->value().get(), piece, typed);
      piece.text += ')';
      break;
    }
    case ExprKind::kVar:
    case ExprKind::kGlobalVar:
    case ExprKind::kConstant:
    case ExprKind::kConstructor:
    case ExprKind::kOp:
      BATON_CHECK(false, "an atom has no piece");
  }
  const uint32_t index = new_piece();
  pieces_[index] = std::move(piece);
  nodes_[node].piece = index;
}

void Printer::make_call(const CallNode* call, Piece& into) {
  const ExprNode* callee = call->callee().get();
  const bool typed = has_type(call);
  std::string args;  // a callee that is not an atom gets its number after the arguments
  const bool late = !is_atom(callee);
  if (!late) {
    if (options_.positions && callee->kind() == ExprKind::kOp)
      into.calls.emplace_back(into.text.size(), call);
    operand(callee, into, typed);
  }
  if (callee->kind() == ExprKind::kConstructor && call->args().empty())
    return;  // a nullary constructor denotes its value
  const size_t start = into.text.size();
  into.text += '(';
  for (size_t i = 0; i < call->args().size(); ++i) {
    if (i) into.text += ", ";
    operand(call->args()[i].get(), into, typed);
  }
  if (call->attrs()) call_attrs(call, into.text, call->args().empty());
  into.text += ')';
  if (late) {
    Piece name;
    operand(callee, name, typed);
    into.text.insert(start, name.text);
  }
}

// Prints a node as an operand: its name, after first printing its line if needed.
void Printer::operand(const ExprNode* node, Piece& into, bool typed) {
  if (atom(node, into, typed)) return;
  NodeState* state = &nodes_[node];
  if (state->number == NodeState::kNone) {
    if (state->piece == NodeState::kNone) {
      visit(node);
      state = &nodes_[node];
    }
    emit_line(node, *state, true);
  }
  into.text += '%';
  append_integer(into.text, state->number);
}

bool Printer::atom(const ExprNode* node, Piece& into, bool typed) {
  switch (node->kind()) {
    case ExprKind::kVar:
      variable(static_cast<const VarNode*>(node), into, typed);
      return true;
    case ExprKind::kConstant:
      constant(static_cast<const ConstantNode*>(node), nodes_[node], into, typed);
      return true;
    case ExprKind::kOp:
      into.text += static_cast<const OpNode*>(node)->name();
      if (options_.annotate) comment(node, typed, into.text);
      return true;
    case ExprKind::kConstructor:
      into.text += static_cast<const ConstructorNode*>(node)->name();
      if (options_.annotate) comment(node, typed, into.text);
      return true;
    case ExprKind::kGlobalVar:
      into.text += '@';
      into.text += static_cast<const GlobalVarNode*>(node)->name();
      if (options_.annotate) comment(node, typed, into.text);
      return true;
    default:
      return false;
  }
}

// Prints the statements and the result of a block into `into`, positioned at the block's first line.
void Printer::scope(const ExprNode* body, Piece& into, bool typed) {
  if (++depth_ > kMaxBlocks)
    throw Error("blocks are nested more than " + std::to_string(kMaxBlocks) +
                " deep; such an expression has no text");
  Piece* outer = std::exchange(scope_, &into);
  tail(body, into, typed);
  scope_ = outer;
  --depth_;
}

// Prints the result of a block or the value of a let: inline when it has one use. Lines go to *scope_, which
// may be `into`.
void Printer::tail(const ExprNode* node, Piece& into, bool typed) {
  if (is_atom(node) || nodes_[node].number != NodeState::kNone || nodes_[node].uses > 1) {
    if (!is_atom(node)) visit(node);
    operand(node, into, typed);
    return;
  }
  if (node->kind() == ExprKind::kLet) {
    let_chain(static_cast<const LetNode*>(node), into, typed);
    return;
  }
  visit(node);
  NodeState& state = nodes_[node];
  append(into, pieces_[state.piece]);
  free_piece(state.piece);
  state.piece = NodeState::kNone;
  comment(node, true, into.text);
}

// Prints `let %x = value;` for each let, then the last one's body. Lines needed by the first value come
// before; the rest is a block in `into`.
void Printer::let_chain(const LetNode* let, Piece& into, bool typed) {
  if (++depth_ > kMaxBlocks)
    throw Error("lets are nested more than " + std::to_string(kMaxBlocks) +
                " deep in values; such an expression has no text");
  Piece* outer = scope_;
  const ExprNode* body = let;
  for (const LetNode* each = let; each; each = as<LetNode>(body)) {
    if (each != let && nodes_[each].uses > 1) break;
    Piece line;
    line.indent = into.indent;
    line.text = "let ";
    typed = typed || is_typed(each);
    binding(each->var().get(), line, typed);
    line.text += " = ";
    tail(each->value().get(), line, typed);
    line.text += ';';
    append(into, line);
    new_line(into);
    scope_ = &into;
    body = each->body().get();
  }
  tail(body, into, typed);
  scope_ = outer;
  --depth_;
}

void Printer::function(const FunctionNode* function, std::string_view head, Piece& into) {
  const bool typed = is_typed(function);
  std::string& out = into.text;
  out += head;
  append_type_params(out, function->type_params());
  out += '(';
  bool first = true;
  size_t index = 0;
  // Parameters stay typed when the body is replaced, as by an ExprMutator. A definition's result type shows
  // that it was inferred before.
  const bool typed_params = typed || (function->ret_type() && head.starts_with("def"));
  for (const Var& param : function->params()) {
    if (!std::exchange(first, false)) out += ", ";
    binding(param.get(), into, typed_params, param_device(*function, index++));
  }
  // The result's device comes after the other attributes; parameter devices are printed at the parameters.
  const auto attribute = [&](const auto& attr) {
    if (!std::exchange(first, false)) out += ", ";
    out += attr.first;
    out += '=';
    append_value(out, attr.second);
  };
  std::vector<const FunctionAttrs::value_type*> attrs;
  std::vector<std::string_view> names;
  for (const auto& attr : function->attrs())
    if (attr.first != kResultDevice && attr.first != kParamDevices)
      attrs.push_back(&attr), names.push_back(attr.first);
  for (const size_t at : map_order(names)) attribute(*attrs[at]);
  for (const auto& attr : function->attrs())
    if (attr.first == kResultDevice) attribute(attr);
  out += ')';
  if (function->ret_type()) {
    out += " -> ";
    append_type(out, function->ret_type());
  }
  out += " {";
  into.indent += 2;
  new_line(into);
  scope(function->body().get(), into, typed);
  into.indent -= 2;
  new_line(into);
  out += '}';
}

void Printer::if_else(const IfNode* branch, Piece& into) {
  const bool typed = has_type(branch);
  into.text += "if (";
  visit(branch->condition().get());
  operand(branch->condition().get(), into, typed);
  into.text += ") {";
  block(branch->then().get(), into, typed);
  into.text += "} else {";
  block(branch->otherwise().get(), into, typed);
  into.text += '}';
}

// The contents of braces, on separate lines.
void Printer::block(const ExprNode* body, Piece& into, bool typed) {
  into.indent += 2;
  new_line(into);
  scope(body, into, typed);
  into.indent -= 2;
  new_line(into);
}

void Printer::match(const MatchNode* match, Piece& into) {
  const bool typed = has_type(match);
  into.text += match->complete() ? "match (" : "match? (";
  visit(match->data().get());
  operand(match->data().get(), into, typed);
  into.text += ") {";
  into.indent += 2;
  for (const Clause& clause : match->clauses()) {
    new_line(into);
    pattern(*clause.pattern, into, typed);
    into.text += " => {";
    block(clause.body.get(), into, typed);
    into.text += "},";
  }
  into.indent -= 2;
  new_line(into);
  into.text += '}';
}

void Printer::pattern(const PatternNode& pattern, Piece& into, bool typed) {
  switch (pattern.kind()) {
    case PatternKind::kWildcard:
      into.text += '_';
      return;
    case PatternKind::kVar:
      binding(pattern.var().get(), into, typed);
      return;
    case PatternKind::kConstructor:
      into.text += pattern.constructor()->name();
      break;
    case PatternKind::kTuple:
      break;
  }
  if (pattern.kind() == PatternKind::kConstructor && pattern.patterns().empty()) return;
  into.text += '(';
  bool first = true;
  for (const Pattern& each : pattern.patterns()) {
    if (!std::exchange(first, false)) into.text += ", ";
    this->pattern(*each, into, typed);
  }
  into.text += ')';
}

// ---- Modules

std::string Printer::module(const IRModuleNode& module) {
  Piece whole;
  scope_ = &whole;
  if (options_.version) whole.text = "#[version = \"0.0.5\"]\n";
  if (options_.origins) origins_.add_table(module.origins());
  bool first = true;
  for (const auto& [name, type] : module.type_defs()) {
    if (!std::exchange(first, false)) whole.text += '\n';
    type_definition(*type, whole.text);
  }
  for (const auto& [name, body] : module.functions()) {
    if (!std::exchange(first, false)) whole.text += '\n';
    count_uses(body);
    function(body.get(), "def @" + name, whole);
    if (options_.origins) origin_comment(body->origins(), whole.text);
    whole.text += '\n';
  }
  if (options_.origins && options_.origin_table && !options_.origin_name)
    origins_.append_table(module.origins(), whole.text);
  return finish(whole);
}

void Printer::type_definition(const TypeDataNode& type, std::string& out) {
  out += "type ";
  out += type.header()->name();
  append_type_params(out, type.type_vars());
  out += " {\n";
  for (const Constructor& each : type.constructors()) {
    out += "  ";
    out += each->name();
    if (!each->inputs().empty()) {
      out += '(';
      append_types(out, each->inputs());
      out += ')';
    }
    out += ",\n";
  }
  if (type.constructors().empty()) out += "  \n";
  out += "}\n";
}

std::string Printer::expression(const Expr& expr) {
  Piece whole;
  scope_ = &whole;
  if (options_.version) whole.text = "#[version = \"0.0.5\"]\n";
  count_uses(expr);
  tail(expr.get(), whole, false);
  return finish(whole);
}

std::string Printer::type(const Type& type) {
  Piece whole;
  if (options_.version) whole.text = "#[version = \"0.0.5\"]\n";
  append_type(whole.text, type);
  return finish(whole);
}

std::string Printer::finish(Piece& whole) {
  if (options_.positions) fill_positions(whole);
  std::string text = std::move(whole.text);
  if (metadata_.empty()) return text;
  text += '\n';
  switch (options_.metadata) {
    case PrintOptions::Metadata::kFull:
      text += "#[metadata]\n" + metadata_.json();
      break;
    case PrintOptions::Metadata::kComment:
      text +=
          "/* For debugging purposes the metadata section has been omitted.\n"
          " * If you would like to see the full metadata section you can set the \n"
          " * option to `True` when invoking `astext`. \n"
          " */";
      break;
    case PrintOptions::Metadata::kNone:
      break;
  }
  return text;
}

void Printer::fill_positions(const Piece& whole) {
  auto calls = whole.calls;
  std::sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  options_.positions->clear();
  size_t at = 0, line_start = 0;
  uint32_t line = 1;
  for (const auto& [offset, call] : calls) {
    for (; at < offset; ++at)
      if (whole.text[at] == '\n') {
        ++line;
        line_start = at + 1;
      }
    options_.positions->push_back({call, line, static_cast<uint32_t>(offset - line_start) + 1});
  }
}

}  // namespace baton::text

namespace baton {

std::string print(const IRModuleNode& module, const PrintOptions& options) {
  return text::Printer(options).module(module);
}
std::string print(const Expr& expr, const PrintOptions& options) {
  return text::Printer(options).expression(expr);
}

namespace {

PrintOptions astext_options(bool show_meta_data) {
  PrintOptions options;
  options.metadata = show_meta_data ? PrintOptions::Metadata::kFull : PrintOptions::Metadata::kComment;
  return options;
}

PrintOptions str_options() {
  PrintOptions options;
  options.version = false;
  options.metadata = PrintOptions::Metadata::kNone;
  return options;
}

}  // namespace

std::string astext(const IRModule& module, bool show_meta_data) {
  return print(*module, astext_options(show_meta_data));
}
std::string astext(const Expr& expr, bool show_meta_data) {
  return print(expr, astext_options(show_meta_data));
}
std::string astext(const Type& type) { return text::Printer(astext_options(true)).type(type); }
std::string str(const IRModule& module) { return print(*module, str_options()); }
std::string str(const Expr& expr) { return print(expr, str_options()); }
std::string str(const Type& type) { return text::Printer(str_options()).type(type); }

}  // namespace baton
