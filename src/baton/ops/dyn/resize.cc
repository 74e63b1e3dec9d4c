// Resizing of images to a size known only at run time.
#include <algorithm>
#include <cmath>

#include "baton/ir/attrs.h"
#include "baton/ir/layout.h"
#include "baton/ir/rules/static_form_rule.h"
#include "baton/ops/dyn/dyn_shapes.h"
#include "baton/ops/nn/upsampling.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/shared/resize_compute.h"
#include "baton/support/diagnostic.h"

namespace baton {

struct Resize2DAttrs {
  std::optional<std::vector<int64_t>> size = {};
  AttrValue roi = {};  ///< None, or a list of numbers
  std::string layout = "NCHW";
  std::string method = "linear";
  std::string coordinate_transformation_mode = "half_pixel";
  std::string rounding_method = "round";
  double cubic_alpha = -0.5;
  int64_t cubic_exclude = 0;
  double extrapolation_value = 0;
  DType out_dtype = {};  ///< void: as the data
};

template <>
const AttrSchema& attr_schema<Resize2DAttrs>() {
  using A = Resize2DAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.Resize2DAttrs",
      {{"size", &A::size, "height and width of the result"},
       {"roi", &A::roi, "the part of the image that mode \"tf_crop_and_resize\" takes"},
       {"layout", &A::layout, "the layout of data and result"},
       {"method", &A::method, "\"nearest_neighbor\", \"linear\" or \"cubic\""},
       {"coordinate_transformation_mode", &A::coordinate_transformation_mode,
        "how positions of the result map to the data"},
       {"rounding_method", &A::rounding_method, "how \"nearest_neighbor\" rounds a position"},
       {"cubic_alpha", &A::cubic_alpha, "the coefficient of the cubic splines"},
       {"cubic_exclude", &A::cubic_exclude, "whether elements outside the image have no weight"},
       {"extrapolation_value", &A::extrapolation_value, "the value outside the image"},
       {"out_dtype", &A::out_dtype, "element type of the result; void: as the data"}});
  return schema;
}

namespace {

// The shape of the data with `?` for its spatial axes, those of `spatial`, in `text`'s layout.
RelationStatus resized_relation(RelationContext& ctx, const std::string& text, const char* canonical,
                                const std::string& spatial, DType dtype) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto layout = checked_layout(ctx, "layout", text, canonical);
  if (!layout || !check_in_layout(ctx, *data, *layout, 0)) return kFailed;
  const Layout plain = *Layout::parse(canonical);
  std::vector<Dim> shape = convert_shape(data->shape(), *layout, plain);
  for (const char letter : spatial) shape[plain.find(letter)] = Dim::any();
  return ctx.assign_result(
      tensor_type(convert_shape(shape, plain, *layout), dtype.is_void() ? data->dtype() : dtype));
}

void dyn_resize2d_compute(Compute& c, const Resize2DAttrs& attrs) {
  Resize resize{2,
                *Layout::parse(attrs.layout),
                attrs.method,
                attrs.coordinate_transformation_mode,
                attrs.rounding_method,
                attrs.cubic_alpha,
                attrs.cubic_exclude != 0,
                attrs.extrapolation_value};
  for (int k = 0; k < static_cast<int>(c.in(2).rank() == 1 ? c.in(2).extent(0) : 0); ++k)
    resize.roi.push_back(Halide::cast<float>(c.in(2)({Halide::Expr(k)})));
  resize_compute(c, resize);
}

double real_of(const NDArray& array) {
  if (array.size() == 1 && array.dtype() == DType::float_(32)) return array.as<float>()[0];
  if (array.size() == 1 && array.dtype() == DType::float_(64)) return array.as<double>()[0];
  return static_cast<double>(scalar_of(array, "a factor"));
}

// The shape in `text`'s layout with other extents for the spatial axes.
Shapes with_spatial(const NDArray& data, const std::string& text, const char* canonical,
                    const std::vector<int64_t>& spatial) {
  const Layout layout = *Layout::parse(text), plain = *Layout::parse(canonical);
  std::vector<int64_t> shape = convert_shape(data.shape(), layout, plain);
  if (spatial.size() + 2 != shape.size())
    throw NotSupported("a size needs one extent for each spatial axis, got " + numbers_text(spatial));
  std::copy(spatial.begin(), spatial.end(), shape.begin() + 2);
  return {convert_shape(shape, plain, layout)};
}

Shapes scaled(const Arrays& inputs, const std::string& text, const char* canonical) {
  const Layout layout = *Layout::parse(text), plain = *Layout::parse(canonical);
  const std::vector<int64_t> shape = convert_shape(inputs[0].shape(), layout, plain);
  std::vector<int64_t> spatial;
  for (size_t k = 2; k < shape.size(); ++k) {
    const double extent = std::nearbyint(static_cast<double>(shape[k]) * real_of(inputs[k - 1]));
    if (!(extent >= 0 && extent <= INT32_MAX))
      throw NotSupported("a scaled image would have an axis that is too large");
    spatial.push_back(static_cast<int64_t>(extent));
  }
  return with_spatial(inputs[0], text, canonical, spatial);
}

Shapes dyn_resize2d_shapes(const Attrs& attrs, const Arrays& inputs) {
  return with_spatial(inputs[0], attrs_as<Resize2DAttrs>(attrs).layout, "NCHW", integers_of(inputs[1]));
}

Shapes dyn_upsampling_shapes(const Attrs& attrs, const Arrays& inputs) {
  return scaled(inputs, attrs_as<UpSamplingAttrs>(attrs).layout, "NCHW");
}

Shapes dyn_upsampling3d_shapes(const Attrs& attrs, const Arrays& inputs) {
  return scaled(inputs, attrs_as<UpSampling3DAttrs>(attrs).layout, "NCDHW");
}

}  // namespace

const OpDef& op_dyn_image_resize2d() {
  static const OpDef def = OpSpec<Resize2DAttrs>{
      .name = "dyn.image.resize2d",
      .doc = "image.resize2d with the size as a value.",
      .inputs = {{"data", "images"},
                 {"size", "vector: height and width"},
                 {"roi", "vector: the part that is taken"}},
      .fuse = Fuse::kInjective,
      .relation =
          [](RelationContext& ctx, const Resize2DAttrs& a) {
            return resized_relation(ctx, a.layout, "NCHW", "HW", a.out_dtype);
          },
      .compute = [](Compute& c, const Resize2DAttrs& attrs) { dyn_resize2d_compute(c, attrs); },
      .data_dependent = true,
      .rules = op_rules(
          StaticFormRule{"image.resize2d", {{1, "size"}, {2, "roi", StaticFormRule::Form::kNumbers}}},
          ShapeRule{dyn_resize2d_shapes}),
      .test_shapes =
          {"(1, 2, 4, 4)f32, (2)i64{6, 8}, (4)f32={0, 0, 0, 0}, size=[], roi=[], rounding_method=\"\""},
  };
  return def;
}

const OpDef& op_dyn_nn_upsampling() {
  static const OpDef def = OpSpec<UpSamplingAttrs>{
      .name = "dyn.nn.upsampling",
      .doc = "nn.upsampling with the factors as values.",
      .inputs = {{"data", "images"}, {"scale_h", "scalar"}, {"scale_w", "scalar"}},
      .fuse = Fuse::kInjective,
      .relation = [](RelationContext& ctx,
                     const UpSamplingAttrs& a) { return resized_relation(ctx, a.layout, "NCHW", "HW", {}); },
      .compute = [](Compute& c, const UpSamplingAttrs& attrs) { upsampling_compute(c, attrs); },
      .data_dependent = true,
      .rules = op_rules(StaticFormRule{"nn.upsampling",
                                       {{1, "scale_h", StaticFormRule::Form::kNumber},
                                        {2, "scale_w", StaticFormRule::Form::kNumber}}},
                        ShapeRule{dyn_upsampling_shapes}),
      .test_shapes = {"(1, 2, 3, 3)f32, ()f32{2}, ()f32{2}, scale_h=0, scale_w=0"},
  };
  return def;
}

const OpDef& op_dyn_nn_upsampling3d() {
  static const OpDef def = OpSpec<UpSampling3DAttrs>{
      .name = "dyn.nn.upsampling3d",
      .doc = "nn.upsampling3d with the factors as values.",
      .inputs = {{"data", "volumes"}, {"scale_d", "scalar"}, {"scale_h", "scalar"}, {"scale_w", "scalar"}},
      .fuse = Fuse::kInjective,
      .relation =
          [](RelationContext& ctx, const UpSampling3DAttrs& a) {
            return resized_relation(ctx, a.layout, "NCDHW", "DHW", {});
          },
      .compute = [](Compute& c, const UpSampling3DAttrs& attrs) { upsampling3d_compute(c, attrs); },
      .data_dependent = true,
      .rules = op_rules(StaticFormRule{"nn.upsampling3d",
                                       {{1, "scale_d", StaticFormRule::Form::kNumber},
                                        {2, "scale_h", StaticFormRule::Form::kNumber},
                                        {3, "scale_w", StaticFormRule::Form::kNumber}}},
                        ShapeRule{dyn_upsampling3d_shapes}),
      .test_shapes = {"(1, 2, 2, 3, 3)f32, ()f32{2}, ()f32{2}, ()f32{2}, scale_d=0, scale_h=0, scale_w=0"},
  };
  return def;
}

}  // namespace baton
