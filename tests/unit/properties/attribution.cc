#include "properties/attribution.h"

#include <bitset>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/text/origin_label.h"

namespace baton::properties {

namespace {

using Bits = std::bitset<256>;

// What an annotation is put around.
Expr without_annotations(Expr expr) {
  for (const auto* call = as<CallNode>(expr);
       call && call->op() && (call->op()->name.starts_with("annotation.") || call->op()->name == "on_device");
       call = as<CallNode>(expr))
    expr = call->args()[0];
  return expr;
}

// The data flow of main as a graph. Functions that are called are part of it, once: two calls of one share
// its nodes, which makes the sets larger, never smaller.
class Flow {
 public:
  /// `all`: with every flow that there may be through calls of who knows what; else with those that are
  /// certain.
  Flow(const IRModule& module, bool all) : module_(module), all_(all) {
    const Function main = module->find("main");
    for (size_t i = 0; i < main->params().size(); ++i) {
      params_.emplace(main->params()[i].get(), main->params()[i]->name());
      const size_t node = id(Expr(main->params()[i]));  // first: it makes room
      depends_[node].set(i);
      bit_of_[main->params()[i]->name()] = i;
    }
    add(Expr(main));
    while (!todo_.empty()) {
      const Expr function = todo_.back();
      todo_.pop_back();
      add(function);
    }
    // A call of who knows what may be one of any function here that takes as much.
    for (const Expr& call : all ? unknown_ : std::vector<Expr>())
      for (const Expr& lambda : lambdas_) {
        const auto& args = as<CallNode>(call)->args();
        const auto& params = as<FunctionNode>(lambda)->params();
        for (size_t i = 0; args.size() == params.size() && i < args.size(); ++i)
          edge(Expr(params[i]), args[i]);
      }
    mark_results(main->body());
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t node = 0; node < nodes_.size(); ++node)
        for (const size_t input : inputs_[node]) {
          changed |= grow(results_[input], results_[node]);
          changed |= grow(depends_[node], depends_[input]);
        }
    }
  }

  const std::vector<Expr>& nodes() const { return nodes_; }
  const Bits& results(size_t node) const { return results_[node]; }
  const Bits& depends(size_t node) const { return depends_[node]; }
  /// The bit of a parameter of main in depends(); nothing for an unknown name.
  const size_t* bit(const std::string& param) const {
    const auto at = bit_of_.find(param);
    return at == bit_of_.end() ? nullptr : &at->second;
  }
  /// The parameter of main that `expr` is, also through the parameter of a called function; null for anything
  /// else.
  const std::string* param(const Expr& expr) const {
    const auto at = params_.find(expr.get());
    if (at != params_.end()) return &at->second;
    const auto known = ids_.find(expr.get());
    if (known == ids_.end() || expr->kind() != ExprKind::kVar || inputs_[known->second].size() != 1)
      return nullptr;
    return param(nodes_[inputs_[known->second][0]]);
  }

 private:
  static bool grow(Bits& into, const Bits& by) {
    const Bits before = into;
    into |= by;
    return into != before;
  }
  size_t id(const Expr& expr) {
    const auto [at, fresh] = ids_.emplace(expr.get(), nodes_.size());
    if (fresh) {
      nodes_.push_back(expr);
      inputs_.emplace_back();
      results_.emplace_back();
      depends_.emplace_back();
    }
    return at->second;
  }
  void edge(const Expr& reader, const Expr& read) {
    const size_t from = id(read), to = id(reader);
    inputs_[to].push_back(from);
  }

  void add(const Expr& root) {
    if (!added_.insert(root.get()).second) return;
    post_order(root, [&](const Expr& node) {
      if (const auto* let = as<LetNode>(node)) bound_.emplace(let->var().get(), let->value());
    });
    post_order(root, [&](const Expr& node) { connect(node); });
  }

  void bind(const PatternNode& pattern, const Expr& data) {
    if (pattern.kind() == PatternKind::kVar) edge(Expr(pattern.var()), data);
    for (const auto& inner : pattern.patterns()) bind(*inner, data);
  }

  const FunctionNode* called(const CallNode& call) const {
    const auto* global = as<GlobalVarNode>(call.callee());
    return global ? module_->find(global->name()).get() : as<FunctionNode>(call.callee());
  }

  // A function that does one of several things, by the constructor of an argument: what Defunctionalization
  // makes of all closures of a type. Which one a call means is certain only where the constructor is in
  // sight.
  static const MatchNode* choice_of(const FunctionNode& function) {
    const auto* match = as<MatchNode>(function.body());
    return match && match->clauses().size() > 1 ? match : nullptr;
  }
  const Clause* chosen(const MatchNode& match, const FunctionNode& function, const CallNode& call) const {
    const auto& params = function.params();
    for (size_t i = 0; i < params.size(); ++i) {
      if (Expr(params[i]) != match.data()) continue;
      const Expr made = maker(call.args()[i]);
      const auto* data = as<CallNode>(made);
      const auto* constructor = as<ConstructorNode>(data ? data->callee() : made);
      for (const Clause& clause : match.clauses())
        if (clause.pattern->kind() == PatternKind::kConstructor &&
            clause.pattern->constructor().get() == constructor)
          return &clause;
    }
    return nullptr;
  }

  // The expression that makes `expr`'s value: behind annotations, lets, variables that lets bind, and calls
  // of functions.
  Expr maker(Expr expr) const {
    for (int steps = 0; steps < 1000; ++steps) {
      expr = without_annotations(expr);
      const auto* call = as<CallNode>(expr);
      const auto bound = bound_.find(expr.get());
      if (const auto* let = as<LetNode>(expr))
        expr = let->body();
      else if (bound != bound_.end())
        expr = bound->second;
      else if (const FunctionNode* function = call && !call->op() ? called(*call) : nullptr)
        expr = function->body();
      else
        return expr;
    }
    return expr;
  }

  void connect(const Expr& node) {
    if (const auto* call = as<CallNode>(node)) {
      const FunctionNode* function = call->op() ? nullptr : called(*call);
      if (function && as<GlobalVarNode>(call->callee())) todo_.push_back(Expr(function));
      if (const MatchNode* choice = function && !all_ ? choice_of(*function) : nullptr) {
        if (const Clause* clause = chosen(*choice, *function, *call)) edge(node, clause->body);
      } else if (function) {
        edge(node, function->body());
        for (size_t i = 0; i < call->args().size(); ++i) edge(Expr(function->params()[i]), call->args()[i]);
      } else {
        if (!call->op()) edge(node, call->callee());
        if (!call->op() && !as<ConstructorNode>(call->callee())) unknown_.push_back(node);
        for (const Expr& arg : call->args()) edge(node, arg);
      }
    } else if (const auto* item = as<TupleGetItemNode>(node); item && as<TupleNode>(maker(item->tuple()))) {
      edge(node, as<TupleNode>(maker(item->tuple()))->fields()[static_cast<size_t>(item->index())]);
    } else if (const auto* let = as<LetNode>(node)) {
      edge(Expr(let->var()), let->value());
      edge(node, let->body());
    } else if (const auto* lambda = as<FunctionNode>(node)) {
      edge(node, lambda->body());
      lambdas_.push_back(node);
    } else if (const auto* match = as<MatchNode>(node)) {
      edge(node, match->data());
      for (const Clause& clause : match->clauses()) {
        edge(node, clause.body);
        bind(*clause.pattern, match->data());
      }
    } else if (const auto* write =
                   as<RefWriteNode>(node)) {  // what is written comes out wherever the cell is read
      edge(write->ref(), write->value());
      edge(node, write->value());
    } else {
      for_each_child(*node, [&](const Expr& child) { edge(node, child); });
    }
  }

  void mark_results(Expr body) {
    const Expr result = maker(body);
    if (as<TupleNode>(result)) body = result;
    const auto* tuple = as<TupleNode>(body);
    if (!tuple) {
      const size_t node = id(body);
      results_[node].set(0);
      return;
    }
    for (size_t i = 0; i < tuple->fields().size(); ++i) {
      const size_t node = id(tuple->fields()[i]);
      results_[node].set(i);
    }
  }

  const IRModule module_;
  const bool all_;
  std::unordered_map<const ExprNode*, Expr> bound_;  // by lets
  std::unordered_map<const ExprNode*, size_t> ids_;
  std::vector<Expr> nodes_, todo_, lambdas_, unknown_;
  std::vector<std::vector<size_t>> inputs_;
  std::vector<Bits> results_, depends_;
  std::unordered_map<const ExprNode*, std::string> params_;
  std::map<std::string, size_t> bit_of_;
  std::set<const ExprNode*> added_;
};

// What the operators of the source lead to and depend on.
struct Facts {
  Bits results, depends;
};

}  // namespace

std::string misattribution(const IRModule& before, const IRModule& after, bool forward) {
  const Flow source(before, true), result(after, false);
  std::unordered_map<const Origin*, Facts> facts;
  for (size_t node = 0; node < source.nodes().size(); ++node) {
    for (const Origin* origin : source.nodes()[node]->origins().origins()) {
      facts[origin].results |= source.results(node);
      facts[origin].depends |= source.depends(node);
    }
  }
  for (size_t node = 0; node < result.nodes().size(); ++node) {
    const auto* call = as<CallNode>(result.nodes()[node]);
    if (!call || !call->op() || call->origins().origins().empty()) continue;
    Facts own;
    std::string labels;
    for (const Origin* origin : call->origins().origins()) {
      own.results |= facts[origin].results;
      own.depends |= facts[origin].depends;
      labels += (labels.empty() ? "" : ", ") + origin_label(*origin);
    }
    const std::string who = call->op()->name + " that stands for " + labels;
    if ((result.results(node) & ~own.results).any())
      return who + " leads to a result that they do not lead to";
    if (forward) continue;
    for (const Expr& arg : call->args()) {
      const std::string* param = result.param(arg);
      const size_t* bit = param ? source.bit(*param) : nullptr;
      if (bit && !own.depends.test(*bit)) return who + " reads %" + *param + ", which they do not depend on";
    }
  }
  return "";
}

}  // namespace baton::properties
