#include "baton/ir/inspect.h"
#include "baton/ir/rules/cost.h"
#include "baton/ir/rules/pass_traits.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/math.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_build.h"

namespace baton {

/// nn.softmax, nn.fast_softmax and nn.log_softmax.
struct SoftmaxAttrs {
  int64_t axis = -1;  ///< negative counts from the back
};

template <>
const AttrSchema& attr_schema<SoftmaxAttrs>() {
  static const AttrSchema schema = make_schema<SoftmaxAttrs>(
      "relay.attrs.SoftmaxAttrs",
      {{"axis", &SoftmaxAttrs::axis, "the axis that sums to one; negative counts from the back"}});
  return schema;
}

namespace {

RelationStatus softmax_relation(RelationContext& ctx, const SoftmaxAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!checked_axis(ctx, attrs.axis, data->rank())) return kFailed;
  return ctx.assign_result(ctx.input(0));
}

/// All axes but the last, where rows run along that.
std::optional<AxisRange> rows_of_softmax(const CallNode& call) {
  const auto* result = as_type<TensorTypeNode>(call.checked_type());
  if (!result || !result->is_known() || result->rank() < 3) return std::nullopt;
  const int64_t axis = int_attr(call, "axis"), last = result->rank() - 1;
  if (axis != -1 && axis != last) return std::nullopt;
  return AxisRange{0, result->rank() - 2};
}

// The axes of the result, and variables for reductions along one of them.
struct SoftmaxRows {
  SoftmaxRows(const Compute& c, int64_t axis_attr)
      : i(c.out().rank()),
        axis(static_cast<int>(axis_attr < 0 ? axis_attr + i.rank() : axis_attr)),
        r(0, c.in(0).size(axis), "r"),
        type(sum_type(c.out().dtype())) {
    along = i.exprs();
    along[axis] = r.x;
    for (int k = i.rank(); k-- > 0;)
      if (k != axis) rest.push_back(i[k]);
  }
  Axes i;
  int axis;
  Halide::RDom r;
  Halide::Type type;
  Index along;                    // the element r.x of the row of `i`
  std::vector<Halide::Var> rest;  // i without `axis`, in Halide order
};

Halide::Func row_max(Compute& c, const SoftmaxRows& rows) {
  Halide::Func largest = c.stage("max");
  largest(rows.rest) = lowest(rows.type);
  // NaN is skipped: it makes the sum NaN, whatever is subtracted.
  const Halide::Expr value = cast(rows.type, c.in(0)(rows.along)), so_far = largest(rows.rest);
  largest(rows.rest) = select(value > so_far, value, so_far);
  return largest;
}

// Stages "max", "exp", "sum" and "softmax".
void softmax_compute(Compute& c, const SoftmaxAttrs& attrs) {
  const SoftmaxRows rows(c, attrs.axis);
  const Halide::Func largest = row_max(c, rows);
  Halide::Func e = c.stage("exp"), total = c.stage("sum"), softmax = c.stage("softmax");
  e(rows.i.reversed()) = vector_exp(cast(rows.type, c.in(0)(rows.i.exprs())) - largest(rows.rest));
  total(rows.rest) = cast(rows.type, 0);
  total(rows.rest) += e(Index(rows.along.rbegin(), rows.along.rend()));
  // One division per row.
  softmax(rows.i.reversed()) =
      cast_to(c.out().dtype(), e(rows.i.reversed()) * (cast(rows.type, 1) / total(rows.rest)));
  c.result(softmax);
}

// Stages "max", "sum" and "log_softmax".
void log_softmax_compute(Compute& c, const SoftmaxAttrs& attrs) {
  const SoftmaxRows rows(c, attrs.axis);
  const Halide::Func largest = row_max(c, rows);
  Halide::Func total = c.stage("sum"), result = c.stage("log_softmax");
  total(rows.rest) = cast(rows.type, 0);
  total(rows.rest) += vector_exp(cast(rows.type, c.in(0)(rows.along)) - largest(rows.rest));
  result(rows.i.reversed()) = cast_to(c.out().dtype(), cast(rows.type, c.in(0)(rows.i.exprs())) -
                                                           largest(rows.rest) - vector_log(total(rows.rest)));
  c.result(result);
}

Expr kept_sum(const CallNode& call, const Expr& value) {
  using namespace gradients;
  return op("sum", {value},
            {{"axis", AttrValue(std::vector<int64_t>{int_attr(call, "axis")})}, {"keepdims", true}});
}

GradientRule softmax_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const Expr y(call);
    return Adjoints{mul(sub(g, kept_sum(*call, mul(g, y))), y)};
  }};
}

GradientRule log_softmax_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    return Adjoints{sub(g, mul(kept_sum(*call, g), op("exp", {Expr(call)})))};
  }};
}

}  // namespace

const OpDef& op_nn_softmax() {
  static const OpDef def = OpSpec<SoftmaxAttrs>{
      .name = "nn.softmax",
      .doc = "exp(x - m) / sum(exp(x - m)), where m = max(x); both along `axis`.",
      .inputs = {{"data", "float tensor, rank >= 1"}},
      .fuse = Fuse::kOutFusable,
      .relation = softmax_relation,
      .compute = softmax_compute,
      .rules = op_rules(softmax_gradient(), MixedPrecision::kNever, JoinableAxes{rows_of_softmax},
                        AnchorRule{"rows"}, FastForm{"nn.fast_softmax"}, Transcendental{}),
      .test_shapes = {"(1, 1000)f32[-8, 8]", "(2, 3, 5)f64[-8, 8], axis=1", "(7)f32", "(3, 1)f32"},
  };
  return def;
}

const OpDef& op_nn_fast_softmax() {
  static const OpDef def = OpSpec<SoftmaxAttrs>{
      .name = "nn.fast_softmax",
      .doc = "nn.softmax with an exponential that may be off by a few units in the last place.",
      .inputs = {{"data", "float tensor, rank >= 1"}},
      .fuse = Fuse::kOutFusable,
      .relation = softmax_relation,
      .compute = softmax_compute,
      .rules = op_rules(JoinableAxes{rows_of_softmax}, AnchorRule{"rows"}, Transcendental{}),
      .test_shapes = {"(1, 2, 5)f32[-2, 2]"},
  };
  return def;
}

const OpDef& op_nn_log_softmax() {
  static const OpDef def = OpSpec<SoftmaxAttrs>{
      .name = "nn.log_softmax",
      .doc = "x - m - log(sum(exp(x - m))), where m = max(x); both along `axis`.",
      .inputs = {{"data", "float tensor, rank >= 1"}},
      .fuse = Fuse::kOutFusable,
      .relation = softmax_relation,
      .compute = log_softmax_compute,
      .rules = op_rules(log_softmax_gradient(), JoinableAxes{rows_of_softmax}, AnchorRule{"rows"},
                        Transcendental{}),
      .test_shapes = {"(2, 7)f32[-4, 4]", "(1, 1)f32[-4, 4], axis=1"},
  };
  return def;
}

}  // namespace baton
