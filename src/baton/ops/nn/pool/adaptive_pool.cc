// Adaptive pools: windows are derived from the extents of the result.
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/layout_rules.h"
#include "baton/ops/run_compute.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

template <int kCount>
struct AdaptivePoolAttrs {
  std::vector<int64_t> output_size = {};  ///< none: as the data; one: for all axes
  std::string layout = data_letters(kCount);
  std::string out_layout = {};
};

namespace {

template <int kCount>
AttrSchema adaptive_schema() {
  using A = AdaptivePoolAttrs<kCount>;
  return make_schema<A>(
      "relay.attrs.AdaptivePool" + std::to_string(kCount) + "DAttrs",
      {{"output_size", &A::output_size, "extents of the result; empty: as the data; one value: for all axes"},
       {"layout", &A::layout, "layout of the data"},
       {"out_layout", &A::out_layout, "kept for Relay's sake; the result has the layout of the data"}});
}

template <int kCount>
RelationStatus adaptive_relation(RelationContext& ctx, const AdaptivePoolAttrs<kCount>& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto layout = spatial_layout(ctx, attrs.layout, kCount);
  if (!layout) return kFailed;
  std::vector<int64_t> size = attrs.output_size;
  if (size.size() == 1) size.resize(kCount, size[0]);
  if (!size.empty() && !check_lists(ctx, {{"output_size", &size}}, kCount)) return kFailed;
  std::vector<Dim> shape = data->shape();
  for (int i = 0; i < static_cast<int>(size.size()); ++i)
    shape[layout->find(spatial_letters(kCount)[i])] = size[i];
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

// Each axis of `axes` is divided into as many parts as the result has there.
void adaptive_pool_compute(Compute& c, const std::vector<int>& axes, bool mean) {
  const Tensor& data = c.in(0);
  const Axes i(data.rank());
  std::vector<int64_t> out;
  for (const Dim& dim : c.out().shape())
    out.push_back(std::ranges::find(axes, static_cast<int>(out.size())) == axes.end()
                      ? 0
                      : number_of(dim, "a number of parts for axis " + std::to_string(out.size())));
  std::vector<Dim> largest;  // parts
  for (const int axis : axes) {
    const Dim extent = data.dim(axis);
    const Dim even = floor_div(extent + out[axis] - 1, out[axis]);
    largest.push_back(even + (extent.is_any() ? out[axis] != 1 : extent.value() % out[axis] != 0));
    if (out[axis] != 1) c.needs_elements(extent);
  }
  const Domain r(largest);
  Index at = i.exprs();
  Halide::Expr inside = Halide::Internal::const_true(), count = 1;
  for (size_t k = 0; k < axes.size(); ++k) {
    const int axis = axes[k], to = as_int(out[axis]);
    const Halide::Expr from = data.size(axis);
    const Halide::Expr first = i[axis] * from / to, end = ((i[axis] + 1) * from + to - 1) / to;
    const Halide::Expr position = first + r[static_cast<int>(k)];
    inside = inside && position < end;
    count = count * (end - first);
    at[axis] = inside_axis(position, data.dim(axis));
  }
  if (is_empty(data.dims())) count = 0;
  const Halide::Type type = sum_type(c.out().dtype());
  const OrderKey order{true};
  const Halide::Expr start = mean ? cast(type, 0) : order.start(type), given = cast(type, data(at)),
                     value = select(inside, mean ? given : order.of(given), start);
  Halide::Func pooled = c.stage(mean ? "sum" : "max"), result = c.stage("adaptive_pool");
  pooled(i.reversed()) = start;
  const Halide::Expr folded = pooled(i.reversed());
  pooled(i.reversed()) = mean ? folded + value : order.better(folded, value);
  result(i.reversed()) = cast_to(
      c.out().dtype(), mean ? divide_toward_zero(folded, cast(type, count)) : OrderKey::value(folded, type));
  c.result(result);
}

template <int kCount, bool kMean>
OpDef adaptive_pool(const char* name, OpRules rules, std::vector<const char*> test_shapes) {
  return OpSpec<AdaptivePoolAttrs<kCount>>{
      .name = name,
      .doc = std::string(kMean ? "The means" : "The largest values") +
             " of windows that cut each spatial axis into as many parts as output_size says.",
      .inputs = {{"data", "tensor in `layout`"}},
      .fuse = Fuse::kOutFusable,
      .relation = adaptive_relation<kCount>,
      .compute =
          [](Compute& c, const AdaptivePoolAttrs<kCount>& attrs) {
            adaptive_pool_compute(c, layout_axes(attrs.layout, spatial_letters(kCount)), kMean);
          },
      .rules = std::move(rules),
      .test_shapes = std::move(test_shapes),
  };
}

}  // namespace

template <>
const AttrSchema& attr_schema<AdaptivePoolAttrs<1>>() {
  static const AttrSchema schema = adaptive_schema<1>();
  return schema;
}

template <>
const AttrSchema& attr_schema<AdaptivePoolAttrs<2>>() {
  static const AttrSchema schema = adaptive_schema<2>();
  return schema;
}

template <>
const AttrSchema& attr_schema<AdaptivePoolAttrs<3>>() {
  static const AttrSchema schema = adaptive_schema<3>();
  return schema;
}

const OpDef& op_nn_adaptive_avg_pool1d() {
  static const OpDef def = adaptive_pool<1, true>(
      "nn.adaptive_avg_pool1d",
      op_rules(MixedPrecision::kNever,
               FakeQuantizationRule{fake_quantized_average_pool, /*without_end=*/false},
               spatial_layout_flow()),
      {"(1, 2, 8)f32, output_size=[3]"});
  return def;
}

const OpDef& op_nn_adaptive_avg_pool2d() {
  static const OpDef def =
      adaptive_pool<2, true>("nn.adaptive_avg_pool2d",
                             op_rules(MixedPrecision::kNever, spatial_layout_flow(), spatial_layout_rule()),
                             {"(1, 2, 6, 6)f32, output_size=[1, 1]"});
  return def;
}

const OpDef& op_nn_adaptive_avg_pool3d() {
  static const OpDef def = adaptive_pool<3, true>("nn.adaptive_avg_pool3d",
                                                  op_rules(MixedPrecision::kNever, spatial_layout_flow()),
                                                  {"(1, 2, 4, 6, 6)f32, output_size=[2, 3, 3]"});
  return def;
}

const OpDef& op_nn_adaptive_max_pool1d() {
  static const OpDef def = adaptive_pool<1, false>("nn.adaptive_max_pool1d",
                                                   op_rules(MixedPrecision::kFollow, spatial_layout_flow()),
                                                   {"(1, 2, 8)f32, output_size=[3]"});
  return def;
}

const OpDef& op_nn_adaptive_max_pool2d() {
  static const OpDef def =
      adaptive_pool<2, false>("nn.adaptive_max_pool2d",
                              op_rules(MixedPrecision::kFollow, spatial_layout_flow(), spatial_layout_rule()),
                              {"(1, 2, 6, 6)f32, output_size=[1, 1]"});
  return def;
}

const OpDef& op_nn_adaptive_max_pool3d() {
  static const OpDef def = adaptive_pool<3, false>("nn.adaptive_max_pool3d",
                                                   op_rules(MixedPrecision::kFollow, spatial_layout_flow()),
                                                   {"(1, 2, 4, 6, 6)f32, output_size=[2, 3, 3]"});
  return def;
}

}  // namespace baton
