#include <functional>

#include "baton/ir/rules/read_rule.h"
#include "baton/ops/domain.h"
#include "baton/ops/math.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

struct CropAndResizeAttrs {
  std::optional<std::vector<int64_t>> crop_size = {};
  std::string layout = "NCHW";
  std::string method = "bilinear";
  double extrapolation_value = 0;
  DType out_dtype = {};
};

template <>
const AttrSchema& attr_schema<CropAndResizeAttrs>() {
  using A = CropAndResizeAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.CropAndResizeAttrs",
                     {{"crop_size", &A::crop_size, "height and width of the crops"},
                      {"layout", &A::layout, "layout of the data"},
                      {"method", &A::method, "\"bilinear\" or \"nearest_neighbor\""},
                      {"extrapolation_value", &A::extrapolation_value, "value outside the data"},
                      {"out_dtype", &A::out_dtype, "element type of the result; void: as the data"}});
  return schema;
}

namespace {

RelationStatus crop_and_resize_relation(RelationContext& ctx, const CropAndResizeAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *boxes = ctx.tensor(1), *indices = ctx.tensor(2);
  if (!data || !boxes || !indices) return kDefer;
  const auto layout = checked_layout(ctx, "layout", attrs.layout, "NCHW");
  if (!layout || !check_in_layout(ctx, *data, *layout, 0) || !check_rank(ctx, *boxes, 2, 1) ||
      !check_rank(ctx, *indices, 1, 2))
    return kFailed;
  if (!may_equal(boxes->shape()[1], 4))
    return fail_arg(ctx, 1, "each box needs 4 numbers, got " + type_text(ctx.input(1)));
  if (!may_equal(boxes->shape()[0], indices->shape()[0]))
    return fail_arg(ctx, 2, "each box needs the index of an image, got " + type_text(ctx.input(2)));
  if (!attrs.crop_size)
    return fail_attr(ctx, "crop_size", "None", "height and width of the crops are needed");
  if (!check_lists(ctx, {{"crop_size", &*attrs.crop_size}}, 2)) return kFailed;
  const Layout canonical = *Layout::parse("NCHW");
  std::vector<Dim> shape = convert_shape(data->shape(), *layout, canonical);
  shape[0] = boxes->shape()[0];
  shape[2] = (*attrs.crop_size)[0];
  shape[3] = (*attrs.crop_size)[1];
  return ctx.assign_result(tensor_type(convert_shape(shape, canonical, *layout),
                                       attrs.out_dtype.is_void() ? data->dtype() : attrs.out_dtype));
}

Halide::Expr bilinear(const std::function<Halide::Expr(Halide::Expr, Halide::Expr)>& pixel,
                      const Halide::Expr& y, const Halide::Expr& x) {
  const Halide::Expr y0 = floor(y), x0 = floor(x), dy = y - y0, dx = x - x0;
  const Halide::Expr iy = cast<int>(y0), ix = cast<int>(x0);
  const Halide::Expr top = pixel(iy, ix) * (1.0f - dx) + pixel(iy, ix + 1) * dx;
  const Halide::Expr bottom = pixel(iy + 1, ix) * (1.0f - dx) + pixel(iy + 1, ix + 1) * dx;
  return top * (1.0f - dy) + bottom * dy;
}

// Boxes (n, 4) of images box_indices (n), resized to the result's height and width.
void crop_and_resize_compute(Compute& c, const Layout& layout, const std::string& method,
                             double extrapolation_value) {
  const Tensor &data = c.in(0), &boxes = c.in(1), &indices = c.in(2);
  const Layout nchw = *Layout::parse("NCHW");
  const std::vector<Dim> from = convert_shape(data.dims(), layout, nchw),
                         to = convert_shape(c.out().shape(), layout, nchw);
  for (const size_t axis : {0, 2, 3}) c.needs_elements(from[axis]);
  const Axes i(data.rank());
  const Index plain = convert_index<Halide::Expr>(i.exprs(), layout, nchw);
  const Halide::Expr image = inside_axis(indices(Index{plain[0]}), from[0]);
  // The nearest pixel of a position halfway must not depend on which device contracts the sum.
  auto position = [&](int axis) -> Halide::Expr {  // 0: height, 1: width
    const Halide::Expr start = cast<float>(boxes(Index{plain[0], axis})),
                       end = cast<float>(boxes(Index{plain[0], 2 + axis}));
    const Halide::Expr last = float_of(from[2 + axis] - 1);
    if (to[2 + axis] == 1) return rounded_products(0.5f * (start + end) * last);
    return rounded_products(start * last + cast<float>(plain[2 + axis]) *
                                               ((end - start) * last / float_of(to[2 + axis] - 1)));
  };
  const Halide::Expr y = position(0), x = position(1);
  const std::function<Halide::Expr(Halide::Expr, Halide::Expr)> pixel = [&](const Halide::Expr& at_y,
                                                                            const Halide::Expr& at_x) {
    return cast<float>(data(convert_index<Halide::Expr>(
        {image, plain[1], inside_axis(at_y, from[2]), inside_axis(at_x, from[3])}, nchw, layout)));
  };
  Halide::Expr value;
  if (method == "bilinear")
    value = bilinear(pixel, y, x);
  else if (method == "nearest_neighbor")
    value = pixel(round_away(y), round_away(x));
  else
    throw NotSupported("interpolation method \"" + method + "\" is not known");
  const Halide::Expr inside = at_most(0.0f, y) && at_most(y, float_of(from[2] - 1)) && at_most(0.0f, x) &&
                              at_most(x, float_of(from[3] - 1));
  Halide::Func crops = c.stage("crop_and_resize");
  crops(i.reversed()) =
      from_real(halide_type(c.out().dtype()), select(inside, value, static_cast<float>(extrapolation_value)));
  c.result(crops);
}

}  // namespace

const OpDef& op_image_crop_and_resize() {
  static const OpDef def = OpSpec<CropAndResizeAttrs>{
      .name = "image.crop_and_resize",
      .doc = "Boxes cut out of images, all resized to crop_size.",
      .inputs = {{"data", "4-D tensor in `layout`"},
                 {"boxes", "(n, 4): y1, x1, y2, x2, from 0 to 1"},
                 {"box_indices", "(n): which image"}},
      .fuse = Fuse::kInjective,
      .relation = crop_and_resize_relation,
      .compute =
          [](Compute& c, const CropAndResizeAttrs& attrs) {
            crop_and_resize_compute(c, *Layout::parse(attrs.layout), attrs.method, attrs.extrapolation_value);
          },
      .python =
          "image.crop_and_resize(data, boxes, box_indices, crop_size, layout, method='bilinear', "
          "extrapolation_value=0, out_dtype=None)",
      .rules = op_rules(reads_places()),
      .test_shapes = {"(2, 6, 6, 2)f32, (2, 4)f32{0, 0, 0.5, 0.5, 0.20000000298023224, 0.10000000149011612, "
                      "0.8999999761581421, 0.800000011920929}, (2)i32{0, 1}, crop_size=[2, 4], layout=NHWC, "
                      "method=nearest_neighbor"},
  };
  return def;
}

}  // namespace baton
