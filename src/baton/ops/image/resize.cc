// Resizing over one, two and three spatial axes: the three differ by their layouts only.
#include "baton/ir/rules/read_rule.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/layout_rules.h"
#include "baton/ops/shared/resize_compute.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

template <int kCount>
struct ResizeAttrs {
  std::optional<std::vector<int64_t>> size = {};
  std::optional<std::vector<double>> roi = {};
  std::string layout = data_letters(kCount);
  std::string method = "linear";
  std::string coordinate_transformation_mode = "half_pixel";
  std::string rounding_method = "round";
  double cubic_alpha = -0.5;
  int64_t cubic_exclude = 0;
  double extrapolation_value = 0;
  DType out_dtype = {};  ///< void: as the data
};

namespace {

template <int kCount>
AttrSchema resize_schema() {
  using A = ResizeAttrs<kCount>;
  return make_schema<A>(
      "relay.attrs.Resize" + std::to_string(kCount) + "DAttrs",
      {{"size", &A::size, "extents of the result"},
       {"roi", &A::roi, "the part of the data that mode tf_crop_and_resize takes"},
       {"layout", &A::layout, "layout of the data"},
       {"method", &A::method, "\"nearest_neighbor\", \"linear\" or \"cubic\""},
       {"coordinate_transformation_mode", &A::coordinate_transformation_mode,
        "how a position in the result becomes one in the data"},
       {"rounding_method", &A::rounding_method, "which of two neighbours is the nearest"},
       {"cubic_alpha", &A::cubic_alpha, "coefficient of the cubic spline"},
       {"cubic_exclude", &A::cubic_exclude, "whether taps outside the data are left out"},
       {"extrapolation_value", &A::extrapolation_value, "value outside the data, in mode tf_crop_and_resize"},
       {"out_dtype", &A::out_dtype, "element type of the result; void: as the data"}});
}

template <int kCount>
RelationStatus resize_relation(RelationContext& ctx, const ResizeAttrs<kCount>& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto layout = checked_layout(ctx, "layout", attrs.layout, data_letters(kCount));
  if (!layout || !check_in_layout(ctx, *data, *layout, 0)) return kFailed;
  if (!attrs.size) return fail_attr(ctx, "size", "None", "the extents of the result are needed");
  if (!check_lists(ctx, {{"size", &*attrs.size}}, kCount)) return kFailed;
  const Layout canonical = *Layout::parse(data_letters(kCount));
  std::vector<Dim> shape = convert_shape(data->shape(), *layout, canonical);
  std::copy(attrs.size->begin(), attrs.size->end(), shape.begin() + 2);
  return ctx.assign_result(tensor_type(convert_shape(shape, canonical, *layout),
                                       attrs.out_dtype.is_void() ? data->dtype() : attrs.out_dtype));
}

template <int kCount>
void resize_op_compute(Compute& c, const ResizeAttrs<kCount>& attrs) {
  Resize resize{kCount,
                *Layout::parse(attrs.layout),
                attrs.method,
                attrs.coordinate_transformation_mode,
                attrs.rounding_method,
                attrs.cubic_alpha,
                attrs.cubic_exclude != 0,
                attrs.extrapolation_value};
  if (attrs.roi)
    for (const double edge : *attrs.roi) resize.roi.push_back(Halide::Expr(static_cast<float>(edge)));
  resize_compute(c, resize);
}

template <int kCount>
OpDef resize(const char* name, const char* what, OpRules rules, std::vector<const char*> test_shapes) {
  rules.set(reads_neighbours());
  return OpSpec<ResizeAttrs<kCount>>{
      .name = name,
      .doc = std::string("The data with another ") + what + ", by interpolation.",
      .inputs = {{"data", "tensor in `layout`"}},
      .fuse = Fuse::kInjective,
      .relation = resize_relation<kCount>,
      .compute = resize_op_compute<kCount>,
      .rules = std::move(rules),
      .test_shapes = std::move(test_shapes),
  };
}

}  // namespace

template <>
const AttrSchema& attr_schema<ResizeAttrs<1>>() {
  static const AttrSchema schema = resize_schema<1>();
  return schema;
}
template <>
const AttrSchema& attr_schema<ResizeAttrs<2>>() {
  static const AttrSchema schema = resize_schema<2>();
  return schema;
}
template <>
const AttrSchema& attr_schema<ResizeAttrs<3>>() {
  static const AttrSchema schema = resize_schema<3>();
  return schema;
}

const OpDef& op_image_resize1d() {
  static const OpDef def =
      resize<1>("image.resize1d", "width", op_rules(spatial_layout_flow(), ConvertedLayout::kWindows),
                {"(1, 2, 4)f32, size=[7], roi=[0., 0.], "
                 "coordinate_transformation_mode=align_corners, rounding_method=floor"});
  return def;
}
const OpDef& op_image_resize2d() {
  static const OpDef def = resize<2>(
      "image.resize2d", "height and width",
      op_rules(MixedPrecision::kFollow, FakeQuantizationRule{fake_quantized_same, /*without_end=*/false},
               spatial_layout_flow(), spatial_layout_rule(), ConvertedLayout::kWindows),
      {"(1, 4, 5, 2)f32, size=[6, 7], roi=[0., 0., 0., 0.], layout=NHWC",
       "(1, 4, 5, 2)f32, size=[6, 7], roi=[0., 0., 0., 0.], layout=NHWC, method=nearest_neighbor, "
       "coordinate_transformation_mode=align_corners"});
  return def;
}
const OpDef& op_image_resize3d() {
  static const OpDef def =
      resize<3>("image.resize3d", "depth, height and width", {},
                {"(1, 2, 2, 3, 4)f32, size=[3, 5, 6], roi=[0., 0., 0., 0., 0., 0.], method=nearest_neighbor, "
                 "coordinate_transformation_mode=asymmetric, rounding_method=floor"});
  return def;
}

}  // namespace baton
