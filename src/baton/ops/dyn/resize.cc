// Images whose new size is known at run time only.
#include "baton/ir/rules/static_form_rule.h"
#include "baton/ops/dyn/dyn_compute.h"
#include "baton/ops/image/resize2d_attrs.h"
#include "baton/ops/nn/upsampling_attrs.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/shared/resize_compute.h"

namespace baton {

namespace {

using Form = StaticFormRule::Form;

// The shape of the data with `?` for its spatial axes, those of `spatial`, in `text`'s layout.
RelationStatus resized_relation(RelationContext& ctx, const std::string& text, const char* canonical,
                                const std::string& spatial, DType dtype) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto layout = checked_layout(ctx, "layout", text, canonical);
  if (!layout || !check_rank(ctx, *data, layout->rank(), 0)) return kFailed;
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
      .rules = op_rules(StaticFormRule{"image.resize2d", {{1, "size"}, {2, "roi", Form::kNumbers}}},
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
      .rules = op_rules(
          StaticFormRule{"nn.upsampling", {{1, "scale_h", Form::kNumber}, {2, "scale_w", Form::kNumber}}},
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
      .rules = op_rules(
          StaticFormRule{
              "nn.upsampling3d",
              {{1, "scale_d", Form::kNumber}, {2, "scale_h", Form::kNumber}, {3, "scale_w", Form::kNumber}}},
          ShapeRule{dyn_upsampling3d_shapes}),
      .test_shapes = {"(1, 2, 2, 3, 3)f32, ()f32{2}, ()f32{2}, ()f32{2}, scale_d=0, scale_h=0, scale_w=0"},
  };
  return def;
}

}  // namespace baton
