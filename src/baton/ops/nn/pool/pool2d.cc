// 2-D pools, windowed and global, with one relation each.
#include "baton/ir/layout.h"
#include "baton/ir/rules/brief.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/nn/pool/pool_window.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/rules/layout_rules.h"
#include "baton/ops/shared/conv_attrs.h"

namespace baton {

struct GlobalPool2DAttrs {
  std::string layout = "NCHW";
  std::string out_layout = {};
};

namespace {

template <class A>
std::vector<AttrSpec<A>> pool2d_fields() {
  return {{"pool_size", inherited<A>(&A::pool_size), "height and width of the window", kNoDefault},
          {"strides", inherited<A>(&A::strides), "step along height and width"},
          {"dilation", inherited<A>(&A::dilation), "distance of the window's cells along height and width"},
          {"padding", inherited<A>(&A::padding),
           "cells around the data: p, or [h, w], or [top, left, bottom, right]"},
          {"layout", inherited<A>(&A::layout), "layout of the data, e.g. NCHW, NHWC, NCHW16c"},
          {"out_layout", inherited<A>(&A::out_layout),
           "kept for Relay's sake; the result has the layout of the data"},
          {"ceil_mode", inherited<A>(&A::ceil_mode),
           "the result's extents are rounded up: the last window may reach over the edge"}};
}

}  // namespace

template <>
const AttrSchema& attr_schema<MaxPool2DAttrs>() {
  static const AttrSchema schema =
      make_schema<MaxPool2DAttrs>("relay.attrs.MaxPool2DAttrs", pool2d_fields<MaxPool2DAttrs>());
  return schema;
}

template <>
const AttrSchema& attr_schema<AvgPool2DAttrs>() {
  static const AttrSchema schema = [] {
    auto fields = pool2d_fields<AvgPool2DAttrs>();
    fields.push_back(
        {"count_include_pad", &AvgPool2DAttrs::count_include_pad, "whether the mean counts padded cells"});
    return make_schema<AvgPool2DAttrs>("relay.attrs.AvgPool2DAttrs", std::move(fields));
  }();
  return schema;
}

template <>
const AttrSchema& attr_schema<GlobalPool2DAttrs>() {
  using A = GlobalPool2DAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.GlobalPool2DAttrs",
      {{"layout", &A::layout, "layout of the data, e.g. NCHW, NHWC, NCHW16c"},
       {"out_layout", &A::out_layout, "kept for Relay's sake; the result has the layout of the data"}});
  return schema;
}

namespace {

// The layout, if it has unsplit H and W and the data's rank; else nullopt after a report.
std::optional<Layout> pool_layout(RelationContext& ctx, const std::string& text) {
  const auto layout = Layout::parse(text);
  if (!layout || layout->find('H') < 0 || layout->find('W') < 0 || layout->is_split('H') ||
      layout->is_split('W')) {
    fail_attr(ctx, "layout", "\"" + text + "\"", "a layout with H and W that are not split is needed");
    return std::nullopt;
  }
  if (!check_in_layout(ctx, *ctx.tensor(0), *layout, 0)) return std::nullopt;
  return layout;
}

template <class A>
RelationStatus pool2d_relation(RelationContext& ctx, const A& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto layout = pool_layout(ctx, attrs.layout);
  if (!layout) return kFailed;
  for (const auto& [name, values] :
       {std::pair{"pool_size", &attrs.pool_size}, {"strides", &attrs.strides}, {"dilation", &attrs.dilation}})
    if (!check_count(ctx, name, *values, 2) || !check_least(ctx, name, *values, 1)) return kFailed;
  const auto padding = padding_2d(attrs.padding);
  if (!padding)
    return fail_attr(ctx, "padding", attr_text(AttrValue(attrs.padding)), "1, 2 or 4 values are needed");
  std::vector<Dim> shape = data->shape();
  const int64_t pads[2] = {padding->height(), padding->width()};
  const int at[2] = {layout->find('H'), layout->find('W')};
  for (int axis = 0; axis < 2; ++axis) {
    Dim& dim = shape[at[axis]];
    const int64_t window = (attrs.pool_size[axis] - 1) * attrs.dilation[axis] + 1;
    if (dim.is_any()) {
      const Dim free = dim + pads[axis] - window + (attrs.ceil_mode ? attrs.strides[axis] - 1 : 0);
      dim = floor_div(free, attrs.strides[axis]) + 1;
      continue;
    }
    int64_t free = dim.value() + pads[axis] - window;
    if (attrs.ceil_mode) free += attrs.strides[axis] - 1;
    if (free < 0)
      return fail_arg(ctx, 0,
                      "the window of " + std::to_string(window) + " does not fit into axis " +
                          std::to_string(at[axis]) + " of " + type_text(ctx.input(0)));
    dim = free / attrs.strides[axis] + 1;
  }
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus global_relation(RelationContext& ctx, const GlobalPool2DAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto layout = pool_layout(ctx, attrs.layout);
  if (!layout) return kFailed;
  std::vector<Dim> shape = data->shape();
  shape[layout->find('H')] = shape[layout->find('W')] = 1;
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

// Stage "pad": the data as `type`, and `outside` beyond its edges. Schedules may store it or compute it in
// place.
template <class A>
Tensor padded_stage(Compute& c, const A& attrs, Halide::Type type, const Halide::Expr& outside) {
  const Layout layout = *Layout::parse(attrs.layout);
  const Axes i(c.in(0).rank());
  Index at = i.exprs();
  Halide::Expr inside = Halide::Internal::const_true();
  std::vector<Halide::Expr> by_axis;
  for (const char axis : {'H', 'W'}) {
    const int d = layout.find(axis);
    const Halide::Expr extent = c.in(0).size(d), x = i[d];
    c.needs_elements(c.in(0).dim(d));
    by_axis.push_back(x >= 0 && x < extent);
    inside = inside && x >= 0 && x < extent;
    // Most windows are inside: `likely` makes Halide split loops, so that only those at the edges are
    // clamped.
    at[d] = clamp(likely(x), 0, extent - 1);
  }
  Halide::Func pad = c.stage("pad");
  const Halide::Expr value = cast(type, c.in(0)(at));
  // Where extents are no numbers, Halide decides conditions on one loop only.
  if (c.in(0).is_static())
    pad(i.reversed()) = select(inside, likely(value), outside);
  else
    pad(i.reversed()) = select(by_axis[0], likely(select(by_axis[1], likely(value), outside)), outside);
  return {pad, c.in(0).dims(), c.in(0).dtype()};
}

// The index of cell (r.y, r.x) of the window of result element `i`.
template <class A>
Index cell_of(const A& attrs, const Index& i, const Halide::RDom& r) {
  const Layout layout = *Layout::parse(attrs.layout);
  const Padding2D pad = *padding_2d(attrs.padding);
  const int h = layout.find('H'), w = layout.find('W');
  Index at = i;
  at[h] = i[h] * as_int(attrs.strides[0]) + r.y * as_int(attrs.dilation[0]) - as_int(pad.top);
  at[w] = i[w] * as_int(attrs.strides[1]) + r.x * as_int(attrs.dilation[1]) - as_int(pad.left);
  return at;
}

Halide::RDom pool_domain(const std::vector<int64_t>& size) {
  return {0, as_int(size[1]), 0, as_int(size[0]), "r"};
}

// The number of cells below `limit` and not before `from` in the window that starts at `first`.
Halide::Expr cells(Halide::Expr first, int64_t size, int64_t dilation, int64_t from, Dim limit) {
  const int step = as_int(dilation), count = as_int(size);
  const Halide::Expr skipped = clamp((as_int(from) - first + step - 1) / step, 0, count);
  const Halide::Expr reached = clamp((as_expr(limit) - first + step - 1) / step, 0, count);
  return reached - skipped;
}

// Stages "pad", "max_pool2d" and "out".
void max_pool2d_compute(Compute& c, const MaxPool2DAttrs& attrs) {
  const Axes i(c.out().rank());
  const Halide::RDom r = pool_domain(attrs.pool_size);
  const Halide::Type type = halide_type(c.out().dtype());
  // As TVM pads, not with -inf.
  const Tensor padded = padded_stage(c, attrs, type, least_finite(type));
  Halide::Func pool = c.stage("max_pool2d");
  pool(i.reversed()) =
      first_maximum(pool_window(attrs, "HW"), c.in(0).dims(), c.out().shape(), i.exprs(), type);
  pool(i.reversed()) = ieee_maximum(pool(i.reversed()), padded(cell_of(attrs, i.exprs(), r)));
  c.result(copy_stage(c, pool));
}

// Stages "pad", "sum" and "avg_pool2d".
void avg_pool2d_compute(Compute& c, const AvgPool2DAttrs& attrs) {
  const Axes i(c.out().rank());
  const Halide::RDom r = pool_domain(attrs.pool_size);
  const Halide::Type type = sum_type(c.out().dtype());
  const Tensor padded = padded_stage(c, attrs, type, cast(type, 0));
  Halide::Func sum = c.stage("sum"), pool = c.stage("avg_pool2d");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) += padded(cell_of(attrs, i.exprs(), r));

  // With count_include_pad the cells in the padding count, but not those that ceil_mode adds beyond it.
  const Padding2D pad = *padding_2d(attrs.padding);
  const Layout layout = *Layout::parse(attrs.layout);
  const int h = layout.find('H'), w = layout.find('W');
  const Dim height = c.in(0).dim(h), width = c.in(0).dim(w);
  const bool all = attrs.count_include_pad;
  const Halide::Expr y = i[h] * as_int(attrs.strides[0]) - as_int(pad.top);
  const Halide::Expr x = i[w] * as_int(attrs.strides[1]) - as_int(pad.left);
  const Halide::Expr count =
      cells(y, attrs.pool_size[0], attrs.dilation[0], all ? -pad.top : 0,
            all ? height + pad.bottom : height) *
      cells(x, attrs.pool_size[1], attrs.dilation[1], all ? -pad.left : 0, all ? width + pad.right : width);
  pool(i.reversed()) =
      cast_to(c.out().dtype(), divide_toward_zero(sum(i.reversed()), cast(type, max(count, 1))));
  c.result(pool);
}

// One window over all of height and width.
struct Plane {
  Plane(const Compute& c, const std::string& layout_text)
      : layout(*Layout::parse(layout_text)),
        height(c.in(0).dim(layout.find('H'))),
        width(c.in(0).dim(layout.find('W'))),
        r(0, as_expr(width), 0, as_expr(height), "r"),
        i(c.out().rank()),
        at(i.exprs()) {
    at[layout.find('H')] = r.y;
    at[layout.find('W')] = r.x;
  }
  Layout layout;
  Dim height, width;
  Halide::RDom r;
  Axes i;
  Index at;  // the cell (r.y, r.x)
};

// Stages "sum" and "global_avg_pool2d".
void global_avg_pool2d_compute(Compute& c, const GlobalPool2DAttrs& attrs) {
  const Plane plane(c, attrs.layout);
  const std::vector<Halide::Var> i = plane.i.reversed();
  const Halide::Type type = sum_type(c.out().dtype());
  Halide::Func sum = c.stage("sum"), pool = c.stage("global_avg_pool2d");
  sum(i) = cast(type, 0);
  sum(i) += cast(type, c.in(0)(plane.at));
  pool(i) =
      cast_to(c.out().dtype(), divide_toward_zero(sum(i), cast(type, as_expr(plane.height * plane.width))));
  c.result(pool);
}

// Stages "global_max_pool2d" and "out".
void global_max_pool2d_compute(Compute& c, const GlobalPool2DAttrs& attrs) {
  const Plane plane(c, attrs.layout);
  const std::vector<Halide::Var> i = plane.i.reversed();
  Halide::Func pool = c.stage("global_max_pool2d");
  const Halide::Type type = sum_type(c.out().dtype());
  const OrderKey order{true};
  pool(i) = order.start(type);
  pool(i) = order.better(pool(i), order.of(cast(type, c.in(0)(plane.at))));
  Halide::Func out = c.stage("out");
  out(i) = cast_to(c.out().dtype(), OrderKey::value(pool(i), type));
  c.result(out);
}

void refuse_dilation(const CallNode& call) {
  for (const int64_t dilation : ints_attr(call, "dilation"))
    if (dilation != 1) gradients::refuse(call, "with dilation is not provided yet");
}

GradientRule max_pool2d_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    refuse_dilation(*call);
    MaxPool2DAttrs attrs = attrs_as<MaxPool2DAttrs>(call->attrs());
    attrs.dilation = {};  // unused here
    return Adjoints{
        Expr(baton::call("nn.max_pool2d_grad", {g, call->args()[0]}, make_attrs(std::move(attrs))))};
  }};
}

GradientRule avg_pool2d_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    refuse_dilation(*call);
    AvgPool2DAttrs attrs = attrs_as<AvgPool2DAttrs>(call->attrs());
    attrs.dilation = {};
    return Adjoints{
        Expr(baton::call("nn.avg_pool2d_grad", {g, call->args()[0]}, make_attrs(std::move(attrs))))};
  }};
}

// One window over the whole plane.
GradientRule global_avg_pool2d_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    AvgPool2DAttrs attrs;
    attrs.layout = text_attr(*call, "layout");
    const size_t height = attrs.layout.find('H'), width = attrs.layout.find('W');
    if (attrs.layout != "NCHW" && attrs.layout != "NHWC")
      refuse(*call, "is provided for the layouts NCHW and NHWC, got " + attrs.layout);
    const std::vector<Dim>& shape = tensor_arg(*call, 0).shape();
    if (shape[height].is_any() || shape[width].is_any())
      refuse(*call, "needs to know height and width, got " + type_text(call->args()[0]->checked_type()));
    attrs.pool_size = {shape[height].value(), shape[width].value()};
    attrs.dilation = {};
    return Adjoints{
        Expr(baton::call("nn.avg_pool2d_grad", {g, call->args()[0]}, make_attrs(std::move(attrs))))};
  }};
}

}  // namespace

const OpDef& op_nn_max_pool2d() {
  static const OpDef def = OpSpec<MaxPool2DAttrs>{
      .name = "nn.max_pool2d",
      .doc =
          "The largest value in a window that moves over height and width; cells in the padding do not "
          "count.",
      .inputs = {{"data", "tensor in `layout`"}},
      .fuse = Fuse::kOutFusable,
      .relation = pool2d_relation<MaxPool2DAttrs>,
      .compute = max_pool2d_compute,
      .cost = window_cost,
      .python =
          "nn.max_pool2d(data, pool_size=(1, 1), strides=(1, 1), dilation=(1, 1), padding=(0, 0), "
          "layout='NCHW', out_layout='', ceil_mode=False)",
      .rules = op_rules(window_brief(), spatial_layout_rule(), max_pool2d_gradient(), MixedPrecision::kFollow,
                        FakeQuantizationRule{fake_quantized_same}, spatial_layout_flow(), AnchorRule{"pool"},
                        ConvertedLayout::kWindows, OwnPadding::kMaximum,
                        QuantizationRule{QuantizationRule::Does::kSelect, QuantizationRule::Kernel::kJoins}),
      .test_shapes = {"(1, 1, 1, 1)f32, pool_size=[1, 1], padding=[0, 0, 0, 0]",
                      "(1, 2, 8, 8)f32, pool_size=[3, 2], strides=[1, 2], padding=[0, 1, 1, 0]"},
  };
  return def;
}

const OpDef& op_nn_avg_pool2d() {
  static const OpDef def = OpSpec<AvgPool2DAttrs>{
      .name = "nn.avg_pool2d",
      .doc = "The mean of a window that moves over height and width.",
      .inputs = {{"data", "tensor in `layout`"}},
      .fuse = Fuse::kOutFusable,
      .relation = pool2d_relation<AvgPool2DAttrs>,
      .compute = avg_pool2d_compute,
      .cost = window_cost,
      .python =
          "nn.avg_pool2d(data, pool_size=(1, 1), strides=(1, 1), dilation=(1, 1), padding=(0, 0), "
          "layout='NCHW', out_layout='', ceil_mode=False, count_include_pad=False)",
      .rules = op_rules(window_brief(), spatial_layout_rule(), avg_pool2d_gradient(), MixedPrecision::kFollow,
                        FakeQuantizationRule{fake_quantized_average_pool}, spatial_layout_flow(),
                        AnchorRule{"pool"}, ConvertedLayout::kWindows, OwnPadding::kAverage,
                        QuantizationRule{QuantizationRule::Does::kMean}),
      .test_shapes = {"(1, 2, 8, 8)f32, pool_size=[3, 2], strides=[1, 2], padding=[0, 1, 1, 0]",
                      "(1, 8, 8, 3)f32, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0], layout=NHWC, "
                      "count_include_pad=True"},
  };
  return def;
}

const OpDef& op_nn_global_avg_pool2d() {
  static const OpDef def = OpSpec<GlobalPool2DAttrs>{
      .name = "nn.global_avg_pool2d",
      .doc = "The mean over height and width, which become 1.",
      .inputs = {{"data", "tensor in `layout`"}},
      .fuse = Fuse::kOutFusable,
      .relation = global_relation,
      .compute = global_avg_pool2d_compute,
      .rules = op_rules(window_brief(), spatial_layout_rule(), global_avg_pool2d_gradient(),
                        MixedPrecision::kNever, FakeQuantizationRule{fake_quantized_average_pool},
                        spatial_layout_flow(), AnchorRule{"pool"}, ConvertedLayout::kWindows,
                        QuantizationRule{QuantizationRule::Does::kTotalMean}),
      .test_shapes = {"(1, 3, 5, 5)f32", "(2, 7, 1, 3)f32, layout=NHWC"},
  };
  return def;
}

const OpDef& op_nn_global_max_pool2d() {
  static const OpDef def = OpSpec<GlobalPool2DAttrs>{
      .name = "nn.global_max_pool2d",
      .doc = "The largest value over height and width, which become 1.",
      .inputs = {{"data", "tensor in `layout`"}},
      .fuse = Fuse::kOutFusable,
      .relation = global_relation,
      .compute = global_max_pool2d_compute,
      .rules = op_rules(window_brief(), spatial_layout_rule(), MixedPrecision::kFollow, spatial_layout_flow(),
                        AnchorRule{"pool"}, ConvertedLayout::kWindows),
      .test_shapes = {"(1, 3, 5, 5)f32", "(2, 7, 1, 3)f32, layout=NHWC"},
  };
  return def;
}

}  // namespace baton
