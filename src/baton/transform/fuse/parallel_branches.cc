#include "baton/transform/fuse/parallel_branches.h"

#include <algorithm>

#include "baton/ir/build.h"
#include "baton/ir/origin_scope.h"
#include "baton/ir/rules/algebra.h"
#include "baton/ir/rules/position_free_rule.h"
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"
#include "baton/transform/fuse/branch_uses.h"

namespace baton {

namespace {

using Group = std::vector<Branch>;

/// The index of `before`, its predecessor in the branch, among the arguments of `call`.
size_t position_of(const CallNode& call, const CallNode& before) {
  size_t at = 0;
  while (call.args()[at].get() != &before) ++at;
  return at;
}

/// Whether each element of the result of `next` is computed from the element of `before` at its place, and
/// from elements of other arguments that broadcast to that place. Only then it can be computed of several
/// branches in one tensor: what moves, repeats or compares positions, or adds axes, cannot.
bool stays_in_place(const CallNode& next, const CallNode& before) {
  const auto *from = as_type<TensorTypeNode>(before.checked_type()),
             *to = as_type<TensorTypeNode>(next.checked_type());
  if (!next.op() || !from || !to || !to->is_known() || from->shape() != to->shape()) return false;
  if (next.op()->rules.get<AlongAxis>()) return position_of(next, before) == 0;
  return is_position_free(next);
}

Branch branch_from(const Ref<const CallNode>& head, const BranchUses& uses) {
  Branch branch{head};
  for (;;) {
    const auto next = uses.only_reader(*branch.back());
    if (!next || !stays_in_place(*next, *branch.back())) return branch;
    branch.push_back(next);
  }
}

class ParallelJoiner final : public Rewriter {
 public:
  ParallelJoiner(const Expr& root, const ParallelKind& kind, size_t least) : kind_(kind), uses_(root) {
    find_groups(least);
  }

 private:
  // ---- Matching

  void find_groups(size_t least) {
    PointerMap<std::vector<Ref<const CallNode>>> heads;  // by their data operand
    for (const Expr& node : uses_.order()) {
      auto call = as_ref<CallNode>(node);
      if (!call || !is_call(node, kind_.op) || !node->checked_type() || !kind_.supports(*call)) continue;
      heads[call->args()[0].get()].push_back(call);
    }
    for (const auto& entry : heads.entries())
      for (Group& group : groups_of(entry.value))
        if (group.size() >= least && is_independent(group)) add(std::move(group));
  }

  // Branches of one region: an `if` computes one of its branches only, and what a function or a clause binds
  // does not exist outside of it.
  std::vector<Group> groups_of(const std::vector<Ref<const CallNode>>& heads) {
    std::vector<Group> groups;
    for (const auto& head : heads) {
      const auto group = std::ranges::find_if(groups, [&](const Group& g) {
        return uses_.region(*g[0][0]) == uses_.region(*head) && kind_.fit(*g[0][0], *head);
      });
      if (group == groups.end())
        groups.push_back({branch_from(head, uses_)});
      else
        group->push_back(branch_from(head, uses_));
    }
    return groups;
  }

  // The combined operator depends on the operands of all branches: none of them may depend on a branch, and
  // all must be available at the shared data operand (the first branch may precede the let that binds another
  // branch's operand).
  bool is_independent(const Group& group) const {
    int lowest = uses_.level(Expr(group[0][0]));
    for (const Branch& branch : group) lowest = std::min(lowest, uses_.level(Expr(branch[0])));
    return std::ranges::all_of(group, [&](const Branch& branch) {
      return uses_.level(branch[0]->args()[1]) < lowest && is_there(group, branch[0]->args()[1]);
    });
  }

  bool is_there(const Group& group, const Expr& arg) const {
    return uses_.bound_at(arg) <= uses_.bound_at(group[0][0]->args()[0]);
  }

  void add(Group group) {
    const size_t depth = common_depth(group);
    for (Branch& branch : group) branch.resize(depth);
    for (const Branch& branch : group) group_of_.insert(branch.back().get(), groups_.size());
    groups_.push_back(std::move(group));
  }

  size_t common_depth(const Group& group) const {
    size_t depth = 1;
    while (std::ranges::all_of(group, [&](const Branch& branch) {
      return branch.size() > depth && level_fits(group, branch, depth, uses_.level(Expr(group[0][0])));
    }))
      ++depth;
    return depth;
  }

  bool level_fits(const Group& group, const Branch& branch, size_t depth, int head_level) const {
    const Branch& first = group[0];
    const CallNode &a = *first[depth], &b = *branch[depth];
    if (a.op() != b.op() || !same_attrs(a.attrs(), b.attrs()) || a.args().size() != b.args().size())
      return false;
    const size_t chained = position_of(a, *first[depth - 1]);
    if (position_of(b, *branch[depth - 1]) != chained) return false;
    const int axis = kind_.axis(*first[0]);
    const bool vectors = a.op()->rules.get<AlongAxis>();
    for (size_t i = 0; i < a.args().size(); ++i) {
      if (i == chained) continue;
      if (uses_.level(a.args()[i]) >= head_level || uses_.level(b.args()[i]) >= head_level) return false;
      if (!is_there(group, a.args()[i]) || !is_there(group, b.args()[i])) return false;
      if (vectors ? !kind_.vectors_fit(a, b, i, along_axis(a), axis) : !kind_.arguments_fit(a, b, i, axis))
        return false;
    }
    return true;
  }

  // The axis of the result that the vectors of a call with AlongAxis run along.
  static int along_axis(const CallNode& call) {
    return front_axis(int_attr(call, "axis"), as_type<TensorTypeNode>(call.checked_type())->rank());
  }

  // ---- Rewriting

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const size_t* group = group_of_.find(original.get());
    if (!group) return rebuilt;
    const Group& branches = groups_[*group];
    std::vector<Expr>& parts = parts_[&branches];
    if (parts.empty()) parts = join(branches);
    const auto at =
        std::ranges::find_if(branches, [&](const Branch& b) { return b.back().get() == original.get(); });
    return parts[static_cast<size_t>(at - branches.begin())];
  }

  std::vector<Expr> join(const Group& branches) {
    OriginSet all = OriginSet::none();
    for (const Branch& branch : branches)
      for (const auto& call : branch) all = all.merge(call->origins());
    const OriginSet made =
        all.empty() ? all : OriginSet::made_for(all, "parallel " + kind_.op + " become one");
    std::vector<Expr> weights;
    for (const Branch& branch : branches) weights.push_back(run(branch[0]->args()[1]));
    Expr joined;
    {
      const OriginScope scope(made);
      joined = kind_.join_heads(branches, run(branches[0][0]->args()[0]), weights);
    }
    joined = with_origins(joined, origins_at(branches, 0));
    for (size_t level = 1; level < branches[0].size(); ++level)
      joined = join_level(branches, level, joined, made);
    const OriginScope scope(made);
    return kind_.parts(branches, joined);
  }

  Expr join_level(const Group& branches, size_t level, const Expr& joined, const OriginSet& made) {
    const CallNode& first = *branches[0][level];
    const size_t chained = position_of(first, *branches[0][level - 1]);
    const auto* vectors = first.op()->rules.get<AlongAxis>();
    std::vector<Expr> args;
    for (size_t i = 0; i < first.args().size(); ++i) {
      if (i == chained) {
        args.push_back(joined);
        continue;
      }
      Branch calls;
      std::vector<Expr> each;
      for (const Branch& branch : branches) {
        calls.push_back(branch[level]);
        each.push_back(run(branch[level]->args()[i]));
      }
      const OriginScope scope(made);
      args.push_back(vectors ? kind_.join_vectors(calls, each, along_axis(first))
                             : kind_.join_arguments(calls, i, each, kind_.axis(*branches[0][0])));
    }
    NodeInfo info(origins_at(branches, level), first.span());
    if (vectors && kind_.vectors_broadcast)
      return make_call(op_expr(*find_op(vectors->broadcasting)), std::move(args), {}, std::move(info));
    return make_call(first.callee(), std::move(args), first.attrs(), std::move(info));
  }

  static OriginSet origins_at(const Group& branches, size_t level) {
    OriginSet origins = OriginSet::none();
    for (const Branch& branch : branches) origins = origins.merge(branch[level]->origins());
    return origins;
  }

  const ParallelKind& kind_;
  BranchUses uses_;
  std::vector<Group> groups_;
  PointerMap<size_t> group_of_;  // by the last call of a branch
  PointerMap<std::vector<Expr>> parts_;
};

}  // namespace

Function join_parallel(const Function& function, const ParallelKind& kind, size_t least) {
  return as_ref<FunctionNode>(ParallelJoiner(function, kind, least).run(function));
}

}  // namespace baton
