#pragma once
// The printer's implementation: one class. Layout is in printer.cc; names, types and comments are in
// print_parts.cc.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "baton/ir/attr_objects.h"
#include "baton/support/pointer_index.h"
#include "baton/text/metadata.h"
#include "baton/text/origin_text.h"
#include "baton/text/print_options.h"

namespace baton::text {

/// A fragment of text, and the positions of operator calls in it (only if positions are requested).
struct Piece {
  std::string text;
  std::vector<std::pair<size_t, const CallNode*>> calls;
  int indent = 0;  ///< of its lines after the first

  void clear() {
    text.clear();
    calls.clear();
  }
};

/// The printing state of a node.
struct NodeState {
  static constexpr uint32_t kNone = ~0u;
  uint32_t uses = 0;
  uint32_t number = kNone;  ///< `%number`; for a variable the index of its name; for a constant of its text
  uint32_t piece = kNone;   ///< its right-hand side, built but not yet printed
  bool written = false;     ///< its comment has been printed
};

/// The states of all nodes of the printed graph; a node must be added before it is looked up.
class NodeTable {
 public:
  /// The state of `node`, and whether it is new.
  std::pair<NodeState*, bool> add(const ExprNode* node) {
    const auto [index, fresh] = index_.add(node);
    if (fresh) states_.emplace_back();
    return {&states_[index], fresh};
  }
  NodeState& operator[](const ExprNode* node) { return states_[index_.find(node)]; }

 private:
  PointerIndex index_;
  std::vector<NodeState> states_;
};

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string module(const IRModuleNode& module);
  std::string expression(const Expr& expr);
  std::string type(const Type& type);

 private:
  // ---- Pieces and lines
  uint32_t new_piece();
  void free_piece(uint32_t piece);
  void append(Piece& to, const Piece& from);
  void new_line(Piece& to) { to.text.append(1, '\n').append(static_cast<size_t>(to.indent), ' '); }
  void emit_line(const ExprNode* node, NodeState& state, bool typed);

  // ---- Expressions
  void count_uses(const Expr& root);
  void visit(const ExprNode* root);
  void make_piece(const ExprNode* node);
  void make_call(const CallNode* call, Piece& into);
  void operand(const ExprNode* node, Piece& into, bool typed);
  bool atom(const ExprNode* node, Piece& into, bool typed);
  void scope(const ExprNode* body, Piece& into, bool typed);
  void tail(const ExprNode* node, Piece& into, bool typed);
  void let_chain(const LetNode* let, Piece& into, bool typed);
  void function(const FunctionNode* function, std::string_view head, Piece& into);
  void if_else(const IfNode* branch, Piece& into);
  void match(const MatchNode* match, Piece& into);
  void pattern(const PatternNode& pattern, Piece& into, bool typed);
  void block(const ExprNode* body, Piece& into, bool typed);
  void type_definition(const TypeDataNode& type, std::string& out);
  void variable(const VarNode* var, Piece& into, bool typed);
  void binding(const VarNode* var, Piece& into, bool typed, const VirtualDevice* device = nullptr);
  void meet(const ConstantNode* constant);
  void constant(const ConstantNode* constant, NodeState& state, Piece& into, bool typed);

  // ---- Names, types, attributes, comments
  std::string unique_name(const std::string& hint);
  void append_type(std::string& out, const Type& type);
  void append_types(std::string& out, const std::vector<Type>& types);
  void append_type_params(std::string& out, const std::vector<TypeVar>& vars);
  void append_value(std::string& out, const AttrValue& value);
  void append_object(std::string& out, const Ref<const AttrObject>& object);
  void append_extent(std::string& out, Dim dim);
  void append_meta(std::string& out, const std::string& type_key, size_t index);
  void call_attrs(const CallNode* call, std::string& out, bool first);
  void comment(const ExprNode* node, bool typed, std::string& out);
  void origin_comment(const OriginSet& origins, std::string& out);
  std::string finish(Piece& whole);
  void fill_positions(const Piece& whole);

  const PrintOptions& options_;
  NodeTable nodes_;
  std::vector<Piece> pieces_;
  std::vector<uint32_t> free_pieces_;
  std::vector<std::pair<const ExprNode*, uint32_t>> stack_;  // of visit(): a node and its next child
  Piece* scope_ = nullptr;                                   // receives lines
  int depth_ = 0;
  uint32_t next_number_ = 0;
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> used_names_;
  std::unordered_map<const TypeNode*, size_t> incomplete_types_;
  std::unordered_map<uint32_t, size_t> extents_;          // symbolic ones
  std::unordered_map<const void*, size_t> meta_objects_;  // attributes and their objects, by address
  MetadataWriter metadata_;
  OriginWriter origins_;
};

}  // namespace baton::text
