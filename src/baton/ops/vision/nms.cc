// Boxes are counted, and those that overlap a better one are suppressed.
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/vision/extent.h"
#include "baton/ops/vision/vision_attrs.h"

namespace baton {

namespace {

constexpr DType kIndex = DType::int_(32), kLongIndex = DType::int_(64);

RelationStatus valid_counts_relation(RelationContext& ctx, const GetValidCountsAttrs&) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!check_rank(ctx, *data, 3, 0)) return kFailed;
  const Dim batch = data->shape()[0], boxes = data->shape()[1];
  return ctx.assign_result(tuple_type({tensor_type(std::vector<Dim>{batch}, kIndex), ctx.input(0),
                                       tensor_type(std::vector<Dim>{batch, boxes}, kIndex)}));
}

RelationStatus nms_relation(RelationContext& ctx, const NonMaximumSuppressionAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *valid_count = ctx.tensor(1);
  if (!data || !valid_count) return kDefer;
  if (!check_rank(ctx, *data, 3, 0) || !check_rank(ctx, *valid_count, 1, 1)) return kFailed;
  if (!attrs.return_indices) return ctx.assign_result(ctx.input(0));
  const Dim batch = data->shape()[0], boxes = data->shape()[1];
  return ctx.assign_result(tuple_type({tensor_type(std::vector<Dim>{batch, boxes}, kIndex),
                                       tensor_type(std::vector<Dim>{batch, 1}, kIndex)}));
}

RelationStatus all_class_relation(RelationContext& ctx, const AllClassNonMaximumSuppressionAttrs& attrs) {
  const TensorTypeNode *boxes = ctx.tensor(0), *scores = ctx.tensor(1);
  if (!boxes || !scores) return kDefer;
  if (!check_rank(ctx, *boxes, 3, 0) || !check_rank(ctx, *scores, 3, 1)) return kFailed;
  const Dim batch = boxes->shape()[0];
  const auto per_image = result_extent(ctx, 1, {scores->shape()[1], boxes->shape()[1]});
  if (!per_image) return kFailed;
  if (attrs.output_format == "onnx") {
    const auto all = result_extent(ctx, 1, {batch, *per_image});
    if (!all) return kFailed;
    return ctx.assign_result(tuple_type({tensor_type(std::vector<Dim>{*all, 3}, kLongIndex),
                                         tensor_type(std::vector<Dim>{1}, kLongIndex)}));
  }
  if (attrs.output_format == "tensorflow")
    return ctx.assign_result(tuple_type({tensor_type(std::vector<Dim>{batch, *per_image, 2}, kLongIndex),
                                         tensor_type(std::vector<Dim>{batch, *per_image}, DType::float_(32)),
                                         tensor_type(std::vector<Dim>{batch}, kLongIndex)}));
  return fail_attr(ctx, "output_format", attr_text(AttrValue(attrs.output_format)), "it must be \"onnx\" or \"tensorflow\"");
}

}  // namespace

const OpDef& op_vision_get_valid_counts() {
  static const OpDef def = OpSpec<GetValidCountsAttrs>{
      .name = "vision.get_valid_counts",
      .doc = "How many boxes have a score above the threshold, those boxes moved to the front, and where they were.",
      .inputs = {{"data", "(batch, boxes, values of a box)"}, {"score_threshold", "scalar"}},
      .relation = valid_counts_relation,
      .declares_attrs = false,
  };
  return def;
}

const OpDef& op_vision_non_max_suppression() {
  static const OpDef def = OpSpec<NonMaximumSuppressionAttrs>{
      .name = "vision.non_max_suppression",
      .doc = "The boxes without those that overlap a better one by more than the threshold.",
      .inputs = {{"data", "(batch, boxes, values of a box)"},
                 {"valid_count", "(batch): how many of the boxes count"},
                 {"indices", "(batch, boxes): which boxes they are"},
                 {"max_output_size", "scalar: so many are kept at most; -1: all"},
                 {"iou_threshold", "scalar"}},
      .relation = nms_relation,
      .declares_attrs = false,
  };
  return def;
}

const OpDef& op_vision_all_class_non_max_suppression() {
  static const OpDef def = OpSpec<AllClassNonMaximumSuppressionAttrs>{
      .name = "vision.all_class_non_max_suppression",
      .doc = "Non-maximum suppression for every class of every image.",
      .inputs = {{"boxes", "(batch, boxes, 4)"},
                 {"scores", "(batch, classes, boxes)"},
                 {"max_output_boxes_per_class", "scalar"},
                 {"iou_threshold", "scalar"},
                 {"score_threshold", "scalar"}},
      .relation = all_class_relation,
      .declares_attrs = false,
  };
  return def;
}

}  // namespace baton
