// Regions of a feature map, pooled to one size; and squares of pixels turned into channels.
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/vision/extent.h"
#include "baton/ops/vision/vision_attrs.h"

namespace baton {

namespace {

// roi_align and roi_pool: one pooled piece per region.
RelationStatus regions_relation(RelationContext& ctx, const std::vector<int64_t>& pooled_size, const std::string& layout) {
  const TensorTypeNode *data = ctx.tensor(0), *rois = ctx.tensor(1);
  if (!data || !rois) return kDefer;
  if (!check_rank(ctx, *data, 4, 0) || !check_rank(ctx, *rois, 2, 1)) return kFailed;
  if (!check_count(ctx, "pooled_size", pooled_size, 2) || !check_least(ctx, "pooled_size", pooled_size, 0)) return kFailed;
  const Dim count = rois->shape()[0];
  if (layout == "NCHW")
    return ctx.assign_result(tensor_type(std::vector<Dim>{count, data->shape()[1], pooled_size[0], pooled_size[1]}, data->dtype()));
  if (layout == "NHWC")
    return ctx.assign_result(tensor_type(std::vector<Dim>{count, pooled_size[0], pooled_size[1], data->shape()[3]}, data->dtype()));
  return fail_attr(ctx, "layout", attr_text(AttrValue(layout)), "it must be \"NCHW\" or \"NHWC\"");
}

RelationStatus yolo_reorg_relation(RelationContext& ctx, const YoloReorgAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!check_rank(ctx, *data, 4, 0) || !check_least(ctx, "stride", {&attrs.stride, 1}, 1)) return kFailed;
  const std::vector<Dim>& in = data->shape();
  const auto channels = result_extent(ctx, 0, {in[1], attrs.stride, attrs.stride});
  if (!channels) return kFailed;
  auto divided = [&](Dim dim) { return dim.is_any() ? dim : Dim(dim.value() / attrs.stride); };
  return ctx.assign_result(tensor_type(std::vector<Dim>{in[0], *channels, divided(in[2]), divided(in[3])}, data->dtype()));
}

}  // namespace

const OpDef& op_vision_roi_align() {
  static const OpDef def = OpSpec<ROIAlignAttrs>{
      .name = "vision.roi_align",
      .doc = "Each region of the data, sampled between pixels, pooled to one size.",
      .inputs = {{"data", "4-D tensor in layout"}, {"rois", "(regions, 5): which image, two corners"}},
      .fuse = Fuse::kOutFusable,
      .relation = [](RelationContext& ctx, const ROIAlignAttrs& attrs) { return regions_relation(ctx, attrs.pooled_size, attrs.layout); },
      .declares_attrs = false,
  };
  return def;
}

const OpDef& op_vision_roi_pool() {
  static const OpDef def = OpSpec<ROIPoolAttrs>{
      .name = "vision.roi_pool",
      .doc = "The largest pixels of each region of the data, on a grid of one size.",
      .inputs = {{"data", "4-D tensor in layout"}, {"rois", "(regions, 5): which image, two corners"}},
      .fuse = Fuse::kOutFusable,
      .relation = [](RelationContext& ctx, const ROIPoolAttrs& attrs) { return regions_relation(ctx, attrs.pooled_size, attrs.layout); },
      .declares_attrs = false,
  };
  return def;
}

const OpDef& op_vision_yolo_reorg() {
  static const OpDef def = OpSpec<YoloReorgAttrs>{
      .name = "vision.yolo_reorg",
      .doc = "Every stride-th pixel of the rows and columns, all shifts of that as channels.",
      .inputs = {{"data", "4-D tensor, NCHW"}},
      .fuse = Fuse::kInjective,
      .relation = yolo_reorg_relation,
  };
  return def;
}

}  // namespace baton
