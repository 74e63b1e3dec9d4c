#include "baton/ops/domain.h"
#include "baton/ops/math.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"

namespace baton {

struct LRNAttrs {
  int64_t size = 5;  ///< channels in the window, odd
  int64_t axis = 1;
  double bias = 2;
  double alpha = 1e-4;
  double beta = 0.75;
};

template <>
const AttrSchema& attr_schema<LRNAttrs>() {
  using A = LRNAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.LRNAttrs", {{"size", &A::size, "how many neighbours the window has; odd"},
                               {"axis", &A::axis, "the axis of the window"},
                               {"bias", &A::bias, "added to the sum of squares"},
                               {"alpha", &A::alpha, "the sum of squares is multiplied by alpha / size"},
                               {"beta", &A::beta, "the exponent"}});
  return schema;
}

namespace {

// data / (bias + alpha / size * sum of squares of `size` neighbours along `axis`) ^ beta.
void lrn_compute(Compute& c, int axis, int64_t size, double bias, double alpha, double beta) {
  const Tensor& data = c.in(0);
  const Axes i(data.rank());
  const Halide::Type type = sum_type(data.dtype());
  const Domain r({size});
  const Halide::Expr neighbour = i[axis] + r[0] - as_int(size / 2);
  Index at = i.exprs();
  at[axis] = inside_axis(neighbour, data.dim(axis));
  const Halide::Expr value = cast(type, data(at));
  Halide::Func squares = c.stage("squares"), result = c.stage("lrn");
  squares(i.reversed()) = cast(type, 0);
  squares(i.reversed()) +=
      select(neighbour >= 0 && neighbour < data.size(axis), value * value, cast(type, 0));
  const Halide::Expr base =
      cast(type, Halide::Expr(bias)) +
      cast(type, Halide::Expr(alpha / static_cast<double>(size))) * squares(i.reversed());
  result(i.reversed()) = cast_to(c.out().dtype(), cast(type, data(i.exprs())) / positive_power(base, beta));
  c.result(result);
}

}  // namespace

const OpDef& op_nn_lrn() {
  static const OpDef def = OpSpec<LRNAttrs>{
      .name = "nn.lrn",
      .doc = "data / (bias + alpha / size * sum of squares of the `size` neighbours along `axis`) ^ beta.",
      .inputs = {{"data", "tensor"}},
      .relation =
          [](RelationContext& ctx, const LRNAttrs& attrs) {
            const TensorTypeNode* data = ctx.tensor(0);
            if (!data) return kDefer;
            if (!checked_axis(ctx, attrs.axis, data->rank())) return kFailed;
            if (attrs.size < 1)
              return fail_attr(ctx, "size", std::to_string(attrs.size), "it must be positive");
            return identity_relation(ctx);
          },
      .compute =
          [](Compute& c, const LRNAttrs& attrs) {
            lrn_compute(c, from_front(attrs.axis, c.in(0).rank()), attrs.size, attrs.bias, attrs.alpha,
                        attrs.beta);
          },
      .python = "nn.lrn(data, size=5, axis=1, bias=2, alpha=1e-05, beta=0.75)",
      .test_shapes = {"(1, 7, 4, 4)f32, alpha=1e-05"},
  };
  return def;
}

}  // namespace baton
