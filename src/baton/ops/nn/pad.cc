#include "baton/ir/rules/layout_flow_rules.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/nn/pad_attrs.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/layout_rules.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

template <>
const AttrSchema& attr_schema<PadAttrs>() {
  static const AttrSchema schema = make_schema<PadAttrs>(
      "relay.attrs.PadAttrs",
      {{"pad_width", &PadAttrs::pad_width,
        "how many elements come before and after, for each axis; negative: are cut off", kNoDefault},
       {"pad_mode", &PadAttrs::pad_mode,
        "\"constant\": pad_val; \"edge\": the border; \"reflect\": mirrored at the border"}});
  return schema;
}

namespace {

RelationStatus pad_relation(RelationContext& ctx, const PadAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *value = ctx.tensor(1);
  if (!data || !value) return kDefer;
  const AttrValue written = attr_schema<PadAttrs>().fields[0].get(&attrs);
  if (static_cast<int>(attrs.pad_width.size()) != data->rank())
    return fail_attr(ctx, "pad_width", attr_text(written),
                     "one pair is needed for each of the " + std::to_string(data->rank()) + " axes");
  if (attrs.pad_mode != "constant" && attrs.pad_mode != "edge" && attrs.pad_mode != "reflect")
    return fail_attr(ctx, "pad_mode", "\"" + attrs.pad_mode + "\"",
                     "it must be \"constant\", \"edge\" or \"reflect\"");
  if (!check_rank(ctx, *value, 0, 1)) return kFailed;
  std::vector<Dim> shape = data->shape();
  for (int axis = 0; axis < data->rank(); ++axis) {
    const std::vector<int64_t>& width = attrs.pad_width[axis];
    if (width.size() != 2)
      return fail_attr(ctx, "pad_width", attr_text(written), "each axis needs two numbers");
    if (shape[axis].is_any()) {
      shape[axis] = shape[axis] + width[0] + width[1];
      continue;
    }
    const int64_t extent = shape[axis].value(),
                  most = attrs.pad_mode == "edge" ? (extent ? INT64_MAX : 0) : extent - 1;
    if (attrs.pad_mode != "constant" && std::max(width[0], width[1]) > std::max<int64_t>(most, 0))
      return fail_attr(
          ctx, "pad_width", attr_text(written),
          "axis " + std::to_string(axis) + " has only " + std::to_string(extent) + " elements to pad from");
    WideInt padded = WideInt(extent) + width[0] + width[1];
    if (padded < 0 || padded > INT64_MAX)
      return fail_attr(ctx, "pad_width", attr_text(written),
                       "axis " + std::to_string(axis) + " has " + std::to_string(extent) + " elements; " +
                           (padded < 0 ? "fewer than none" : "too many") + " would be left");
    shape[axis] = static_cast<int64_t>(padded);
  }
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

void pad_compute(Compute& c, const PadAttrs& attrs) {
  const Tensor& data = c.in(0);
  const Axes i(data.rank());
  Index at = i.exprs();
  Halide::Expr inside = Halide::Internal::const_true();
  for (int axis = 0; axis < data.rank(); ++axis) {
    const int before = as_int(attrs.pad_width[axis][0]), after = as_int(attrs.pad_width[axis][1]);
    if (before == 0 && after == 0) continue;
    c.needs_elements(data.dim(axis));
    const Halide::Expr last = as_expr(data.dim(axis) - 1);
    Halide::Expr index = before == 0 ? Halide::Expr(i[axis]) : i[axis] - before;  // negative: cut off
    if (attrs.pad_mode == "reflect") {
      index = abs(index);
      const Halide::Expr from_last = abs(last - cast<int>(index));  // unsigned
      index = cast(from_last.type(), last) - from_last;
    } else if (attrs.pad_mode == "constant") {
      if (before > 0) inside = inside && index >= 0;
      if (after > 0) inside = inside && index <= last;
    }
    at[axis] = clamp(cast<int>(index), 0, last);
  }
  Halide::Func padded = c.stage("pad");
  if (std::ranges::count(data.dims(), Dim(0)) && attrs.pad_mode == "constant") {
    padded(i.reversed()) = cast_to(data.dtype(), c.in(1)(Index{}));
    return c.result(padded);
  }
  padded(i.reversed()) =
      is_const_one(inside) ? data(at) : select(inside, data(at), cast_to(data.dtype(), c.in(1)(Index{})));
  c.result(padded);
}

}  // namespace

const OpDef& op_nn_pad() {
  static const OpDef def = OpSpec<PadAttrs>{
      .name = "nn.pad",
      .doc = "The data with elements added before and after, along each axis, or cut off there.",
      .inputs = {{"data", "tensor"}, {"pad_val", "scalar; what pad_mode \"constant\" adds"}},
      .fuse = Fuse::kInjective,
      .relation = pad_relation,
      .compute = pad_compute,
      .rules = op_rules(pad_layout_flow(), flow_layout_rule(), MixedPrecision::kFollow,
                        FakeQuantizationRule{fake_quantized_pad}),
      .test_shapes = {"(2, 3)f32, ()i32={0}, pad_width=[[1, 1], [0, 2]]",
                      "(3, 4)f32, ()i32={0}, pad_width=[[1, 1], [1, 2]], pad_mode=reflect",
                      "(3, 4)f32, ()i32={0}, pad_width=[[-1, 1], [-4, 2]]",
                      "(3, 4)f32, ()i32={0}, pad_width=[[2, -1], [-1, 0]], pad_mode=edge"},
  };
  return def;
}

}  // namespace baton
