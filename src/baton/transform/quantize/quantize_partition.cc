// Where integers of 8 bits begin and end: after each convolution and what is computed along with it (a bias,
// relu, ..):
//   conv2d(x, w)  ->  annotation.stop_fusion(annotation.cast_hint(conv2d(x, w)))
// A result is staged while operators follow that may be computed with it.
#include "baton/ir/build.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/support/pointer_map.h"
#include "baton/transform/quantize/forward_rewriter.h"
#include "baton/transform/quantize/quantize.h"

namespace baton {

namespace {

class Partitioner final : public ForwardRewriter {
 public:
  explicit Partitioner(DType dtype) : dtype_(dtype) {}

 private:
  using Does = QuantizationRule::Does;
  using Kernel = QuantizationRule::Kernel;

  Expr forward(const CallNode&, const CallNode& call) override {
    const auto* rule = call.op()->rules.get<QuantizationRule>();
    if (!rule) return {};
    if (rule->kernel == Kernel::kBegins) return begin(call);
    if (rule->kernel == Kernel::kJoins) return follow(call);
    if (rule->does == Does::kSum) return sum(call);
    if (rule->does == Does::kScale) return scale(call);
    return rule->does == Does::kTotalMean ? pool_all(call) : Expr();
  }

  // What leaves a kernel has the type that it had inside.
  Type type_of_rebuilt(const ExprNode& node) const override { return node.checked_type(); }
  bool is_staged(const Expr& expr) const override { return staged_.contains(expr.get()); }

  // Between kernels values are narrow.
  Expr finish(const Expr& staged) override {
    const OriginSet& owner = staged->origins().empty() ? *OriginScope::current() : staged->origins();
    const OriginScope scope(OriginSet::made_for(owner, "a quantised value leaves its kernel"));
    const Type& type = staged->checked_type();
    const Expr hint = with_type(call_op("annotation.cast_hint", {staged}, {{"dtype", dtype_}}), type);
    return with_type(call_op("annotation.stop_fusion", {hint}), type);
  }

  Expr stage(const CallNode& call, std::vector<Expr> args) {
    const Expr staged = over(call, std::move(args));
    // The very call may be known already, when nothing about it changed.
    if (!staged_.contains(staged.get())) kept_.push_back(staged), staged_.insert(staged.get());
    return staged;
  }
  static Expr over(const CallNode& call, std::vector<Expr> args) {
    if (args == call.args()) return Expr(&call);
    return make_call(call.callee(), std::move(args), call.attrs(), call.info());
  }
  Expr ended(const Expr& expr) { return is_staged(expr) ? finish(expr) : expr; }

  Expr begin(const CallNode& call) { return stage(call, {ended(call.args()[0]), finished(call.args()[1])}); }

  Expr follow(const CallNode& call) { return is_staged(call.args()[0]) ? stage(call, call.args()) : Expr(); }

  Expr sum(const CallNode& call) {
    const Expr &lhs = call.args()[0], &rhs = call.args()[1];
    const bool left = is_staged(lhs), right = is_staged(rhs);
    if (left && right) return stage(call, {finish(lhs), finish(rhs)});                // where branches meet
    if (left && rhs->kind() == ExprKind::kConstant) return stage(call, call.args());  // a bias
    if (left || right) return over(call, {ended(lhs), ended(rhs)});
    return {};
  }

  Expr scale(const CallNode& call) {
    const Expr &lhs = call.args()[0], &rhs = call.args()[1];
    if (is_staged(lhs)) return stage(call, {finish(lhs), finished(rhs)});
    if (is_staged(rhs)) return stage(call, {lhs, finish(rhs)});
    return {};
  }

  // A global mean takes quantised inputs; its users take its result as it is.
  Expr pool_all(const CallNode& call) { return over(call, {finish(call.args()[0])}); }

  DType dtype_;
  PointerSet staged_;
  std::vector<Expr> kept_;
};

}  // namespace

Pass quantize_partition_for(const QuantizeConfig& config) {
  return function_pass(
      {1, "QuantizePartition", {}},
      [dtype = config.dtype_input](const Function& function, const IRModule&, const PassContext&) {
        return as_ref<FunctionNode>(Partitioner(dtype).run(function));
      });
}

}  // namespace baton
