#include <cmath>

#include "baton/ir/build.h"
#include "baton/ir/rules/algebra.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ir/rules/read_rule.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/shared/elementwise.h"
#include "baton/ops/tensor/tensor_attrs.h"

namespace baton {

struct ClipAttrs {
  double a_min = 0, a_max = 0;
};

template <>
const AttrSchema& attr_schema<CastAttrs>() {
  using A = CastAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.CastAttrs", {{"dtype", &A::dtype, "the element type of the result", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ClipAttrs>() {
  using A = ClipAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ClipAttrs", {{"a_min", &A::a_min, "smaller values become this", kNoDefault},
                                {"a_max", &A::a_max, "larger values become this", kNoDefault}});
  return schema;
}

namespace {

// To bool: whether the value is not zero. Floats to integers: rounded toward zero.
void convert(Compute& c, const char* stage) {
  const bool to_bool = c.out().dtype().is_bool() && !c.in(0).dtype().is_bool();
  map_compute(c, stage, [&](Halide::Expr x) { return to_bool ? x != cast(x.type(), 0) : x; });
}

GradientRule clip_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const Expr& x = call->args()[0];
    const auto bound = [&](const char* name) {
      return op("broadcast_to_like", {scalar_like(float_attr(*call, name), x), x});
    };
    const Expr low = bound("a_min"), high = bound("a_max");
    const Expr zero = zeros_like(x), one = ones_like(x);
    return Adjoints{
        op("where", {op("less", {x, low}), zero, op("where", {op("less", {high, x}), zero, mul(one, g)})})};
  }};
}

GradientRule cast_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    return with_zeros(call, op("cast_like", {g, call->args()[0]}));
  }};
}

Expr cast_to_type(const CallNode& call, const TensorTypeNode& type) {
  return call_op("cast", {call.args()[0]}, {{"dtype", type.dtype()}});
}

}  // namespace

const OpDef& op_cast() {
  static const OpDef def = OpSpec<CastAttrs>{
      .name = "cast",
      .doc = "The same numbers in another element type.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kElementwise,
      .relation =
          [](RelationContext& ctx, const CastAttrs& attrs) {
            if (attrs.dtype.is_void()) return fail_attr(ctx, "dtype", "\"\"", "an element type is needed");
            return same_shape_relation(ctx, attrs.dtype);
          },
      .compute = [](Compute& c, const CastAttrs&) { convert(c, "cast"); },
      .python = "transform",
      .rules = op_rules(cast_gradient(), MixedPrecision::kFollow, same_layout_flow(), NumberConversion{}),
      .test_shapes = {"(2, 3)f32[-3, 9], dtype=int8", "(2, 3)i64[0, 9], dtype=float32",
                      "(2, 3)u8[0, 9], dtype=bool", "(5)f32, dtype=float16"},
  };
  return def;
}

const OpDef& op_cast_like() {
  static const OpDef def = OpSpec<>{
      .name = "cast_like",
      .doc = "The same numbers in the element type of another tensor.",
      .inputs = {{"data", "tensor"}, {"dtype_like", "tensor; only its element type counts"}},
      .fuse = Fuse::kElementwise,
      .relation =
          [](RelationContext& ctx, const NoAttrs&) {
            const TensorTypeNode* like = ctx.tensor(1);
            return like ? same_shape_relation(ctx, like->dtype()) : kDefer;
          },
      .compute = [](Compute& c, const NoAttrs&) { convert(c, "cast_like"); },
      .python = "transform",
      .rules = op_rules(TypeOnlyInput{1}, cast_gradient(), MixedPrecision::kFollow, broadcast_layout_flow(),
                        LikeRule{1, cast_to_type}),
      .test_shapes = {"(2, 3)f32, (1)i32"},
  };
  return def;
}

const OpDef& op_clip() {
  static const OpDef def = OpSpec<ClipAttrs>{
      .name = "clip",
      .doc = "min(max(x, a_min), a_max), element by element.",
      .inputs = {{"data", "tensor of numbers"}},
      .fuse = Fuse::kElementwise,
      .relation = [](RelationContext& ctx, const ClipAttrs&) { return identity_relation(ctx); },
      .compute =
          [](Compute& c, const ClipAttrs& attrs) {
            const DType dtype = c.in(0).dtype();
            const Halide::Type type = halide_type(dtype);
            // Bounds beyond the range of an integer type have no effect.
            auto bound = [&](double value) -> Halide::Expr {
              if (type.is_float()) return constant_of(dtype, value);
              const double low = type.is_uint() ? 0 : -std::ldexp(1.0, type.bits() - 1);
              const double high = std::ldexp(1.0, type.is_uint() ? type.bits() : type.bits() - 1);
              if (value <= low) return type.min();
              return value >= high ? type.max() : constant_of(dtype, std::trunc(value));
            };
            map_compute(c, "clip", [&](Halide::Expr x) {
              return ieee_minimum(ieee_maximum(x, bound(attrs.a_min)), bound(attrs.a_max));
            });
          },
      .python = "tensor.clip(a, a_min, a_max)",
      .rules = op_rules(clip_gradient(), MixedPrecision::kFollow, FakeQuantizationRule{fake_quantized_clip},
                        same_layout_flow(), NumberConversion{},
                        QuantizationRule{QuantizationRule::Does::kClip, QuantizationRule::Kernel::kJoins}),
      .test_shapes = {"(3, 5)f32[-8, 8], a_min=-1., a_max=1.", "(7)i8[-9, 9], a_min=-3., a_max=4."},
  };
  return def;
}

}  // namespace baton
