#include "baton/ops/vision/vision_attrs.h"

namespace baton {

template <>
const AttrSchema& attr_schema<GetValidCountsAttrs>() {
  using A = GetValidCountsAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.GetValidCountsAttrs",
      {{"score_threshold", &A::score_threshold, "unused: the threshold is an input", kNoDefault},
       {"id_index", &A::id_index, "where a box has its class; -1: nowhere"},
       {"score_index", &A::score_index, "where a box has its score"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<NonMaximumSuppressionAttrs>() {
  using A = NonMaximumSuppressionAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.NonMaximumSuppressionAttrs",
      {{"force_suppress", &A::force_suppress, "boxes of different classes suppress each other too"},
       {"top_k", &A::top_k, "only so many of the best boxes are looked at; -1: all"},
       {"coord_start", &A::coord_start, "where a box has its four coordinates"},
       {"score_index", &A::score_index, "where a box has its score"},
       {"id_index", &A::id_index, "where a box has its class; -1: nowhere"},
       {"return_indices", &A::return_indices, "the result is the indices of the boxes, and how many"},
       {"invalid_to_bottom", &A::invalid_to_bottom, "suppressed boxes are moved to the end"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<AllClassNonMaximumSuppressionAttrs>() {
  using A = AllClassNonMaximumSuppressionAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.AllClassNonMaximumSuppressionAttrs",
      {{"output_format", &A::output_format, "\"onnx\" or \"tensorflow\": the form of the result"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<MultiBoxPriorAttrs>() {
  using A = MultiBoxPriorAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.MultiBoxPriorAttrs",
                     {{"sizes", &A::sizes, "sizes of the boxes"},
                      {"ratios", &A::ratios, "ratios of their sides"},
                      {"steps", &A::steps, "distance of their centres, down and across; -1: one per pixel"},
                      {"offsets", &A::offsets, "where in a pixel the centre is, down and across"},
                      {"clip", &A::clip, "boxes are cut at the border"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<MultiBoxTransformLocAttrs>() {
  using A = MultiBoxTransformLocAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.MultiBoxTransformLocAttrs",
                     {{"clip", &A::clip, "boxes are cut at the border"},
                      {"threshold", &A::threshold, "boxes with a lower score are dropped"},
                      {"variances", &A::variances, "factors of the four location predictions"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ProposalAttrs>() {
  using A = ProposalAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ProposalAttrs",
      {{"scales", &A::scales, "scales of the anchors"},
       {"ratios", &A::ratios, "ratios of their sides"},
       {"feature_stride", &A::feature_stride, "pixels of the image per element of the features"},
       {"threshold", &A::threshold, "overlap from which boxes suppress each other"},
       {"rpn_pre_nms_top_n", &A::rpn_pre_nms_top_n, "boxes kept before suppression"},
       {"rpn_post_nms_top_n", &A::rpn_post_nms_top_n, "boxes kept after it"},
       {"rpn_min_size", &A::rpn_min_size, "smaller boxes are dropped"},
       {"iou_loss", &A::iou_loss, "the predictions are corners"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ROIAlignAttrs>() {
  using A = ROIAlignAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.ROIAlignAttrs",
                     {{"pooled_size", &A::pooled_size, "height and width of the result", kNoDefault},
                      {"spatial_scale", &A::spatial_scale,
                       "from the coordinates of a region to those of the data", kNoDefault},
                      {"sample_ratio", &A::sample_ratio,
                       "samples per element, along each axis; -1: from the size of the region"},
                      {"layout", &A::layout, "layout of the data: NCHW or NHWC"},
                      {"mode", &A::mode, "what is made of the samples: avg or max"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ROIPoolAttrs>() {
  using A = ROIPoolAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.ROIPoolAttrs",
                     {{"pooled_size", &A::pooled_size, "height and width of the result", kNoDefault},
                      {"spatial_scale", &A::spatial_scale,
                       "from the coordinates of a region to those of the data", kNoDefault},
                      {"layout", &A::layout, "layout of the data: NCHW or NHWC"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<YoloReorgAttrs>() {
  using A = YoloReorgAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.YoloReorgAttrs", {{"stride", &A::stride, "each stride x stride square becomes channels"}});
  return schema;
}

}  // namespace baton
