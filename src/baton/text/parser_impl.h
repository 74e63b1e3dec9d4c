#pragma once
// The parser's implementation: one class, implemented in parser.cc (modules, functions), parse_expr.cc,
// parse_type.cc, parse_attrs.cc and scope.cc.
//
// A syntax error is reported and thrown as Recover; statements and definitions catch it and continue after
// it. For any other error (an unknown name, a wrong attribute) parsing continues with a placeholder.
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "baton/ir/attr_objects.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/support/diagnostic.h"
#include "baton/support/sanitized.h"
#include "baton/text/lexer.h"
#include "baton/text/meta_table.h"
#include "baton/text/metadata.h"
#include "baton/text/origin_text.h"
#include "baton/text/scope.h"

namespace baton::text {

/// The limit on nesting of expressions and types keeps the parser's recursion within a small stack (2 MB;
/// frames of sanitized code are several times as large).
inline constexpr int kMaxDepth = kSanitized ? 500 : 1000;

class Parser {
 public:
  /// `module`: the module to parse into; its functions and data types are visible to the text. `metadata`:
  /// see parse_module.
  Parser(std::string text, std::string source_name, IRModule module = {}, MetaTable metadata = {});

  IRModule module();
  Expr single_expr();
  Type single_type();
  FunctionAttrs single_attributes();

 private:
  /// The context of statements. In a block, errors are caught and skipped; an operand is a sequence only when
  /// it begins with a statement; the value of a let consists of lets and one expression.
  enum class Place { kBlock, kOperand, kLetValue };
  struct Recover {};  // thrown after a syntax error was reported

  struct OpEntry {
    const OpDef* def = nullptr;  // null: unknown, and reported
    Expr expr;
    Attrs defaults;
    bool reported = false;
  };
  struct Argument {
    Token name;
    AttrValue value;
    Span span;
  };
  struct PendingLet {
    Var var;
    Expr value;
    Span span;
  };
  /// RAII: counts nesting.
  class Deeper {
   public:
    explicit Deeper(Parser& parser);
    ~Deeper() { --parser_.depth_; }

   private:
    Parser& parser_;
  };

  // ---- Tokens (parser.cc)
  void advance();
  bool at(TokenKind kind) const { return token_.kind == kind; }
  bool accept(TokenKind kind);
  Token expect(TokenKind kind);
  Token expect(TokenKind kind, std::string_view what);
  [[noreturn]] void fail_expected(std::string_view what);
  [[noreturn]] void fail(const DiagnosticDef& def, const Span& span, const std::vector<std::string>& values);
  [[noreturn]] void not_yet(std::string_view what);
  Diagnostic& report(const DiagnosticDef& def, const Span& span, const std::vector<std::string>& values);
  void skip_statement(size_t brackets);
  void skip_to_definition();
  void close_brackets(size_t left);
  /// From the first byte of `from` to the end of the last consumed token.
  Span span_since(const Token& from) const { return lexer_.span(from, last_line_, last_column_); }

  // ---- Modules and functions (parser.cc)
  void version(bool required);
  void definition();
  void function_definition();
  void type_definition(bool is_extern);
  std::vector<TypeVar> generics();
  void constructor_definition(std::vector<std::pair<std::string, std::vector<Type>>>& into,
                              std::vector<Token>& names);
  void finish_globals();
  void finish_types();
  Function function_rest(const Token& start);
  void parameters(std::vector<Var>& params, FunctionAttrs& attrs);
  GlobalVar global(const Token& token);

  // ---- Expressions (parse_expr.cc)
  Expr block();
  Expr sequence(Place place);
  bool statement(Expr& result, bool takes_values);
  void graph_binding();
  void let_binding();
  Expr nested_let();
  void free_var();
  Expr infix_chain();
  /// An operand of infix operators, or a combined subexpression.
  struct Operand {
    Expr expr;
    Span span;
  };
  struct PendingInfix {
    Token symbol;
    int precedence;
    std::string_view op;
  };
  void reduce(std::vector<Operand>& operands, const PendingInfix& infix);
  Expr call();
  Expr atomic();
  Expr parenthesized();
  Expr if_else();
  Expr match_expr();
  Pattern pattern();
  Pattern constructor_pattern_rest(const Token& name);
  Expr reference();
  Expr constructor_value(const Constructor& constructor, const Token& name);
  Token binder_name();
  void extend_name();
  Expr local(const Token& token);
  Expr graph(const Token& token);
  Expr literal(const Token& token);
  struct MetaRef {
    std::string key;
    size_t index;
  };
  MetaRef meta_reference(const Token& token);
  size_t own_metadata(const std::string& key) const { return metadata_ ? metadata_->count(key) : 0; }
  const MetaObject* given_metadata(const MetaRef& ref) const;
  bool has_metadata(const MetaRef& ref, const Token& token);
  Expr meta_constant(const Token& token);
  AttrValue meta_value(const Token& token);
  Dim meta_extent();
  Attrs meta_attrs(const OpEntry* op, const Token& token);
  Expr operator_call(const OpEntry& op, const Token& name, std::vector<Expr> args, Attrs attrs, Span span);
  std::vector<Expr> arguments(const OpEntry* op, Attrs& attrs);
  Expr projection(Expr tuple, const Token& start);
  const OpEntry& op_entry(std::string_view name, const Token& where);
  Expr stand_in();
  /// The origins of the comment before `token`; none without a comment.
  OriginSet noted(const Token& token) const;
  static void show_at(const Expr& expr, const Token& token);

  // ---- Types (parse_type.cc)
  Type type();
  Type named_type();
  bool at_shape() const;
  Type tensor_type_rest();
  Type tuple_type_rest();
  Type func_type_rest();
  Dim extent();
  std::vector<Type> types_until(TokenKind close, bool* trailing_comma);

  // ---- Attributes (parse_attrs.cc)
  bool at_attribute() const;
  Argument attribute();
  AttrValue attr_value();
  AttrValue virtual_device();
  TargetRef device_target();
  VirtualDevice param_device();
  Attrs call_attrs(const OpEntry* op);
  void check_complete(const OpDef& op, const AttrSchema& schema);
  void check_duplicates(const std::vector<Argument>& arguments);
  FunctionAttrs function_attrs();

  DiagnosticEngine engine_;  // before source_, whose construction may report
  Ref<const Source> source_;
  size_t text_end_;  // the start of the metadata section, or the text's size
  Lexer lexer_;
  OriginReader origins_;
  Token token_, next_;
  uint32_t last_line_ = 1, last_column_ = 1;  // end of the last consumed token
  size_t open_brackets_ = 0;
  std::vector<size_t> braces_;  // indices of the `{` among these
  int depth_ = 0;

  IRModule module_;  // null while single_expr
  IRModule init_;    // the initial module, or null
  bool after_extern_ = false;
  struct Definition {
    Token name;
    Function function;
  };
  std::vector<Definition> definitions_;
  std::unordered_map<std::string_view, size_t> defined_;
  struct GlobalUse {
    Token first;
    GlobalVar var;
  };
  std::unordered_map<std::string_view, GlobalUse> globals_;

  struct TypeUse {
    Token name;
    size_t args;
  };
  std::vector<std::pair<std::string_view, TypeVar>> type_vars_;  // in scope, the innermost last
  std::vector<TypeUse> type_uses_;
  std::unordered_map<std::string_view, Token> defined_types_;
  std::unordered_map<std::string_view, GlobalTypeVar> global_type_vars_;  // for single_expr and single_type
  std::unordered_map<std::string_view, Constructor> constructors_;

  Scope scope_;
  std::vector<PendingLet> lets_;
  std::vector<Expr> args_;          // arguments of the calls being parsed
  std::vector<Argument> keywords_;  // attributes of the innermost call
  std::unordered_map<std::string_view, OpEntry> ops_;
  std::unique_ptr<MetadataReader> metadata_;
  MetaTable given_metadata_;  // numbered after those of the section
  std::unordered_map<size_t, Expr> meta_constants_;
  std::unordered_map<std::string_view, Type> meta_types_;  // meta[IncompleteType][i]
  std::unordered_map<std::string, AttrValue> meta_values_;
};

/// The built-in types.
const std::vector<std::string>& type_names();
/// "did you mean `near`?", or "" when no candidate is similar.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace baton::text
