// Losses: cross entropy and negative log likelihood.
#include "baton/ir/rules/read_rule.h"
#include "baton/ops/domain.h"
#include "baton/ops/math.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

struct NLLLossAttrs {
  std::string reduction = "mean";  ///< "mean", "sum" or "none"
  int64_t ignore_index = 0;
};

template <>
const AttrSchema& attr_schema<NLLLossAttrs>() {
  using A = NLLLossAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.NLLLossAttrs",
                     {{"reduction", &A::reduction, "\"mean\", \"sum\", or \"none\" for one loss per target"},
                      {"ignore_index", &A::ignore_index, "targets of this class do not count", kNoDefault}});
  return schema;
}

namespace {

RelationStatus cross_entropy_relation(RelationContext& ctx, const NoAttrs&) {
  const TensorTypeNode *x = ctx.tensor(0), *y = ctx.tensor(1);
  if (!x || !y) return kDefer;
  if (!check_rank(ctx, *x, 2, 0) || !check_rank(ctx, *y, 2, 1)) return kFailed;
  for (int axis = 0; axis < 2; ++axis)
    if (!may_equal(x->shape()[axis], y->shape()[axis]))
      return fail_arg(ctx, 1,
                      "predictions of shape " + shape_text(x->shape()) + " need targets of that shape, got " +
                          shape_text(y->shape()));
  return ctx.assign_result(tensor_type(std::vector<Dim>{}, x->dtype()));
}

RelationStatus nll_relation(RelationContext& ctx, const NLLLossAttrs& attrs) {
  const TensorTypeNode *predictions = ctx.tensor(0), *targets = ctx.tensor(1), *weights = ctx.tensor(2);
  if (!predictions || !targets || !weights) return kDefer;
  if (attrs.reduction != "mean" && attrs.reduction != "sum" && attrs.reduction != "none")
    return fail_attr(ctx, "reduction", "\"" + attrs.reduction + "\"",
                     "it must be \"mean\", \"sum\" or \"none\"");
  if (predictions->rank() < 2)
    return fail_arg(ctx, 0, "predictions of rank >= 2 are needed, got " + type_text(ctx.input(0)));
  if (!check_rank(ctx, *targets, predictions->rank() - 1, 1) || !check_rank(ctx, *weights, 1, 2))
    return kFailed;
  const std::vector<Dim>& shape = predictions->shape();
  if (!may_equal(shape[1], weights->shape()[0]))
    return fail_arg(ctx, 2, "one weight is needed for each of the classes of " + type_text(ctx.input(0)));
  for (int axis = 0; axis < targets->rank(); ++axis)
    if (!may_equal(targets->shape()[axis], shape[axis == 0 ? 0 : axis + 1]))
      return fail_arg(ctx, 1,
                      "predictions of shape " + shape_text(shape) + " do not fit targets of shape " +
                          shape_text(targets->shape()));
  if (predictions->dtype() != weights->dtype())
    return fail_arg(ctx, 2,
                    "the weights need the element type of the predictions, " + predictions->dtype().str());
  if (!check_integers(ctx, *targets, 1)) return kFailed;
  return ctx.assign_result(
      tensor_type(attrs.reduction == "none" ? targets->shape() : std::vector<Dim>{}, predictions->dtype()));
}

// -sum of term(x) * y over both axes, divided by the number of rows.
void cross_entropy_compute(Compute& c, bool logarithms) {
  const Domain r(c.in(0).dims());
  const Halide::Type type = sum_type(c.out().dtype());
  const Halide::Expr x = cast(type, c.in(0)(r.exprs())), y = cast(type, c.in(1)(r.exprs()));
  Halide::Func sum = c.stage("sum"), loss = c.stage("cross_entropy");
  sum() = cast(type, 0);
  sum() += (logarithms ? x : vector_log(x)) * y;
  loss() = cast_to(c.out().dtype(), -sum() / c.in(0).size(0));
  c.result(loss);
}

// The loss of each target is a stage; means and sums reduce it. A mean is weighted: by the weights of what
// counts.
void nll_compute(Compute& c, const NLLLossAttrs& attrs) {
  const Tensor &predictions = c.in(0), &targets = c.in(1), &weights = c.in(2);
  const Halide::Type type = sum_type(c.out().dtype());
  auto weight_at = [&](const Index& i) {
    const Halide::Expr target = targets(i);
    const Halide::Expr weight = cast(type, weights(Index{inside_axis(target, weights.dim(0))}));
    return select(target == cast(target.type(), as_int(attrs.ignore_index)), cast(type, 0), weight);
  };
  auto loss_at = [&](const Index& i) {
    Index at = i;
    at.insert(at.begin() + std::min<size_t>(1, at.size()), inside_axis(targets(i), predictions.dim(1)));
    return -cast(type, predictions(at)) * weight_at(i);
  };
  Halide::Func loss = c.stage("nll_loss");
  if (attrs.reduction == "none") {
    const Axes i(targets.rank());
    loss(i.reversed()) = cast_to(c.out().dtype(), loss_at(i.exprs()));
    c.result(loss);
    return;
  }
  const Domain r(targets.dims());
  Halide::Func sum = c.stage("sum");
  sum() = cast(type, 0);
  sum() += loss_at(r.exprs());
  Halide::Expr value = sum();
  if (attrs.reduction == "mean") {
    Halide::Func total = c.stage("weights");
    total() = cast(type, 0);
    total() += weight_at(r.exprs());
    value = value / total();
  }
  loss() = cast_to(c.out().dtype(), value);
  c.result(loss);
}

// g, divided by the number of rows that the loss is the mean over.
Expr per_row(const CallNode& call, const Expr& g) {
  using namespace gradients;
  const Expr& x = call.args()[0];
  const Expr rows =
      op("take", {op("shape_of", {x}), Expr(scalar(0, DType::int_(32)))}, {{"axis", int64_t{0}}});
  return div(g, op("cast", {rows}, {{"dtype", tensor_arg(call, 0).dtype()}}));
}

GradientRule cross_entropy_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const Expr &x = call->args()[0], &y = call->args()[1];
    const Expr share = per_row(*call, g);
    return Adjoints{div(mul(neg(share), y), x), mul(neg(share), op("log", {x}))};
  }};
}

GradientRule cross_entropy_with_logits_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const Expr &x = call->args()[0], &y = call->args()[1];
    const Expr share = per_row(*call, g);
    return Adjoints{mul(neg(share), y), mul(neg(share), x)};
  }};
}

/// One prediction and one weight for each target.
double nll_loss_reads(const CostQuery& q, size_t, double) { return q.input_elements(1); }

}  // namespace

const OpDef& op_nn_cross_entropy() {
  static const OpDef def = OpSpec<>{
      .name = "nn.cross_entropy",
      .doc = "-sum of log(x) * y, divided by the number of rows.",
      .inputs = {{"x", "matrix of predictions"}, {"y", "matrix of targets"}},
      .relation = cross_entropy_relation,
      .compute = [](Compute& c, const NoAttrs&) { cross_entropy_compute(c, false); },
      .python = "nn.cross_entropy(predictions, targets)",
      .rules = op_rules(cross_entropy_gradient(), MixedPrecision::kNever),
      .test_shapes = {"(3, 4)f32[0.1, 0.9], (3, 4)f32[0, 1]"},
  };
  return def;
}

const OpDef& op_nn_cross_entropy_with_logits() {
  static const OpDef def = OpSpec<>{
      .name = "nn.cross_entropy_with_logits",
      .doc = "-sum of x * y, divided by the number of rows: x are logarithms already.",
      .inputs = {{"x", "matrix of predictions"}, {"y", "matrix of targets"}},
      .relation = cross_entropy_relation,
      .compute = [](Compute& c, const NoAttrs&) { cross_entropy_compute(c, true); },
      .python = "nn.cross_entropy_with_logits(predictions, targets)",
      .rules = op_rules(cross_entropy_with_logits_gradient(), MixedPrecision::kNever),
      .test_shapes = {"(3, 4)f32, (3, 4)f32[0, 1]"},
  };
  return def;
}

const OpDef& op_nn_nll_loss() {
  static const OpDef def = OpSpec<NLLLossAttrs>{
      .name = "nn.nll_loss",
      .doc = "-predictions[n, target, ...] * weights[target], for each target; then reduced.",
      .inputs = {{"predictions", "(n, classes, ...)"},
                 {"targets", "integers (n, ...)"},
                 {"weights", "(classes)"}},
      .fuse = Fuse::kOutFusable,
      .relation = nll_relation,
      .compute = nll_compute,
      .python = "nn.nll_loss(predictions, targets, weights, reduction='mean', ignore_index=-100)",
      .rules = op_rules(ReadRule{nll_loss_reads}),
      .test_shapes = {"(5, 4)f32, (5)i32[0, 4], (4)f32[0.5, 1.5], reduction=none, ignore_index=-100"},
  };
  return def;
}

}  // namespace baton
