// Products with factors in fixed point.
#include <algorithm>
#include <cctype>

#include "baton/ir/rules/layout_parts.h"
#include "baton/ir/rules/layout_rule.h"
#include "baton/ir/rules/position_free_rule.h"
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

// The same of 32-bit numbers, in int32: value * multiplier / 2^shift, where `shift`, 31 + right - left, is
// from 1 to 63. Processors before AVX-512 have no arithmetic shift of 64 bits, but a logical one: numbers are
// moved up by 2^63 before it, and the result down again.
Halide::Expr multiplied_32(const Halide::Expr& value, const Halide::Expr& multiplier,
                           const Halide::Expr& shift) {
  const Halide::Expr one = Halide::cast<uint64_t>(1), by = Halide::cast<uint64_t>(shift);
  const Halide::Expr product = Halide::cast<uint64_t>(Halide::cast<int64_t>(value) *
                                                      Halide::cast<int64_t>(multiplier)),
                     moved = product + ((one << 63) + (one << (by - one)));
  return Halide::cast<int32_t>(Halide::cast<uint32_t>(moved >> by) -
                               Halide::cast<uint32_t>(one << (Halide::cast<uint64_t>(63) - by)));
}

// The same for a known shift. Up to 32, the bits that remain do not depend on the sign. From 33 on, what is
// added before shifting is a multiple of 2^32, so that the upper halves of the products are enough; it is
// added as an unsigned number: Halide would otherwise make a rounding shift of it, for which it computes the
// products twice.
Halide::Expr multiplied_32(const Halide::Expr& value, const Halide::Expr& multiplier, int shift) {
  const Halide::Expr product = Halide::cast<int64_t>(value) * Halide::cast<int64_t>(multiplier);
  if (shift <= 32) {
    const Halide::Expr half = Halide::cast<uint64_t>(1) << Halide::cast<uint64_t>(shift - 1);
    return Halide::cast<int32_t>((Halide::cast<uint64_t>(product) + half) >> Halide::cast<uint64_t>(shift));
  }
  const Halide::Expr upper = Halide::cast<int32_t>(product >> 32),
                     half = Halide::cast<uint32_t>(Halide::Expr(1 << (shift - 33)));
  return Halide::cast<int32_t>(Halide::cast<uint32_t>(upper) + half) >> (shift - 32);
}

// The same of values of at most 2^14, for shifts from 17 to 46, without numbers of 64 bits: the multiplier in
// two halves, whose products fit; what the lower one has below 2^16 does not reach the result.
Halide::Expr multiplied_16(const Halide::Expr& value, int multiplier, int shift) {
  const Halide::Expr upper = value * (multiplier >> 16), lower = value * (multiplier & 0xffff),
                     half = Halide::cast<uint32_t>(Halide::Expr(1 << (shift - 17)));
  return Halide::cast<int32_t>(Halide::cast<uint32_t>(upper + (lower >> 16)) + half) >> (shift - 16);
}

constexpr bool kConstant = true;  ///< bounds that are numbers

/// Adds the ranges of the Funcs that an expression calls, as far as their definitions tell.
void add_ranges(const Halide::Expr& expr, Halide::Internal::FuncValueBounds& known) {
  namespace lowered = Halide::Internal;
  class Calls final : public lowered::IRGraphVisitor {
   public:
    std::vector<lowered::Function> found;

   private:
    using IRGraphVisitor::visit;
    void visit(const lowered::Call* node) override {
      if (node->call_type == lowered::Call::Halide) found.emplace_back(node->func);
      IRGraphVisitor::visit(node);
    }
  };
  Calls calls;
  expr.accept(&calls);
  for (const lowered::Function& func : calls.found) {
    if (!func.has_pure_definition() || func.has_update_definition() || func.values().size() != 1 ||
        known.count({func.name(), 0}))
      continue;
    add_ranges(func.values()[0], known);
    known[{func.name(), 0}] = lowered::bounds_of_expr_in_scope(
        func.values()[0], lowered::Scope<lowered::Interval>(), known, kConstant);
  }
}

/// Whether all values are at most `most`, as after a clip or a cast from int8.
bool is_at_most(const Halide::Expr& value, int64_t most) {
  namespace lowered = Halide::Internal;
  lowered::FuncValueBounds known;
  add_ranges(value, known);
  const lowered::Interval range =
      lowered::bounds_of_expr_in_scope(value, lowered::Scope<lowered::Interval>(), known, kConstant);
  if (!range.is_bounded()) return false;
  const auto least = lowered::as_const_int(lowered::simplify(range.min)),
             greatest = lowered::as_const_int(lowered::simplify(range.max));
  return least && greatest && *least >= -most && *greatest <= most;
}

void fixed_point_compute(Compute& c, const FixedPointMultiplyAttrs& attrs) {
  const Axes i(c.out().rank());
  const int left = as_int(std::max<int64_t>(attrs.shift, 0)),
            right = as_int(std::max<int64_t>(-attrs.shift, 0));
  const int64_t shift = 31 - attrs.shift;
  const bool narrow = c.in(0).dtype() == DType::int_(32) && shift >= 1 && shift <= 62 &&
                      attrs.multiplier >= 0 && attrs.multiplier <= INT32_MAX;
  const Halide::Expr value = c.in(0)(i.exprs());
  Halide::Func product = c.stage("fixed_point_multiply");
  const bool short_values = narrow && shift >= 17 && shift <= 46 && is_at_most(value, 1 << 14);
  product(i.reversed()) =
      short_values ? multiplied_16(value, as_int(attrs.multiplier), as_int(shift))
      : narrow     ? multiplied_32(value, Halide::Expr(as_int(attrs.multiplier)), as_int(shift))
                   : cast_to(c.out().dtype(), multiplied(value, Halide::Expr(attrs.multiplier), left, right));
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
  const Halide::Expr value = c.in(0)(i.exprs()), factor = at(1),
                     right = attrs.is_rshift_required ? at(3) : Halide::Expr(0);
  const bool narrow = value.type() == Halide::Int(32) && factor.type() == Halide::Int(32);
  const Halide::Expr left = attrs.is_lshift_required ? at(2) : Halide::Expr(0);
  Halide::Func product = c.stage("fixed_point_multiply");
  product(i.reversed()) =
      narrow ? multiplied_32(value, factor, Halide::cast<int32_t>(right) - Halide::cast<int32_t>(left) + 31)
             : cast_to(c.out().dtype(), multiplied(value, factor, left, right));
  c.result(product);
}

/// Whether the factors of packed channels (n, C, H, W, c) or of plain ones depend on the channel alone.
bool along_channels(const CallNode& call) {
  constexpr int64_t kChannel = 1, kHeight = 2, kWidth = 3;
  const auto& axes = attrs_as<FixedPointMultiplyPerAxisAttrs>(call.attrs()).axes;
  const auto* type = as_type<TensorTypeNode>(call.checked_type());
  return std::ranges::all_of(axes, [&](int64_t each) {
    const int64_t axis = from_front(each, type->rank());
    return axis >= kChannel && axis != kHeight && axis != kWidth;
  });
}

/// In a packed layout of the data the factors along one axis lie along the parts of that axis.
std::optional<LayoutPlan> per_axis_plan(const CallNode& call, const LayoutStates& inputs) {
  const auto& attrs = attrs_as<FixedPointMultiplyPerAxisAttrs>(call.attrs());
  const LayoutState& data = inputs[0];
  const auto* type = tensor_type_of(call.args()[0]);
  if (!data.changed() || !type || data.was->rank() != type->rank() || attrs.axes.size() != 1)
    return std::nullopt;
  const int64_t axis = from_front(attrs.axes[0], type->rank());
  const char letter = data.was->axes()[axis].letter;
  Ints axes;
  std::string along;
  for (int i = 0; i < data.now->rank(); ++i) {
    const LayoutAxis& part = data.now->axes()[i];
    if (part.letter != letter) continue;
    axes.push_back(i);
    along += part.is_primal() ? std::string(1, letter)
                              : std::to_string(part.factor) + static_cast<char>(std::tolower(letter));
  }
  LayoutPlan plan{inputs, {data}, with_field(call.attrs(), call.op()->name, "axes", AttrValue(axes))};
  for (size_t i = 1; i < inputs.size(); ++i) {
    const auto* factors = tensor_type_of(call.args()[i]);
    if (inputs[i].changed() || !factors || factors->rank() != 1) return std::nullopt;
    plan.inputs[i] = {known_layout(std::string(1, letter)), known_layout(along)};
  }
  return plan;
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
      .test_shapes = {"(6)i32[-1000, 1000], multiplier=1288490189, shift=0",
                      "(37)i32[-2147483648, 2147483647], multiplier=2147483647, shift=0",
                      "(37)i32[-2147483648, 2147483647], multiplier=1073741824, shift=-1",
                      "(37)i32[-2147483648, 2147483647], multiplier=1288490189, shift=-2",
                      "(37)i32[-2147483648, 2147483647], multiplier=1988490189, shift=-9",
                      "(7)i32[-1000, 1000], multiplier=1288490189, shift=3"},
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
      .rules = op_rules(LayoutRule{per_axis_plan}, PositionFreeRule{along_channels}),
      .test_shapes = {"(3, 2)i32[-1000, 1000], (3)i32{1073741824, 1288490189, 2000000000}, (3)i32{0, 1, 2}, "
                      "(3)i32{1, 0, 3}, is_lshift_required=True, is_rshift_required=True, axes=[0]",
                      "(2, 4, 5)i32[-2147483648, 2147483647], (4)i32{1073741824, 1288490189, 2147483647, 0}, "
                      "(4)i32{0, 0, 0, 0}, (4)i32{0, 1, 2, 30}, is_rshift_required=True, axes=[1]"},
  };
  return def;
}

}  // namespace baton
