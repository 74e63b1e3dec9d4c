#include "baton/ir/rules/layout_flow_rules.h"
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/shared/conv_attrs.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

struct CorrelationAttrs {
  int64_t kernel_size = 1;
  int64_t max_displacement = 1;
  int64_t stride1 = 1;
  int64_t stride2 = 1;
  std::vector<int64_t> padding{0, 0};
  bool is_multiply = true;
  std::string layout = "NCHW";
};

template <>
const AttrSchema& attr_schema<CorrelationAttrs>() {
  using A = CorrelationAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.CorrelationAttrs",
      {{"kernel_size", &A::kernel_size, "edge of the patches that are compared; odd"},
       {"max_displacement", &A::max_displacement, "how far apart patches are compared"},
       {"stride1", &A::stride1, "step of the patches of data1"},
       {"stride2", &A::stride2, "step of the displacements"},
       {"padding", &A::padding, "zeros around both: p, or [h, w], or [top, left, bottom, right]"},
       {"is_multiply", &A::is_multiply, "multiply patches; else the absolute difference"},
       {"layout", &A::layout, "layout of the data, NCHW"}});
  return schema;
}

namespace {

RelationStatus correlation_relation(RelationContext& ctx, const CorrelationAttrs& attrs) {
  const TensorTypeNode *first = ctx.tensor(0), *second = ctx.tensor(1);
  if (!first || !second) return kDefer;
  if (attrs.layout != "NCHW")
    return fail_attr(ctx, "layout", "\"" + attrs.layout + "\"", "it must be \"NCHW\"");
  if (!check_rank(ctx, *first, 4, 0) || !check_rank(ctx, *second, 4, 1)) return kFailed;
  for (int axis = 0; axis < 4; ++axis)
    if (!may_equal(first->shape()[axis], second->shape()[axis]))
      return fail_arg(ctx, 1,
                      "both need the same shape, got " + shape_text(first->shape()) + " and " +
                          shape_text(second->shape()));
  if (attrs.kernel_size < 1 || attrs.kernel_size % 2 == 0)
    return fail_attr(ctx, "kernel_size", std::to_string(attrs.kernel_size), "it must be positive and odd");
  if (!check_least(ctx, "max_displacement", {&attrs.max_displacement, 1}, 0) ||
      !check_least(ctx, "stride1", {&attrs.stride1, 1}, 1) ||
      !check_least(ctx, "stride2", {&attrs.stride2, 1}, 1))
    return kFailed;
  const auto padding = padding_sums(ctx, attrs.padding, 2);
  if (!padding) return kFailed;
  const auto across =
      checked_extent(ctx, static_cast<WideInt>(attrs.max_displacement / attrs.stride2) * 2 + 1);
  if (!across) return kFailed;
  const auto channels = checked_product(ctx, {*across, *across});
  if (!channels) return kFailed;
  std::vector<Dim> shape{first->shape()[0], *channels};
  for (int i = 0; i < 2; ++i) {
    const Dim dim = first->shape()[2 + i];
    const WideInt border = static_cast<WideInt>(attrs.max_displacement) + attrs.kernel_size / 2;
    if (dim.is_any()) {
      const Dim reach = Dim(attrs.max_displacement) + attrs.kernel_size / 2;
      shape.push_back(floor_div(dim + (*padding)[i] - reach * 2 + (attrs.stride1 - 1), attrs.stride1));
      continue;
    }
    const WideInt free = static_cast<WideInt>(dim.value()) + (*padding)[i] - 2 * border;
    const auto extent = checked_extent(ctx, free <= 0 ? -1 : (free + attrs.stride1 - 1) / attrs.stride1);
    if (!extent) return kFailed;
    shape.push_back(*extent);
  }
  return ctx.assign_result(tensor_type(std::move(shape), first->dtype()));
}

// Channel q of the result compares with data2 moved by (q / across - radius, q % across - radius) steps.
void correlation_compute(Compute& c, const CorrelationAttrs& attrs) {
  const Tensor &first = c.in(0), &second = c.in(1);
  const int kernel = as_int(attrs.kernel_size), channels = as_int(first.extent(1)),
            radius = as_int(attrs.max_displacement / attrs.stride2);
  for (const int axis : {2, 3}) c.needs_elements(first.dim(axis)), c.needs_elements(second.dim(axis));
  const int across = 2 * radius + 1, step = as_int(attrs.stride2);
  const Padding2D pad = *padding_2d(attrs.padding);
  const Halide::Type type = sum_type(c.out().dtype());
  const Axes i(4);
  const Domain r({channels, kernel, kernel});
  auto pixel = [&](const Tensor& from, const Halide::Expr& padded_y, const Halide::Expr& padded_x) {
    const Halide::Expr y = padded_y - as_int(pad.top), x = padded_x - as_int(pad.left);
    const Halide::Expr inside = y >= 0 && y < from.size(2) && x >= 0 && x < from.size(3);
    return select(
        inside, cast(type, from(Index{i[0], r[0], inside_axis(y, from.dim(2)), inside_axis(x, from.dim(3))})),
        cast(type, 0));
  };
  const Halide::Expr y = i[2] * as_int(attrs.stride1) + as_int(attrs.max_displacement) + r[1];
  const Halide::Expr x = i[3] * as_int(attrs.stride1) + as_int(attrs.max_displacement) + r[2];
  const Halide::Expr a = pixel(first, y, x), b = pixel(second, y + (i[1] / across - radius) * step,
                                                       x + (i[1] % across - radius) * step);
  Halide::Func sum = c.stage("correlation"), out = c.stage("out");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) += attrs.is_multiply ? a * b : cast(type, abs(a - b));
  out(i.reversed()) = cast_to(c.out().dtype(), sum(i.reversed()) / (kernel * kernel * channels));
  c.result(out);
}

}  // namespace

const OpDef& op_nn_correlation() {
  static const OpDef def = OpSpec<CorrelationAttrs>{
      .name = "nn.correlation",
      .doc =
          "Compares each patch of data1 with the patches of data2 around it, one channel for each "
          "displacement.",
      .inputs = {{"data1", "4-D tensor"}, {"data2", "4-D tensor"}},
      .fuse = Fuse::kOutFusable,
      .relation = correlation_relation,
      .compute = correlation_compute,
      .python =
          "nn.correlation(data1, data2, kernel_size, max_displacement, stride1, stride2, padding, "
          "is_multiply, layout)",
      .rules = op_rules(pair_layout_flow()),
      .test_shapes = {"(1, 3, 5, 4)f32, (1, 3, 5, 4)f32, padding=[1, 1]"},
  };
  return def;
}

}  // namespace baton
