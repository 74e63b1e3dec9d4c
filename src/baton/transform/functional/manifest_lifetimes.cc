// Inserts memory.kill after the last use of every variable:
//   let a = exp(x); let b = tanh(a); b
//   ->  let a = exp(x); let u = memory.kill(x); let b = tanh(a); let v = memory.kill(a); b
// When the last uses are in branches of an if or match, it is killed in every branch: at the start of those
// that do not use it. Results of functions and branches are not killed. Requires A-normal form; a value used
// in a nested expression is killed after the enclosing let. Aliases (let b = a) are removed.

#include <algorithm>

#include "baton/ir/adt.h"
#include "baton/ir/functions.h"
#include "baton/ir/op.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/pass/causes.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"

namespace baton {

namespace {

class AliasRemover final : public Rewriter {
 private:
  void let_value(const LetNode& let, const Expr& value) override {
    if (value->kind() == ExprKind::kVar) map(Expr(let.var()), value);
  }
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* let = as<LetNode>(rebuilt);
    return let && let->value()->kind() == ExprKind::kVar ? let->body() : rebuilt;
  }
};

/// A chain of lets and the result after it: the body of a function, or a branch.
struct Block {
  struct Item {
    Var var;  // null: the result
    Expr value;
    std::vector<uint32_t> inside;  // the blocks of its branches, or of its body
    std::vector<Var> kills;        // inserted after it
  };
  uint32_t parent = UINT32_MAX, item = 0;  // the enclosing block and item
  bool is_function = false;
  std::vector<Item> items;
  std::vector<Var> kills;  // at the start of the block
  Expr built;
};

class Lifetimes {
 public:
  Lifetimes(uint64_t& next, const IRModuleNode& module) : next_(next), module_(module) {}

  Function run(const Function& function) {
    any_ = function->origins();
    post_order(Expr(function), [&](const Expr& node) {
      if (any_.empty() && node->kind() == ExprKind::kCall) any_ = node->origins();
    });
    if (any_.empty()) any_ = Causes(Expr(function), &module_).of(Expr(function));  // it only calls others
    open(function);
    for (uint32_t i = 0; i < blocks_.size(); ++i) fill(i);
    for (const VarNode* var : defined_) place(*var);
    for (auto block = static_cast<uint32_t>(blocks_.size()); block-- > 0;) build(block);
    return remake_function(*function, function->params(), blocks_[0].built);
  }

 private:
  struct Use {
    uint32_t block, item;
  };
  struct Variable {
    uint32_t block = 0, item = 0;
    bool is_let = false;
    Expr value;
    std::vector<Use> uses;
  };

  // ---- Blocks, and bindings and uses of variables

  uint32_t open(const Expr& body, uint32_t parent, uint32_t item) {
    Block block;
    block.parent = parent;
    block.item = item;
    block.built = body;  // placeholder until the block is built
    blocks_.push_back(std::move(block));
    return static_cast<uint32_t>(blocks_.size() - 1);
  }
  uint32_t open(const Function& function) {
    const uint32_t block = open(function->body(), UINT32_MAX, 0);
    blocks_[block].is_function = true;
    for (const Var& param : function->params()) define(param, block, 0, {});
    return block;
  }

  void define(const Var& var, uint32_t block, uint32_t item, const Expr& value) {
    const auto [at, fresh] = variables_.insert(var.get(), Variable{block, item, bool(value), value, {}});
    if (fresh) defined_.push_back(var.get());
  }

  void fill(uint32_t block) {
    Expr at = blocks_[block].built;
    for (const LetNode* let = as<LetNode>(at); let; let = as<LetNode>(at)) {
      const auto item = static_cast<uint32_t>(blocks_[block].items.size());
      define(let->var(), block, item, let->value());
      add(block, let->var(), let->value());
      at = let->body();
    }
    add(block, {}, at);
  }

  void add(uint32_t block, const Var& var, const Expr& value) {
    const auto item = static_cast<uint32_t>(blocks_[block].items.size());
    Block::Item made{var, value, {}, {}};
    if (const auto* branch = as<IfNode>(value)) {
      use(branch->condition(), block, item);
      made.inside = {open(branch->then(), block, item), open(branch->otherwise(), block, item)};
    } else if (const auto* match = as<MatchNode>(value)) {
      use(match->data(), block, item);
      for (const Clause& clause : match->clauses()) {
        made.inside.push_back(open(clause.body, block, item));
        for (const Var& bound : pattern_vars(clause.pattern)) define(bound, made.inside.back(), 0, {});
      }
    } else {
      use(value, block, item);
      const auto function = as_ref<FunctionNode>(value);
      if (function && !is_closed(*function)) made.inside.push_back(open(function));
    }
    blocks_[block].items.push_back(std::move(made));
  }

  void use(const Expr& value, uint32_t block, uint32_t item) {
    if (value->kind() == ExprKind::kVar) return use(as<VarNode>(value), block, item);
    if (const auto* call = as<CallNode>(value);
        call &&
        std::all_of(call->args().begin(), call->args().end(),
                    [](const Expr& arg) { return arg->kind() == ExprKind::kVar; }) &&
        call->callee()->kind() == ExprKind::kOp) {
      for (const Expr& arg : call->args()) use(as<VarNode>(arg), block, item);
      return;
    }
    for (const Var& var : free_vars(value)) use(var.get(), block, item);
  }
  void use(const VarNode* var, uint32_t block, uint32_t item) {
    // An unbound variable is a recursive reference of a function to itself, which is not killed.
    if (Variable* known = variables_.find(var)) known->uses.push_back({block, item});
  }

  // ---- Lifetime ends

  void place(const VarNode& var) {
    const Variable& variable = *variables_.find(&var);
    if (variable.uses.empty()) {
      if (variable.is_let) blocks_[variable.block].items[variable.item].kills.emplace_back(&var);
      return;
    }
    last_.clear();
    for (const Use& use : variable.uses) mark(use, variable.block);
    std::vector<uint32_t> todo{variable.block};
    while (!todo.empty()) {
      Block& block = blocks_[todo.back()];
      const uint32_t at = *last_.find(&blocks_[todo.back()]);
      todo.pop_back();
      Block::Item& item = block.items[at];
      const bool branches = !item.inside.empty() && !blocks_[item.inside[0]].is_function;
      if (!branches) {
        if (item.var) item.kills.emplace_back(&var);
        continue;
      }
      for (const uint32_t inside : item.inside) {
        if (last_.find(&blocks_[inside]))
          todo.push_back(inside);
        else
          blocks_[inside].kills.emplace_back(&var);
      }
    }
  }

  // Marks the last item that uses it in each block, from the use out to the variable's block.
  void mark(Use use, uint32_t home) {
    for (;;) {
      const auto [last, fresh] = last_.insert(&blocks_[use.block], use.item);
      const bool known = !fresh && *last >= use.item;
      if (!fresh) *last = std::max(*last, use.item);
      if (known || use.block == home || blocks_[use.block].parent == UINT32_MAX) return;
      use = {blocks_[use.block].parent, blocks_[use.block].item};
    }
  }

  // ---- Insertion of kills; nested blocks are built first

  void build(uint32_t which) {
    Block& block = blocks_[which];
    Expr at = value(block.items.back());
    for (auto item = block.items.rbegin() + 1; item != block.items.rend(); ++item) {
      at = killed(item->kills, item->value, at);
      at = make_let(item->var, value(*item), at, NodeInfo(OriginSet::none()));
    }
    block.built = killed(block.kills, block.items[0].value, at);
  }

  Expr value(const Block::Item& item) const {
    if (item.inside.empty()) return item.value;
    const NodeInfo info = item.value->with_type({});
    if (const auto* branch = as<IfNode>(item.value))
      return make_if(branch->condition(), blocks_[item.inside[0]].built, blocks_[item.inside[1]].built, info);
    if (const auto* match = as<MatchNode>(item.value)) {
      std::vector<Clause> clauses;
      for (size_t i = 0; i < item.inside.size(); ++i)
        clauses.push_back({match->clauses()[i].pattern, blocks_[item.inside[i]].built});
      return make_match(match->data(), std::move(clauses), match->complete(), info);
    }
    const auto* function = as<FunctionNode>(item.value);
    return remake_function(*function, function->params(), blocks_[item.inside[0]].built);
  }

  // The causes are the operators that computed the value, else those of the last user. A program without
  // operators has none.
  Expr killed(const std::vector<Var>& vars, const Expr& user, Expr body) {
    for (auto var = vars.rbegin(); var != vars.rend(); ++var) {
      const Expr& made = variables_.find(var->get())->value;
      const OriginSet& causes = made && !made->origins().empty() ? made->origins()
                                : !user->origins().empty()       ? user->origins()
                                                                 : any_;
      const OriginScope scope(causes.empty() ? causes
                                             : OriginSet::made_for(causes, "its value is not used any more"));
      const Expr kill = call("memory.kill", {Expr(*var)});
      body = make_let(make_var("x_" + std::to_string(next_++), {}, NodeInfo(OriginSet::none())), kill, body,
                      NodeInfo(OriginSet::none()));
    }
    return body;
  }

  uint64_t& next_;
  const IRModuleNode& module_;
  OriginSet any_ = OriginSet::none();
  std::vector<Block> blocks_;
  PointerMap<Variable> variables_;
  std::vector<const VarNode*> defined_;
  PointerMap<uint32_t> last_;  // by block, for the current variable
};

}  // namespace

Pass manifest_lifetimes() {
  return function_pass(
      {0, "ManifestLifetimes", {}}, [](const Function& function, const IRModule& module, const PassContext&) {
        if (function->is_primitive()) return function;
        uint64_t next = 0;
        return Lifetimes(next, *module).run(as_ref<FunctionNode>(AliasRemover().run(Expr(function))));
      });
}

}  // namespace baton
