#include <cmath>

#include "baton/ir/attrs.h"
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/shared/sort_compute.h"
#include "baton/ops/shared/spatial.h"
#include "baton/ops/vision/extent.h"
#include "baton/ops/vision/nms_compute.h"

namespace baton {

struct ProposalAttrs {
  std::vector<double> scales{4, 8, 16, 32};
  std::vector<double> ratios{0.5, 1, 2};
  int64_t feature_stride = 16;
  double threshold = 0.7;
  int64_t rpn_pre_nms_top_n = 6000;
  int64_t rpn_post_nms_top_n = 300;
  int64_t rpn_min_size = 16;
  bool iou_loss = false;
};

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

namespace {

RelationStatus proposal_relation(RelationContext& ctx, const ProposalAttrs& attrs) {
  const TensorTypeNode *scores = ctx.tensor(0), *boxes = ctx.tensor(1), *info = ctx.tensor(2);
  if (!scores || !boxes || !info) return kDefer;
  if (!check_rank(ctx, *scores, 4, 0) || !check_rank(ctx, *boxes, 4, 1) || !check_rank(ctx, *info, 2, 2))
    return kFailed;
  if (!check_shape(ctx, *info, {scores->shape()[0], 3}, 2, "height, width and scale of each image"))
    return kFailed;
  for (const int axis : {0, 2, 3})
    if (!check_extent(ctx, *boxes, axis, scores->shape()[axis], 1, "a correction of each scored anchor"))
      return kFailed;
  if (!check_least(ctx, "rpn_post_nms_top_n", {&attrs.rpn_post_nms_top_n, 1}, 0) ||
      !check_least(ctx, "feature_stride", {&attrs.feature_stride, 1}, 1))
    return kFailed;
  const auto rows = result_extent(ctx, 0, {scores->shape()[0], attrs.rpn_post_nms_top_n});
  if (!rows) return kFailed;
  return ctx.assign_result(tensor_type(std::vector<Dim>{*rows, 5}, scores->dtype()));
}

struct Anchor {
  double x0, y0, x1, y1;
};

// Squares of feature_stride pixels, stretched to each ratio (in whole pixels) and then to each scale.
std::vector<Anchor> anchors_of(const ProposalAttrs& attrs) {
  std::vector<Anchor> anchors;
  const double side = static_cast<double>(attrs.feature_stride), middle = (side - 1) / 2;
  for (const double ratio : attrs.ratios)
    for (const double scale : attrs.scales) {
      const double whole = std::floor(std::sqrt(std::floor(side * side / ratio)) + 0.5);
      const double width = whole * scale, height = std::floor(whole * ratio + 0.5) * scale;
      anchors.push_back({middle - (width - 1) / 2, middle - (height - 1) / 2, middle + (width - 1) / 2,
                         middle + (height - 1) / 2});
    }
  return anchors;
}

// Inputs: scores (batch, 2 * anchors, height, width), the foreground second; corrections of the anchors
// (batch, 4 * anchors, height, width); height, width and scale of each image. Result: image and corners of
// rpn_post_nms_top_n regions for each image; where there are fewer, they are repeated.
void proposal_compute(Compute& c, const ProposalAttrs& attrs) {
  const Tensor &scores = c.in(0), &corrections = c.in(1), &info = c.in(2);
  const std::vector<Anchor> anchors = anchors_of(attrs);
  const int kinds = static_cast<int>(anchors.size()), batch = as_int(scores.extent(0));
  const int height = as_int(scores.extent(2)), width = as_int(scores.extent(3)), all = height * width * kinds;
  if (scores.extent(1) != 2 * kinds || corrections.extent(1) != 4 * kinds || all == 0)
    throw NotSupported("vision.proposal: scales and ratios make " + std::to_string(kinds) +
                       " anchors, and the inputs have others");
  const int stride = as_int(attrs.feature_stride), post = as_int(attrs.rpn_post_nms_top_n);
  const int pre = attrs.rpn_pre_nms_top_n > 0 ? as_int(std::min<int64_t>(attrs.rpn_pre_nms_top_n, all)) : all;
  const Halide::Var b("l0"), n("n"), k("k");

  // Box n belongs to anchor n % kinds of pixel n / kinds: its four edges, and its score.
  Halide::Func box = c.stage("boxes");
  const Halide::Expr kind = n % kinds, y = n / kinds / width, x = n / kinds % width;
  auto edge = [&](double Anchor::* which) {
    Halide::Expr value = 0.0f;
    for (int a = 0; a < kinds; ++a) value = select(kind == a, static_cast<float>(anchors[a].*which), value);
    return value;
  };
  auto correction = [&](int which) {
    return Halide::cast<float>(corrections(Index{b, kind * 4 + which, y, x}));
  };
  auto image = [&](int which) { return Halide::cast<float>(info(Index{b, which})); };  // height, width, scale
  auto axis = [&](const Halide::Expr& low, const Halide::Expr& high, int which) {
    if (attrs.iou_loss) return std::pair(low + correction(which), high + correction(which + 2));
    const Halide::Expr extent = high - low + 1.0f, middle = low + 0.5f * (extent - 1.0f);
    const Halide::Expr at = correction(which) * extent + middle, size = exp(correction(which + 2)) * extent;
    return std::pair(at - 0.5f * (size - 1.0f), at + 0.5f * (size - 1.0f));
  };
  auto [x0, x1] = axis(edge(&Anchor::x0) + x * stride, edge(&Anchor::x1) + x * stride, 0);
  auto [y0, y1] = axis(edge(&Anchor::y0) + y * stride, edge(&Anchor::y1) + y * stride, 1);
  x0 = clamp(x0, 0.0f, image(1) - 1.0f);
  x1 = clamp(x1, 0.0f, image(1) - 1.0f);
  y0 = clamp(y0, 0.0f, image(0) - 1.0f);
  y1 = clamp(y1, 0.0f, image(0) - 1.0f);
  const Halide::Expr least = static_cast<float>(attrs.rpn_min_size) * image(2);
  const Halide::Expr small = x1 - x0 + 1.0f < least || y1 - y0 + 1.0f < least,
                     more = select(small, least / 2.0f, 0.0f);
  const Halide::Expr beyond = y >= Halide::cast<int>(image(0) / static_cast<float>(stride)) ||
                              x >= Halide::cast<int>(image(1) / static_cast<float>(stride));
  const Halide::Expr score =
      select(small || beyond, -1.0f, Halide::cast<float>(scores(Index{b, kinds + kind, y, x})));
  box(k, n, b) = select(k == 0, x0 - more, k == 1, y0 - more, k == 2, x1 + more, k == 3, y1 + more, score);

  Halide::Func ranking = c.stage("ranking"), best = c.stage("best");
  ranking(n, b) = box(4, n, b);
  const Halide::Func sorted = sorted_pairs(c, ranking, {batch, all}, 1, false);
  best(k, n, b) = box(k, inside_axis(sorted(n, b)[1], all), b);
  Suppression s;
  s.lists = {batch};
  s.boxes = pre;
  s.most = post;
  s.present = [&](const Index&, const Halide::Expr&) { return Halide::Internal::const_true(); };
  s.suppresses = [&](const Index& list, const Halide::Expr& better, const Halide::Expr& at) {
    auto edges = [&](const Halide::Expr& which) {
      return Box{best(0, which, list[0]), best(1, which, list[0]), best(2, which, list[0]),
                 best(3, which, list[0])};
    };
    return overlap(edges(at), edges(better), 1) > static_cast<float>(attrs.threshold);
  };
  const Kept kept = suppress(c, s);
  Halide::RDom r(0, pre, "r");
  r.where(kept.kept(r, b) == 1);
  Halide::Func place = c.stage("place"), out = c.stage("proposal");
  place(n, b) = 0;
  place(inside_axis(kept.count(r, b) - 1, post), b) = r;
  const Halide::Var row("row");
  const Halide::Expr image_of = row / std::max(post, 1),
                     number = row % std::max(post, 1) % max(kept.count(pre - 1, image_of), 1);
  const Halide::Expr from = inside_axis(place(number, image_of), pre);
  out(k, row) = cast_to(c.out().dtype(),
                        select(k == 0, Halide::cast<float>(image_of), best(max(k - 1, 0), from, image_of)));
  c.result(out);
}

}  // namespace

const OpDef& op_vision_proposal() {
  static const OpDef def = OpSpec<ProposalAttrs>{
      .name = "vision.proposal",
      .doc = "Regions that a network proposes, best first, overlapping ones suppressed.",
      .inputs = {{"cls_prob", "(batch, 2 * anchors, height, width)"},
                 {"bbox_pred", "(batch, 4 * anchors, height, width)"},
                 {"im_info", "(batch, 3): height, width, scale"}},
      .relation = proposal_relation,
      .compute = proposal_compute,
      .declares_attrs = false,
      .python =
          "vision.proposal(cls_prob, bbox_pred, im_info, scales, ratios, feature_stride, threshold, "
          "rpn_pre_nms_top_n, rpn_post_nms_top_n, rpn_min_size, iou_loss)",
      .test_shapes = {"(1, 2, 3, 3)f32[0, 1], (1, 4, 3, 3)f32[-0.2, 0.2], (1, 3)f32{48, 48, 1}, scales=[1.], "
                      "ratios=[1.], feature_stride=16, threshold=0.7, rpn_pre_nms_top_n=6, "
                      "rpn_post_nms_top_n=4, rpn_min_size=4"},
  };
  return def;
}

}  // namespace baton
