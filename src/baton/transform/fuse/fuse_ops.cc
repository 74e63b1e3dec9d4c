// Outlines groups of operators as primitive functions, called with the group's inputs:
//   relu(conv(x, w))  ->  fn(p0, p1, Primitive=1) { relu(conv(p0, p1)) }(x, w)
// Parameters are numbered in the order in which the group's operators, arguments before calls, need them.
// Which operators form a group is decided in fusion_groups.h.
//
// Origins: the body's nodes keep theirs; the function and its call get the union over the operators in the
// body (checked by the verifier); parameters have none. stop_fusion is an annotation for this pass, which
// removes it.

#include "baton/transform/fuse/fuse_ops.h"

#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/fuse/fusion_groups.h"

namespace baton {

namespace {

bool is_operator_call(const Expr& expr) {
  const auto* call = as<CallNode>(expr);
  return call && call->op();
}

// A group being outlined as a function.
struct Kernel {
  std::vector<Var> params;
  std::vector<Expr> args;
  PointerMap<Expr> param_of;  // by argument
  PointerMap<Expr> built;     // by node of the group
  OriginSet origins = OriginSet::none();
  bool has_call = false, only_reshapes = true;
};

class Fuser final : public Rewriter {
 public:
  Fuser(const Function& function, const FusionOptions& options, FusionLog* log)
      : options_(options), groups_(function, options) {
    if (log) log->add(groups_);
  }

 private:
  bool is_root(const Expr& node) const { return groups_.root_of(node.get()) == node; }
  bool is_inside(const Expr& node, const Expr& root) const {
    return groups_.knows(node.get()) && groups_.root_of(node.get()) == root;
  }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (!groups_.knows(original.get())) return rebuilt;
    if (is_call(original, "annotation.stop_fusion")) {
      retire(original->origins(), "annotation.stop_fusion only tells FuseOps where to stop");
      return as<CallNode>(rebuilt)->args()[0];
    }
    if (original->kind() == ExprKind::kTuple) return is_root(original) ? rebuilt : original;
    if (const auto* item = as<TupleGetItemNode>(original)) {
      if (!is_root(original)) return original;
      // An item of a tuple computed outside the group needs no kernel.
      return is_inside(item->tuple(), original) ? kernel(original) : rebuilt;
    }
    if (!is_operator_call(original)) return rebuilt;
    const OpDef& op = *as<CallNode>(original)->op();
    if (op.non_computational && !op.name.starts_with("qnn.")) return rebuilt;
    return is_root(original) ? kernel(original) : original;
  }

  // The operand `arg` inside the kernel.
  Expr input(Kernel& kernel, const Expr& arg) const {
    const Expr value = mapped(arg);
    if (options_.link_params && value->kind() == ExprKind::kConstant) return value;
    const auto [param, fresh] = kernel.param_of.insert(value.get(), Expr());
    if (fresh) {
      const Type& type = type_for_fusion(arg);
      const Var var =
          make_var("p" + std::to_string(kernel.params.size()), type, NodeInfo(OriginSet::none(), {}, type));
      kernel.params.push_back(var);
      kernel.args.push_back(value);
      *param = Expr(var);
    }
    return *param;
  }

  // Builds the group of `root` in post-order; parameters are numbered in the order of their first use.
  Expr kernel(const Expr& root) {
    Kernel kernel;
    struct Frame {
      Expr node;
      size_t next = 0;  // the next operand to visit
    };
    std::vector<Frame> stack;
    std::vector<OriginSet> origins;
    stack.push_back({root});
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (const Expr* at = operand(frame.node, frame.next)) {
        ++frame.next;
        if (is_inside(*at, root) && !kernel.built.contains(at->get())) stack.push_back({*at});
        continue;
      }
      const Expr node = std::move(frame.node);
      stack.pop_back();
      std::vector<Expr> operands;
      for (size_t i = 0; const Expr* at = operand(node, i); ++i)
        operands.push_back(is_inside(*at, root) ? *kernel.built.find(at->get()) : input(kernel, *at));
      if (is_operator_call(node)) origins.push_back(node->origins());
      kernel.built.insert(node.get(), build(kernel, node, std::move(operands)));
    }
    kernel.origins = OriginSet::merge_all(origins);
    return call_of(kernel, root);
  }

  static const Expr* operand(const Expr& node, size_t index) {
    if (const auto* call = as<CallNode>(node))
      return index < call->args().size() ? &call->args()[index] : nullptr;
    if (const auto* tuple = as<TupleNode>(node))
      return index < tuple->fields().size() ? &tuple->fields()[index] : nullptr;
    if (const auto* item = as<TupleGetItemNode>(node)) return index == 0 ? &item->tuple() : nullptr;
    return nullptr;
  }

  static Expr build(Kernel& kernel, const Expr& node, std::vector<Expr> children) {
    if (const auto* call = as<CallNode>(node)) {
      kernel.has_call = true;
      kernel.only_reshapes &= call->op()->reshape_only;
      return make_call(call->callee(), std::move(children), call->attrs(), call->info());
    }
    if (node->kind() == ExprKind::kTuple) return make_tuple(std::move(children), node->info());
    if (const auto* item = as<TupleGetItemNode>(node))
      return make_tuple_get_item(children[0], item->index(), node->info());
    BATON_CHECK(node->kind() == ExprKind::kConstant, "what is no operator is part of a kernel");
    return node;
  }

  static Expr call_of(const Kernel& kernel, const Expr& root) {
    const Type& type = type_for_fusion(root);
    std::vector<Type> param_types;
    bool only_tensors = true;
    for (const Var& param : kernel.params) {
      param_types.push_back(param->annotation());
      only_tensors &= as_type<TensorTypeNode>(param->annotation()) != nullptr;
    }
    FunctionAttrs attrs{{"Primitive", kernel.has_call ? 1 : 0}};
    if (kernel.has_call && kernel.only_reshapes && only_tensors) attrs.emplace_back("relay.reshape_only", 1);
    const Function function =
        make_function(kernel.params, *kernel.built.find(root.get()), type, std::move(attrs),
                      NodeInfo(kernel.origins, {}, func_type(std::move(param_types), type)));
    return make_call(Expr(function), kernel.args, {}, NodeInfo(kernel.origins, {}, type));
  }

  FusionOptions options_;
  FusionGroups groups_;
};

constexpr int kMostOptLevel = 4;

FusionOptions options_of(const PassContext& context, int level) {
  FusionOptions options;
  options.level = level < 0 ? context.opt_level : level;
  options.max_depth = most_operators(context);
  options.link_params = context.config.flag("relay.FuseOps.link_params", options.link_params);
  return options;
}

}  // namespace

size_t most_operators(const PassContext& context) {
  const int64_t depth =
      context.config.integer("relay.FuseOps.max_depth", static_cast<int64_t>(FusionOptions().max_depth));
  if (depth < 0)
    throw UsageError("relay.FuseOps.max_depth is " + std::to_string(depth) +
                     ", but a kernel has at least 0 operators");
  return static_cast<size_t>(depth);
}

Pass fuse_ops_at(int level) {
  return function_pass(
      {0, "FuseOps", {"InferType"}},
      [level](const Function& function, const IRModule&, const BuildContext& context) {
        Fuser fuser(function, options_of(context, level), context.fusion_log);
        return as_ref<FunctionNode>(fuser.run(Expr(function)));
      },
      /*may_retire=*/true);
}

Pass fuse_ops(const PassArgs& args) {
  PassArgReader reader("FuseOps", args);
  const int level = static_cast<int>(reader.integer("fuse_opt_level", -1, -1, kMostOptLevel));
  reader.finish();
  return fuse_ops_at(level);
}

std::vector<FusionReason> fusion_reasons(const Function& function, const PassContext& context) {
  std::vector<FusionReason> reasons;
  for (const auto& refusal : FusionGroups(function, options_of(context, -1)).refusals())
    reasons.push_back({refusal.call, refusal.text});
  return reasons;
}

}  // namespace baton
