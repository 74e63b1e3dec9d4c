// Products with factors in fixed point.
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/tensor/tensor_attrs.h"

namespace baton {

struct FixedPointMultiplyAttrs {
  int64_t multiplier = 0, shift = 0;
};
struct FixedPointMultiplyPerAxisAttrs {
  bool is_lshift_required = false;
  bool is_rshift_required = false;
  Ints axes = {};
};

template <>
const AttrSchema& attr_schema<FixedPointMultiplyAttrs>() {
  using A = FixedPointMultiplyAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.FixedPointMultiplyAttrs",
                     {{"multiplier", &A::multiplier, "factor, in 31-bit fixed point", kNoDefault},
                      {"shift", &A::shift, "power of two", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<FixedPointMultiplyPerAxisAttrs>() {
  using A = FixedPointMultiplyPerAxisAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.FixedPointMultiplyPerAxisAttrs",
                     {{"is_lshift_required", &A::is_lshift_required, "whether there is a left shift"},
                      {"is_rshift_required", &A::is_rshift_required, "whether there is a right shift"},
                      {"axes", &A::axes, "the axes of the factors", kNoDefault}});
  return schema;
}

namespace {

// Factors and shifts have the axes `axes` of the data, or broadcast to it.
RelationStatus per_axis_relation(RelationContext& ctx, const FixedPointMultiplyPerAxisAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  std::vector<Dim> along;
  for (const int64_t each : attrs.axes) {
    const auto axis = checked_axis(ctx, each, data->rank());
    if (!axis) return kFailed;
    along.push_back(data->shape()[*axis]);
  }
  for (int arg = 1; arg < 4; ++arg) {
    if ((arg == 2 && !attrs.is_lshift_required) || (arg == 3 && !attrs.is_rshift_required)) continue;
    const TensorTypeNode* factor = ctx.tensor(arg);
    if (!factor) return kDefer;
    if (factor->rank() == data->rank() && static_cast<int>(along.size()) != data->rank()
            ? !check_broadcasts(ctx, *factor, data->shape(), arg, "a factor or shift for each element")
            : !check_shape(ctx, *factor, along, arg, "a factor or shift for each position along `axes`"))
      return kFailed;
  }
  return ctx.assign_result(ctx.input(0));
}

// value * 2^left * multiplier / 2^(31 + right), halves rounded up.
Halide::Expr multiplied(const Halide::Expr& value, const Halide::Expr& multiplier, const Halide::Expr& left,
                        const Halide::Expr& right) {
  const Halide::Expr one = Halide::cast<int64_t>(1),
                     shift = Halide::cast<int64_t>(right) + Halide::cast<int64_t>(31);
  return ((Halide::cast<int64_t>(value) << Halide::cast<int64_t>(left)) * Halide::cast<int64_t>(multiplier) +
          (one << (shift - 1))) >>
         shift;
}

void fixed_point_compute(Compute& c, const FixedPointMultiplyAttrs& attrs) {
  const Axes i(c.out().rank());
  const int left = as_int(std::max<int64_t>(attrs.shift, 0)),
            right = as_int(std::max<int64_t>(-attrs.shift, 0));
  Halide::Func product = c.stage("fixed_point_multiply");
  product(i.reversed()) =
      cast_to(c.out().dtype(), multiplied(c.in(0)(i.exprs()), Halide::Expr(attrs.multiplier), left, right));
  c.result(product);
}

// Factors and shifts have the axes `axes` of the data (or its rank, with extents of 1).
void fixed_point_per_axis_compute(Compute& c, const FixedPointMultiplyPerAxisAttrs& attrs) {
  const Axes i(c.out().rank());
  auto at = [&](int input) {
    const Tensor& tensor = c.in(input);
    if (tensor.rank() == i.rank() && attrs.axes.size() != static_cast<size_t>(i.rank()))
      return broadcast_at(tensor, i.exprs());
    Index index;
    for (const int64_t axis : attrs.axes) index.push_back(i[from_front(axis, i.rank())]);
    index.resize(tensor.rank(), Halide::Expr(0));
    return tensor(index);
  };
  const Halide::Expr left = attrs.is_lshift_required ? at(2) : Halide::Expr(0),
                     right = attrs.is_rshift_required ? at(3) : Halide::Expr(0);
  Halide::Func product = c.stage("fixed_point_multiply");
  product(i.reversed()) = cast_to(c.out().dtype(), multiplied(c.in(0)(i.exprs()), at(1), left, right));
  c.result(product);
}

}  // namespace

const OpDef& op_fixed_point_multiply() {
  static const OpDef def = OpSpec<FixedPointMultiplyAttrs>{
      .name = "fixed_point_multiply",
      .doc = "data * multiplier * 2^(shift - 31), rounded.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kElementwise,
      .relation = [](RelationContext& ctx, const FixedPointMultiplyAttrs&) { return identity_relation(ctx); },
      .compute = fixed_point_compute,
      .python = "tensor",
      .rules = op_rules(same_layout_flow()),
      .test_shapes = {"(6)i32[-1000, 1000], multiplier=1288490189, shift=0"},
  };
  return def;
}

const OpDef& op_fixed_point_multiply_per_axis() {
  static const OpDef def = OpSpec<FixedPointMultiplyPerAxisAttrs>{
      .name = "fixed_point_multiply_per_axis",
      .doc = "fixed_point_multiply with factors and shifts of their own along some axes.",
      .inputs = {{"data", "tensor"},
                 {"fp_multiplier", "factors"},
                 {"left_shift", "shifts"},
                 {"right_shift", "shifts"}},
      .fuse = Fuse::kBroadcast,
      .relation = per_axis_relation,
      .compute = fixed_point_per_axis_compute,
      .test_shapes = {"(3, 2)i32[-1000, 1000], (3)i32{1073741824, 1288490189, 2000000000}, (3)i32{0, 1, 2}, "
                      "(3)i32{1, 0, 3}, is_lshift_required=True, is_rshift_required=True, axes=[0]"},
  };
  return def;
}

}  // namespace baton
