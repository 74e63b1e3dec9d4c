#include "baton/codegen/kernel/join_rows.h"

#include <unordered_map>
#include <unordered_set>

#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/pass_traits.h"
#include "baton/ir/rules/position_free_rule.h"
#include "baton/ir/visit.h"

namespace baton {
namespace {

constexpr int kPlain = 4, kPacked = 5;  // axes of (n, C, H, W) and (n, C, H, W, c)
constexpr int kHeight = 2, kWidth = 3;

/// The first operator of the function with the rule, or null.
const CallNode* one_pixel_call(const FunctionNode& function) {
  const CallNode* found = nullptr;
  post_order(function.body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (found || !call || !call->op()) return;
    const auto* rule = call->op()->rules.get<OnePixelRule>();
    if (rule && rule->applies(*call)) found = call;
  });
  return found;
}

class RowJoiner {
 public:
  RowJoiner(const FunctionNode& function, const CallNode& anchor) : function_(function), anchor_(anchor) {
    const std::vector<int64_t> out = as_type<TensorTypeNode>(anchor.checked_type())->extents();
    rank_ = static_cast<int>(out.size());
    BATON_CHECK(rank_ == kPlain || rank_ == kPacked, "a convolution of other axes");
    height_ = out[kHeight], width_ = out[kWidth];
    const std::vector<int64_t> data = as_type<TensorTypeNode>(type_of(anchor.args()[0]))->extents();
    strided_ = data[kHeight] != height_ || data[kWidth] != width_;
    // What the convolution reads keeps its shape, except data that have the pixels of the result.
    for (size_t i = strided_ ? 0 : 1; i < anchor.args().size(); ++i)
      post_order(anchor.args()[i], [&](const Expr& node) { kept_.insert(node.get()); });
    // Shapes of these operands are not aligned with the result's.
    post_order(function.body(), [&](const Expr& node) {
      const auto* call = as<CallNode>(node);
      if (!call || !call->op() || !call->op()->rules.get<PositionFreeRule>()) return;
      for (size_t i = 1; i < call->args().size(); ++i) unaligned_.insert(call->args()[i].get());
    });
  }

  /// Null where the rows cannot be joined.
  Function run() {
    if (height_ <= 1 || width_ == 0) return {};
    std::vector<Var> params;
    for (const Var& param : function_.params()) {
      Var joined = param;
      if (!kept_.count(param.get()) && !unaligned_.count(param.get())) {
        const Type type = joined_type(type_of(*param));
        if (!type) return {};
        joined = make_var(param->name(), type, param->with_type(type));
      }
      made_[param.get()] = joined;
      params.push_back(std::move(joined));
    }
    post_order(function_.body(), [&](const Expr& node) {
      if (possible_ && !made_.count(node.get())) made_[node.get()] = remade(node);
    });
    if (!possible_) return {};
    const Expr body = made_.at(function_.body().get());
    return make_function(std::move(params), body, body->checked_type(), function_.attrs(),
                         NodeInfo(function_.origins(), function_.span()));
  }

 private:
  Expr fail() {
    possible_ = false;
    return {};
  }

  /// A kept value may be used outside of the convolution only if joining would not change it.
  Expr remade(const Expr& node) {
    if (kept_.count(node.get()) || unaligned_.count(node.get()) || node->kind() == ExprKind::kOp) return node;
    const Type type = joined_type(node->checked_type());
    if (!type) return fail();
    if (const auto* constant = as<ConstantNode>(node)) {
      const auto& extents = as_type<TensorTypeNode>(type)->extents();
      return make_constant(constant->value().reshaped({extents.begin(), extents.end()}),
                           node->with_type(type));
    }
    const auto* call = as<CallNode>(node);
    if (!call || (call != &anchor_ && !is_same_in_one_row(*call))) return fail();
    std::vector<Expr> args;
    const bool takes_unaligned = call->op()->rules.get<PositionFreeRule>();
    for (const Expr& arg : call->args()) {
      if (unaligned_.count(arg.get()) && !takes_unaligned) return fail();
      if (call != &anchor_ && kept_.count(arg.get()) && joined_type(type_of(arg)).get() != type_of(arg).get())
        return fail();
      args.push_back(made_.at(arg.get()));
    }
    return make_call(call->callee(), std::move(args), call->attrs(), call->with_type(type));
  }

  /// Whether its results stay the same when height and width are one axis.
  static bool is_same_in_one_row(const CallNode& call) {
    const auto* rule = call.op() ? call.op()->rules.get<PositionFreeRule>() : nullptr;
    return rule ? rule->applies(call) : is_position_free(call);
  }

  /// `type` itself where neither height nor width occurs in it; null where they cannot be joined.
  Type joined_type(const Type& type) const {
    const auto* tensor = as_type<TensorTypeNode>(type);
    if (!tensor || !tensor->is_static()) return {};
    std::vector<int64_t> extents = tensor->extents();
    // Counted from the last axis, as broadcasts align shapes.
    const int rank = tensor->rank(), height_back = rank_ - kHeight, width_back = rank_ - kWidth;
    const int64_t height = rank >= height_back ? extents[rank - height_back] : 1,
                  width = rank >= width_back ? extents[rank - width_back] : 1;
    if (height == 1 && width == 1) return type;
    if (rank != rank_ || height != height_ || width != width_) return {};
    extents[kHeight] = 1, extents[kWidth] = height * width;
    return tensor_type(extents, tensor->dtype());
  }

  const FunctionNode& function_;
  const CallNode& anchor_;
  int rank_ = 0;
  int64_t height_ = 0, width_ = 0;
  bool strided_ = false, possible_ = true;
  std::unordered_set<const ExprNode*> kept_, unaligned_;
  std::unordered_map<const ExprNode*, Expr> made_;
};

}  // namespace

Function join_rows(const Function& function) {
  const CallNode* anchor = one_pixel_call(*function);
  if (!anchor) return function;
  Function joined = RowJoiner(*function, *anchor).run();
  return joined ? joined : function;
}

}  // namespace baton
