// Explains why operators are or are not fused with their users.
#include <set>

#include "baton/transform/fuse/fuse_ops.h"
#include "baton/transform/fuse/fusion_groups.h"

namespace baton {

const char* not_fused_text(NotFused why) {
  switch (why) {
    case NotFused::kFused:
      return "it is fused";
    case NotFused::kLevel:
      return "fusion is off at level 0";
    case NotFused::kOpaque:
      return "this operator is always a kernel of its own";
    case NotFused::kEscapes:
      return "its value is needed by itself: as a result, in a let or branch, or by a function";
    case NotFused::kNoCommonUser:
      return "its users meet in no common operator";
    case NotFused::kDepth:
      return "the kernel would hold more operators than relay.FuseOps.max_depth";
    case NotFused::kTupleUser:
      return "its users meet in a tuple, which is no operator";
    case NotFused::kNotElementwise:
      return "only elementwise operators of the same shape may follow it in its kernel";
    case NotFused::kReduction:
      return "nothing may follow a reduction in its kernel";
    case NotFused::kBlocked:
      return "an operator on the way to its users' common user does not allow it";
  }
  return "";
}

std::string FusionGroups::name_of(uint32_t node) const {
  const Expr& expr = nodes_[node].expr;
  const auto* call = as<CallNode>(expr);
  if (call && call->op()) return "`" + call->op()->name + "`";
  return expr->kind() == ExprKind::kTuple ? "a tuple" : "what uses it";
}

// Why the blocking operator prevents fusion.
std::string FusionGroups::blocked_text(uint32_t at) const {
  const uint32_t blocker = nodes_[at].blocker;
  const std::string name = name_of(blocker);
  if (nodes_[blocker].pattern == Fuse::kOpaque) return name + " is always a kernel of its own";
  if (nodes_[blocker].pattern == Fuse::kOutFusable) return name + " takes its inputs from memory";
  if (!nodes_[root(blocker)].has_anchor) return name + " does not allow it";
  return name + (nodes_[root(at)].has_anchor ? " ends the kernel of another convolution or matrix product"
                                             : " ends the kernel of a convolution or matrix product");
}

std::vector<FusionGroups::Refusal> FusionGroups::refusals() const {
  std::vector<Refusal> refusals;
  for (uint32_t at = 0; at < nodes_.size(); ++at) {
    const Node& node = nodes_[at];
    const auto* call = as<CallNode>(node.expr);
    if (!call || !call->op() || root(at) != at) continue;
    const NotFused why = options_.level == 0 ? NotFused::kLevel : node.why;
    std::string text = not_fused_text(why);
    if (why == NotFused::kBlocked && node.blocker != kNone && name_of(node.blocker)[0] == '`')
      text = blocked_text(at);
    refusals.push_back({node.expr, why, std::move(text)});
  }
  return refusals;
}

std::vector<FusionGroups::Joint> FusionGroups::joints() const {
  std::vector<Joint> joints;
  for (uint32_t at = 0; at < nodes_.size(); ++at) {
    const Node& node = nodes_[at];
    const auto* call = as<CallNode>(node.expr);
    if (!call || !call->op() || root(at) == at || node.joined == kNone) continue;
    const std::string until = name_of(node.joined);
    joints.push_back({node.expr, node.pattern == Fuse::kOutFusable
                                     ? "only elementwise operators follow, up to " + until
                                     : "its elements are made one by one, as " + until + " reads them"});
  }
  return joints;
}

void FusionLog::add(const FusionGroups& groups) {
  const auto note = [&](const Expr& call, bool fused, std::string& text) {
    entries_.push_back({as<CallNode>(call)->op()->name, call->origins(), fused, std::move(text)});
  };
  for (FusionGroups::Joint& joint : groups.joints()) note(joint.call, true, joint.text);
  for (FusionGroups::Refusal& refusal : groups.refusals()) note(refusal.call, false, refusal.text);
}

void FusionLog::join(const std::vector<Ref<const CallNode>>& calls) {
  using Key = std::pair<std::string_view, std::vector<const Origin*>>;
  const auto key = [](std::string_view op, const OriginSet& set) {
    return Key{op, {set.origins().begin(), set.origins().end()}};
  };
  std::multiset<Key> joined;
  for (const auto& call : calls) joined.insert(key(call->op()->name, call->origins()));
  for (Entry& entry : entries_) {
    const auto at = entry.fused ? joined.end() : joined.find(key(entry.op, entry.origins));
    if (at == joined.end()) continue;
    joined.erase(at);
    entry.fused = true;
    entry.text = "only a recurrent cell reads it, which is one kernel";
  }
}

}  // namespace baton
