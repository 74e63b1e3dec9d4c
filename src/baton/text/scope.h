#pragma once
// Names in scope during parsing: local variables by name, graph variables by number.
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/text/token.h"

namespace baton::text {

class Scope {
 public:
  struct Local {
    Var var;
    Token name;
    int function_depth = 0;
    bool in_own_value = false;  ///< while the value of its `let` is parsed
  };
  struct Graph {
    Expr expr;
    Token name;
    uint32_t block = 0;
  };

  /// Blocks nest; declarations end with their block. Graph variables remain visible until `clear_graph`:
  /// printed text may define one in the first branch of an `if` and use it in the second.
  void open_block();
  void close_block();
  void enter_function() { ++function_depth_; }
  void leave_function() { --function_depth_; }
  int function_depth() const { return function_depth_; }

  /// The innermost variable of that name, or null.
  Local* find(std::string_view name);
  void declare(const Token& name, Var var);
  /// Whether the innermost block itself declares `name`.
  bool declared_here(std::string_view name) const;
  /// For "did you mean"; at most the innermost thousand.
  std::vector<std::string> visible_names() const;

  const Graph* find_graph(uint64_t number) const;
  /// The entry of `number` if its defining block is still open, else null.
  const Graph* open_graph(uint64_t number) const;
  void define_graph(uint64_t number, const Token& name, Expr expr);
  void clear_graph();

 private:
  static constexpr uint32_t kNone = ~0u;
  struct Entry {
    Local local;
    uint32_t outer;  // the shadowed entry
  };
  struct Block {
    size_t locals;
    uint32_t id;
  };
  std::vector<Entry> locals_;
  std::unordered_map<std::string_view, uint32_t> innermost_;
  std::vector<Block> blocks_;
  std::vector<bool> open_;  // by block id
  int function_depth_ = 0;

  uint64_t first_ = 0;
  std::vector<Graph> dense_;                    // first_, first_ + 1, ...: the numbering of printed text
  std::unordered_map<uint64_t, Graph> sparse_;  // any other number
};

}  // namespace baton::text
