#include "baton/pass/origin_verifier.h"

#include <algorithm>

#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/pass/origin_ledger.h"
#include "baton/support/pointer_map.h"

namespace baton {

// Facts about a module before a pass that the rules depend on.
struct OriginVerifier::ModuleFacts {
  PointerMap<const ConstantNode*> constants;  // by data pointer
  bool bare_primitives = false;               // there is a primitive function without origins

  void add(const ConstantNode& constant) { constants.insert(constant.value().data(), &constant); }
  /// Whether a constant is one of these, or another node with the same array.
  bool has(const ConstantNode& constant) const {
    const ConstantNode* const* known = constants.find(constant.value().data());
    return known && (*known)->value().shape() == constant.value().shape() &&
           (*known)->value().dtype() == constant.value().dtype();
  }
};

namespace {

using ModuleFacts = OriginVerifier::ModuleFacts;

using Origins = std::vector<const Origin*>;

std::string described(const Origin& origin) {
  std::string text = "`" + origin.op() + "`";
  if (origin.span())
    text += " (" + origin.span().text() + ")";
  else if (!origin.source_name().empty())
    text += " (" + origin.source_name() + ")";
  else
    text += " (operator number " + std::to_string(origin.serial()) + " of this process)";
  return text;
}

std::string described(const Origins& origins) {
  std::string text;
  for (size_t i = 0; i < origins.size() && i < 3; ++i) text += (i ? ", " : "") + described(*origins[i]);
  if (origins.size() > 3) text += " and " + std::to_string(origins.size() - 3) + " more";
  return text.empty() ? "nothing" : text;
}

// The location of a node without origins: its own span, or that of the nearest argument with origins.
std::string place_of(const ExprNode& node) {
  if (node.span()) return " at " + node.span().text();
  const ExprNode* at = &node;
  for (int steps = 0; steps < 100; ++steps) {
    const ExprNode* next = nullptr;
    for_each_child(*at, [&](const Expr& child) {
      if (!next && child && child->kind() != ExprKind::kOp && child->kind() != ExprKind::kVar)
        next = child.get();
    });
    if (!next) break;
    if (!next->origins().origins().empty())
      return ", computed from " + described(*next->origins().origins()[0]);
    at = next;
  }
  return "";
}

void sort_unique(Origins& origins) {
  std::sort(origins.begin(), origins.end(),
            [](const auto* a, const auto* b) { return a->serial() < b->serial(); });
  origins.erase(std::unique(origins.begin(), origins.end()), origins.end());
}

class Verification {
 public:
  /// `before`: the module's facts before the pass; null when unknown.
  Verification(const IRModuleNode& module, const std::string& pass, size_t known, const ModuleFacts* before)
      : module_(module),
        pass_(pass),
        known_(known),
        before_(before),
        ids_(module.origins()),
        carried_(module.origins().size()) {}

  // Checks every reachable node, then the table.
  void run() {
    for (const auto& [name, function] : module_.functions()) todo_.push_back(function.get());
    while (!todo_.empty()) {
      const ExprNode* node = todo_.back();
      todo_.pop_back();
      if (!seen_.insert(node)) continue;
      check(*node);
      for_each_child(*node, [&](const Expr& child) {
        // Variables and operators need no check and are numerous.
        if (child->kind() != ExprKind::kOp && (child->kind() != ExprKind::kVar || !child->origins().empty()))
          todo_.push_back(child.get());
      });
    }
    for (size_t id = 0; id < carried_.size(); ++id) {
      if (carried_[id] || module_.origins().retired(OriginId(id))) continue;
      fail("the operator " + described(module_.origins().at(OriginId(id))) + " is lost",
           "what replaces it must be built inside a Rewriter (or in an OriginScope of its origins); when it "
           "really goes "
           "away, call retire() with the reason and declare may_retire");
    }
  }

  /// Facts of the module as verified; valid after run().
  const std::shared_ptr<ModuleFacts>& facts() const { return facts_; }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& advice) const {
    throw InternalError(__FILE__, __LINE__, "after pass " + pass_ + ": " + what + "; " + advice);
  }

  void check(const ExprNode& node) {
    for (const Origin* origin : node.origins().origins()) {
      const auto id = ids_.find(origin);
      if (!id || *id >= known_) {
        fail("the operator " + described(*origin) + " appeared, though passes make no origins of their own",
             "build calls inside a Rewriter or in an OriginScope");
      }
      carried_[*id] = true;
    }
    if (node.kind() == ExprKind::kCall) {
      check_call(static_cast<const CallNode&>(node));
    } else if (node.kind() == ExprKind::kFunction) {
      const auto& function = static_cast<const FunctionNode&>(node);
      if (function.is_primitive()) check_primitive(function);
    } else if (node.kind() == ExprKind::kConstant) {
      const auto& constant = static_cast<const ConstantNode&>(node);
      facts_->add(constant);
      if (before_ && node.origins().empty() && !before_->has(constant)) {
        fail("a constant of type " + type_text(node.checked_type()) + " stands for nothing",
             "build it in an OriginScope of the operators it was computed from");
      }
    }
  }

  void check_call(const CallNode& call) const {
    if (const OpDef* op = call.op()) {
      if (call.origins().origins().empty() && call.origins().causes().empty()) {
        // In a program without operators, such as fn (%x) { (%x, %x) }, nothing can be a cause.
        if (known_ == 0) return;
        fail("a call of `" + op->name + "`" + place_of(call) + " stands for no operator of the program",
             "build it inside a Rewriter or in an OriginScope, or give it OriginSet::made_for(causes, "
             "reason)");
      }
      return;
    }
    const auto* function = as<FunctionNode>(call.callee());
    Function global;
    if (const auto* name = as<GlobalVarNode>(call.callee())) {
      global = module_.find(name->name());
      function = global.get();
    }
    if (!function || !function->is_primitive() || call.origins() == function->origins()) return;
    fail("a call" + place_of(call) + " stands for " + described(list(call.origins().origins())) +
             ", but the primitive function it calls for " + described(list(function->origins().origins())),
         "give both the union over the operators in its body");
  }

  static Origins list(std::span<const Origin* const> origins) { return {origins.begin(), origins.end()}; }

  void check_primitive(const FunctionNode& function) const {
    if (function.origins().empty()) {
      facts_->bare_primitives = true;
      if (!before_ || before_->bare_primitives) return;  // as in parsed text that was already fused
    }
    Origins origins, causes;
    PointerSet seen;
    std::vector<const ExprNode*> todo{function.body().get()};
    while (!todo.empty()) {
      const ExprNode* node = todo.back();
      todo.pop_back();
      if (!seen.insert(node)) continue;
      if (const auto* call = as<CallNode>(node); call && call->op()) {
        origins.insert(origins.end(), call->origins().origins().begin(), call->origins().origins().end());
        causes.insert(causes.end(), call->origins().causes().begin(), call->origins().causes().end());
      }
      for_each_child(*node, [&](const Expr& child) { todo.push_back(child.get()); });
    }
    sort_unique(origins);
    sort_unique(causes);
    Origins only;
    std::set_difference(causes.begin(), causes.end(), origins.begin(), origins.end(),
                        std::back_inserter(only),
                        [](const auto* a, const auto* b) { return a->serial() < b->serial(); });
    if (std::ranges::equal(origins, function.origins().origins()) &&
        std::ranges::equal(only, function.origins().causes()))
      return;
    fail("a primitive function stands for " + described(list(function.origins().origins())) +
             ", but the operators in its body are " + described(origins),
         "give it and its calls the union over its body");
  }

  const IRModuleNode& module_;
  const std::string& pass_;
  size_t known_;
  const ModuleFacts* before_;
  OriginIds ids_;
  std::vector<bool> carried_;
  PointerSet seen_;
  std::vector<const ExprNode*> todo_;
  std::shared_ptr<ModuleFacts> facts_ = std::make_shared<ModuleFacts>();
};

std::shared_ptr<ModuleFacts> facts_of(const IRModuleNode& module) {
  auto facts = std::make_shared<ModuleFacts>();
  PointerSet seen;
  std::vector<const ExprNode*> todo;
  for (const auto& [name, function] : module.functions()) todo.push_back(function.get());
  while (!todo.empty()) {
    const ExprNode* node = todo.back();
    todo.pop_back();
    if (!seen.insert(node)) continue;
    if (node->kind() == ExprKind::kConstant) facts->add(static_cast<const ConstantNode&>(*node));
    if (const auto* function = as<FunctionNode>(node); function && function->is_primitive())
      facts->bare_primitives |= function->origins().empty();
    for_each_child(*node, [&](const Expr& child) {
      if (child->kind() != ExprKind::kOp && child->kind() != ExprKind::kVar) todo.push_back(child.get());
    });
  }
  return facts;
}

}  // namespace

void verify_origins(const IRModuleNode& module, const std::string& after_pass) {
  Verification(module, after_pass, module.origins().size(), nullptr).run();
}

bool OriginVerifier::Snapshot::describes(const IRModuleNode& module) const {
  return facts && module.origins().size() == origins && module.origins().all_retired().size() == retired &&
         module.functions().size() == functions.size() &&
         std::equal(functions.begin(), functions.end(), module.functions().begin(),
                    [](const Function& held, const auto& entry) { return held == entry.second; });
}

OriginVerifier::Snapshot OriginVerifier::snapshot(const IRModuleNode& module,
                                                  std::shared_ptr<ModuleFacts> facts) {
  Snapshot snapshot;
  for (const auto& [name, function] : module.functions()) snapshot.functions.push_back(function);
  snapshot.origins = module.origins().size();
  snapshot.retired = module.origins().all_retired().size();
  snapshot.facts = std::move(facts);
  return snapshot;
}

void OriginVerifier::run_before_pass(const IRModule& module, const PassInfo& info) {
  if (!last_.describes(*module)) {
    // A nested pass: if the enclosing pass changed the module, the state before that pass is the reference.
    const bool inside = !running_.empty();
    last_ = snapshot(*module, inside ? running_.back().before.facts : facts_of(*module));
    if (inside) last_.origins = running_.back().before.origins;
    last_.trusted = !inside;
  }
  running_.push_back({info.name + (running_.empty() ? "" : ", inside " + running_.back().pass), last_});
}

void OriginVerifier::run_after_pass(const IRModule& module, const PassInfo&) {
  if (running_.empty()) return;  // the instrument was entered while a pass was running
  const Running done = std::move(running_.back());
  running_.pop_back();
  // A pass whose last step ran another pass (every FunctionPass) returns an already verified module.
  if (last_.trusted && last_.describes(*module) && last_.origins == done.before.origins) return;
  Verification verification(*module, done.pass, done.before.origins, done.before.facts.get());
  verification.run();
  last_ = snapshot(*module, verification.facts());
}

}  // namespace baton
