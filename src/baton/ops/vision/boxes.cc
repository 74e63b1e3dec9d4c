// Box generation: priors, corrections, proposals.
#include <cmath>

#include "baton/ir/attrs.h"
#include "baton/ir/rules/read_rule.h"
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/shared/spatial.h"
#include "baton/ops/vision/extent.h"

namespace baton {

struct MultiBoxPriorAttrs {
  std::vector<double> sizes{1};
  std::vector<double> ratios{1};
  std::vector<double> steps{-1, -1};
  std::vector<double> offsets{0.5, 0.5};
  bool clip = false;
};

struct MultiBoxTransformLocAttrs {
  bool clip = true;
  double threshold = 0.01;
  std::vector<double> variances{0.1, 0.1, 0.2,
                                0.2};  ///< not what text's 0.1f reads as: Relay prints those too
};

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

namespace {

RelationStatus prior_relation(RelationContext& ctx, const MultiBoxPriorAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!check_rank(ctx, *data, 4, 0)) return kFailed;
  const auto kinds = static_cast<int64_t>(attrs.sizes.size() + attrs.ratios.size());
  if (kinds < 1) return fail_attr(ctx, "sizes", "[]", "at least one size or ratio is needed");
  if (!check_count(ctx, "steps", attrs.steps, 2) || !check_count(ctx, "offsets", attrs.offsets, 2))
    return kFailed;
  const auto boxes = result_extent(ctx, 0, {data->shape()[2], data->shape()[3], kinds - 1});
  if (!boxes) return kFailed;
  return ctx.assign_result(tensor_type(std::vector<Dim>{1, *boxes, 4}, data->dtype()));
}

RelationStatus transform_loc_relation(RelationContext& ctx, const MultiBoxTransformLocAttrs& attrs) {
  const TensorTypeNode *scores = ctx.tensor(0), *locations = ctx.tensor(1), *anchors = ctx.tensor(2);
  if (!scores || !locations || !anchors) return kDefer;
  if (!check_rank(ctx, *scores, 3, 0) || !check_rank(ctx, *locations, 2, 1) ||
      !check_rank(ctx, *anchors, 3, 2))
    return kFailed;
  const Dim count = anchors->shape()[1];
  const auto coordinates = result_extent(ctx, 0, {scores->shape()[2], 4});
  if (!coordinates) return kFailed;
  const Dim batch = scores->shape()[0];
  if (!check_extent(ctx, *anchors, 1, scores->shape()[2], 2, "one anchor per score") ||
      !check_extent(ctx, *anchors, 0, 1, 2, "one set of anchors for all images") ||
      !check_extent(ctx, *anchors, 2, 4, 2, "an anchor of four coordinates") ||
      !check_extent(ctx, *locations, 1, *coordinates, 1, "four locations per score") ||
      !check_extent(ctx, *locations, 0, batch, 1, "locations for each image") ||
      !check_count(ctx, "variances", attrs.variances, 4))
    return kFailed;
  return ctx.assign_result(tuple_type({tensor_type(std::vector<Dim>{batch, count, 6}, scores->dtype()),
                                       tensor_type(std::vector<Dim>{batch}, DType::int_(32))}));
}

// Around each pixel: all sizes with the first ratio, then the first size with the other ratios. Coordinates
// go from 0 to 1.
void prior_compute(Compute& c, const MultiBoxPriorAttrs& attrs) {
  const int height = as_int(c.in(0).extent(2)), width = as_int(c.in(0).extent(3));
  const int sizes = static_cast<int>(attrs.sizes.size()),
            kinds = sizes + static_cast<int>(attrs.ratios.size()) - 1;
  const double stretch = static_cast<double>(height) / width;
  const Axes i(3);
  const Halide::Expr kind = i[1] % kinds, pixel = i[1] / kinds;
  Halide::Expr half_width = 0.0f, half_height = 0.0f;
  for (int k = 0; k < kinds; ++k) {
    const double size = attrs.sizes.empty() ? 1 : attrs.sizes[k < sizes ? k : 0];
    const double ratio = std::sqrt(k < sizes || attrs.ratios.empty() ? 1.0 : attrs.ratios[k - sizes + 1]);
    half_width = select(kind == k, static_cast<float>(size * stretch * ratio / 2), half_width);
    half_height = select(kind == k, static_cast<float>(size / ratio / 2), half_height);
  }
  auto step = [&](int axis, int extent) {
    return static_cast<float>(attrs.steps[axis] > 0 ? attrs.steps[axis] : 1.0 / extent);
  };
  const Halide::Expr y =
      (Halide::cast<float>(pixel / width) + static_cast<float>(attrs.offsets[0])) * step(0, height);
  const Halide::Expr x =
      (Halide::cast<float>(pixel % width) + static_cast<float>(attrs.offsets[1])) * step(1, width);
  Halide::Expr edge = select(i[2] == 0, x - half_width, i[2] == 1, y - half_height, i[2] == 2, x + half_width,
                             y + half_height);
  if (attrs.clip) edge = clamp(edge, 0.0f, 1.0f);
  Halide::Func boxes = c.stage("multibox_prior");
  boxes(i.reversed()) = from_real(halide_type(c.out().dtype()), edge);
  c.result(boxes);
}

// Class 0 is the background. Anchors of other classes above the threshold come first, followed by -1.
void transform_loc_compute(Compute& c, const MultiBoxTransformLocAttrs& attrs) {
  const Tensor &scores = c.in(0), &locations = c.in(1), &anchors = c.in(2);
  const int classes = as_int(scores.extent(1)), count = as_int(scores.extent(2));
  const Halide::Type type = halide_type(c.out(0).dtype());
  const Halide::Var b("b"), n("n"), k("k");
  Halide::Func best = c.stage("best");
  best(n, b) = Halide::Tuple(Halide::Expr(0), cast(type, -1));
  if (classes > 1) {
    const Halide::RDom r(1, classes - 1, "c");
    const Halide::Expr score = cast(type, scores(Index{b, r, n})), old = best(n, b)[1];
    best(n, b) = Halide::Tuple(select(score > old, Halide::Expr(r), best(n, b)[0]), max(old, score));
  }
  auto valid = [&](const Halide::Expr& at) {
    return best(at, b)[0] > 0 && at_most(cast(type, Halide::Expr(attrs.threshold)), best(at, b)[1]);
  };
  Halide::Func place = c.stage("place"), total = c.stage("total"), moved = c.stage("boxes"),
               out = c.stage("out");
  place(n, b) = select(valid(n), 1, 0);
  if (count > 1) {
    const Halide::RDom later(1, count - 1, "s");
    place(later, b) += place(later - 1, b);
  }
  auto anchor = [&](int edge) { return cast(type, anchors(Index{0, n, edge})); };
  auto location = [&](int edge) {
    return cast(type, locations(Index{b, n * 4 + edge})) * cast(type, Halide::Expr(attrs.variances[edge]));
  };
  const Halide::Expr half = cast(type, Halide::Expr(0.5)), width = anchor(2) - anchor(0),
                     height = anchor(3) - anchor(1);
  const Halide::Expr x = location(0) * width + (anchor(0) + anchor(2)) * half,
                     y = location(1) * height + (anchor(1) + anchor(3)) * half;
  const Halide::Expr half_width = exp(location(2)) * width * half,
                     half_height = exp(location(3)) * height * half;
  auto bounded = [&](const Halide::Expr& edge) {
    return attrs.clip ? clamp(edge, cast(type, 0), cast(type, 1)) : edge;
  };
  moved(k, n, b) =
      select(k == 0, cast(type, best(n, b)[0] - 1), k == 1, best(n, b)[1], k == 2, bounded(x - half_width),
             k == 3, bounded(y - half_height), k == 4, bounded(x + half_width), bounded(y + half_height));
  Halide::RDom r(0, count, "r");
  r.where(valid(r));
  out(k, n, b) = cast(type, -1);
  out(k, inside_axis(place(r, b) - 1, count), b) = moved(k, r, b);
  total(b) = count > 0 ? place(count - 1, b) : Halide::Expr(0);
  c.results({out, total});
}

}  // namespace

const OpDef& op_vision_multibox_prior() {
  static const OpDef def = OpSpec<MultiBoxPriorAttrs>{
      .name = "vision.multibox_prior",
      .doc = "Boxes of given sizes and ratios around every pixel.",
      .inputs = {{"data", "4-D tensor, NCHW: only its shape counts"}},
      .relation = prior_relation,
      .compute = prior_compute,
      .rules = op_rules(TypeOnlyInput{0}),
      .test_shapes = {"(1, 3, 5, 4)f32"},
  };
  return def;
}

const OpDef& op_vision_multibox_transform_loc() {
  static const OpDef def = OpSpec<MultiBoxTransformLocAttrs>{
      .name = "vision.multibox_transform_loc",
      .doc = "Anchors moved by the predicted locations, with class and score, and how many are valid.",
      .inputs = {{"cls_prob", "(batch, classes, anchors)"},
                 {"loc_pred", "(batch, 4 * anchors)"},
                 {"anchor", "(1, anchors, 4)"}},
      .relation = transform_loc_relation,
      .compute = transform_loc_compute,
      .rules = op_rules(ResultCount{2}),
      .test_shapes = {"(1, 3, 4)f32[0, 1], (1, 16)f32, (1, 4, 4)f32[0, 1], variances=[0.1, 0.1, 0.2, 0.2]"},
  };
  return def;
}

}  // namespace baton
