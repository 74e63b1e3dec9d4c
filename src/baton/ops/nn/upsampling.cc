#include "baton/ops/nn/upsampling.h"

#include <cmath>

#include "baton/ir/rules/read_rule.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/rules/layout_rules.h"
#include "baton/ops/shared/resize_compute.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

template <>
const AttrSchema& attr_schema<UpSamplingAttrs>() {
  using A = UpSamplingAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.UpSamplingAttrs",
                     {{"scale_h", &A::scale_h, "factor of the height", kNoDefault},
                      {"scale_w", &A::scale_w, "factor of the width", kNoDefault},
                      {"layout", &A::layout, "the layout of data and result"},
                      {"method", &A::method, "how values between elements are found"},
                      {"align_corners", &A::align_corners, "whether the corner elements keep their values"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<UpSampling3DAttrs>() {
  using A = UpSampling3DAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.UpSampling3DAttrs", {{"scale_d", &A::scale_d, "factor of the depth", kNoDefault},
                                        {"scale_h", &A::scale_h, "factor of the height", kNoDefault},
                                        {"scale_w", &A::scale_w, "factor of the width", kNoDefault},
                                        {"layout", &A::layout, "the layout of data and result"},
                                        {"method", &A::method, "how values between elements are found"},
                                        {"coordinate_transformation_mode", &A::coordinate_transformation_mode,
                                         "how positions of the result map to the data"}});
  return schema;
}

namespace {

struct Scale {
  const char* name;
  double factor;
};

RelationStatus scaled_relation(RelationContext& ctx, const std::string& text,
                               const std::vector<Scale>& scales) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const Layout canonical = *Layout::parse(data_letters(static_cast<int>(scales.size())));
  const auto layout = checked_layout(ctx, "layout", text, data_letters(static_cast<int>(scales.size())));
  if (!layout || !check_in_layout(ctx, *data, *layout, 0)) return kFailed;
  std::vector<Dim> shape = convert_shape(data->shape(), *layout, canonical);
  for (size_t i = 0; i < scales.size(); ++i) {
    const auto& [name, factor] = scales[i];
    if (!(factor > 0) || !std::isfinite(factor))
      return fail_attr(ctx, name, attr_text(AttrValue(factor)), "it must be positive");
    Dim& dim = shape[2 + i];
    if (dim.is_any()) {
      const bool whole = factor == std::floor(factor) && factor < 0x1p62;
      dim = whole ? dim * static_cast<int64_t>(factor) : Dim::any();
      continue;
    }
    const double scaled = std::nearbyint(static_cast<double>(dim.value()) * factor);
    if (scaled >= 0x1p62)
      return fail_attr(ctx, name, attr_text(AttrValue(factor)), "the result would be too large");
    dim = static_cast<int64_t>(scaled);
  }
  return ctx.assign_result(tensor_type(convert_shape(shape, canonical, *layout), data->dtype()));
}

}  // namespace

void upsampling_compute(Compute& c, const UpSamplingAttrs& attrs) {
  const std::string method = attrs.method == "bilinear"  ? "linear"
                             : attrs.method == "bicubic" ? "cubic"
                                                         : attrs.method;
  resize_compute(c, {2, *Layout::parse(attrs.layout), method,
                     attrs.align_corners ? "align_corners" : "asymmetric", "floor"});
}

void upsampling3d_compute(Compute& c, const UpSampling3DAttrs& attrs) {
  const std::string method = attrs.method == "trilinear" ? "linear" : attrs.method;
  resize_compute(c, {3, *Layout::parse(attrs.layout), method, attrs.coordinate_transformation_mode, "floor"});
}

const OpDef& op_nn_upsampling() {
  static const OpDef def = OpSpec<UpSamplingAttrs>{
      .name = "nn.upsampling",
      .doc = "The data with height and width scaled.",
      .inputs = {{"data", "4-D tensor in `layout`, or packed"}},
      .fuse = Fuse::kInjective,
      .relation =
          [](RelationContext& ctx, const UpSamplingAttrs& attrs) {
            return scaled_relation(ctx, attrs.layout,
                                   {{"scale_h", attrs.scale_h}, {"scale_w", attrs.scale_w}});
          },
      .compute = upsampling_compute,
      .rules = op_rules(reads_neighbours(), spatial_layout_flow(), spatial_layout_rule()),
      .test_shapes = {"(1, 3, 4, 2)f32, scale_h=2., scale_w=2., layout=NHWC",
                      "(1, 2, 3, 4)f32, scale_h=2., scale_w=2., method=bilinear"},
  };
  return def;
}

const OpDef& op_nn_upsampling3d() {
  static const OpDef def = OpSpec<UpSampling3DAttrs>{
      .name = "nn.upsampling3d",
      .doc = "The data with depth, height and width scaled.",
      .inputs = {{"data", "5-D tensor in `layout`, or packed"}},
      .fuse = Fuse::kInjective,
      .relation =
          [](RelationContext& ctx, const UpSampling3DAttrs& attrs) {
            return scaled_relation(
                ctx, attrs.layout,
                {{"scale_d", attrs.scale_d}, {"scale_h", attrs.scale_h}, {"scale_w", attrs.scale_w}});
          },
      .compute = upsampling3d_compute,
      .rules = op_rules(reads_neighbours(), spatial_layout_flow()),
      .test_shapes = {"(1, 2, 2, 3, 2)f32, scale_d=2., scale_h=2., scale_w=2., method=trilinear"},
  };
  return def;
}

}  // namespace baton
