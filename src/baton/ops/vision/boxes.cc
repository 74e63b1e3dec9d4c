// Boxes are made: priors, their corrections, proposals.
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/vision/extent.h"
#include "baton/ops/vision/vision_attrs.h"

namespace baton {

namespace {

bool may_be(Dim a, Dim b) { return a.is_any() || b.is_any() || a == b; }

RelationStatus prior_relation(RelationContext& ctx, const MultiBoxPriorAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!check_rank(ctx, *data, 4, 0)) return kFailed;
  const auto kinds = static_cast<int64_t>(attrs.sizes.size() + attrs.ratios.size());
  if (kinds < 1) return fail_attr(ctx, "sizes", "[]", "at least one size or ratio is needed");
  const auto boxes = result_extent(ctx, 0, {data->shape()[2], data->shape()[3], kinds - 1});
  if (!boxes) return kFailed;
  return ctx.assign_result(tensor_type(std::vector<Dim>{1, *boxes, 4}, data->dtype()));
}

RelationStatus transform_loc_relation(RelationContext& ctx, const MultiBoxTransformLocAttrs&) {
  const TensorTypeNode *scores = ctx.tensor(0), *locations = ctx.tensor(1), *anchors = ctx.tensor(2);
  if (!scores || !locations || !anchors) return kDefer;
  if (!check_rank(ctx, *scores, 3, 0) || !check_rank(ctx, *locations, 2, 1) || !check_rank(ctx, *anchors, 3, 2)) return kFailed;
  const Dim count = anchors->shape()[1];
  const auto coordinates = result_extent(ctx, 0, {scores->shape()[2], 4});
  if (!coordinates) return kFailed;
  if (!may_be(scores->shape()[2], count))
    return fail_arg(ctx, 2, "as many anchors as scores are needed, " + std::to_string(scores->shape()[2].value()) + ", got " + type_text(ctx.input(2)));
  if (!may_be(*coordinates, locations->shape()[1]))
    return fail_arg(ctx, 1, "four locations per score are needed, got " + type_text(ctx.input(1)));
  if (!may_be(anchors->shape()[2], 4)) return fail_arg(ctx, 2, "an anchor has four coordinates, got " + type_text(ctx.input(2)));
  const Dim batch = scores->shape()[0];
  return ctx.assign_result(tuple_type({tensor_type(std::vector<Dim>{batch, count, 6}, scores->dtype()),
                                       tensor_type(std::vector<Dim>{batch}, DType::int_(32))}));
}

RelationStatus proposal_relation(RelationContext& ctx, const ProposalAttrs& attrs) {
  const TensorTypeNode *scores = ctx.tensor(0), *boxes = ctx.tensor(1), *info = ctx.tensor(2);
  if (!scores || !boxes || !info) return kDefer;
  if (!check_rank(ctx, *scores, 4, 0) || !check_rank(ctx, *boxes, 4, 1) || !check_rank(ctx, *info, 2, 2)) return kFailed;
  if (!may_be(info->shape()[1], 3))
    return fail_arg(ctx, 2, "height, width and scale of each image are needed, got " + type_text(ctx.input(2)));
  if (!check_least(ctx, "rpn_post_nms_top_n", {&attrs.rpn_post_nms_top_n, 1}, 0)) return kFailed;
  const auto rows = result_extent(ctx, 0, {scores->shape()[0], attrs.rpn_post_nms_top_n});
  if (!rows) return kFailed;
  return ctx.assign_result(tensor_type(std::vector<Dim>{*rows, 5}, scores->dtype()));
}

}  // namespace

const OpDef& op_vision_multibox_prior() {
  static const OpDef def = OpSpec<MultiBoxPriorAttrs>{
      .name = "vision.multibox_prior",
      .doc = "Boxes of given sizes and ratios around every pixel.",
      .inputs = {{"data", "4-D tensor, NCHW: only its shape counts"}},
      .relation = prior_relation,
  };
  return def;
}

const OpDef& op_vision_multibox_transform_loc() {
  static const OpDef def = OpSpec<MultiBoxTransformLocAttrs>{
      .name = "vision.multibox_transform_loc",
      .doc = "Anchors moved by the predicted locations, with class and score, and how many are valid.",
      .inputs = {{"cls_prob", "(batch, classes, anchors)"}, {"loc_pred", "(batch, 4 * anchors)"}, {"anchor", "(1, anchors, 4)"}},
      .relation = transform_loc_relation,
  };
  return def;
}

const OpDef& op_vision_proposal() {
  static const OpDef def = OpSpec<ProposalAttrs>{
      .name = "vision.proposal",
      .doc = "Regions that a network proposes, best first, overlapping ones suppressed.",
      .inputs = {{"cls_prob", "(batch, 2 * anchors, height, width)"},
                 {"bbox_pred", "(batch, 4 * anchors, height, width)"},
                 {"im_info", "(batch, 3): height, width, scale"}},
      .relation = proposal_relation,
      .declares_attrs = false,
  };
  return def;
}

}  // namespace baton
