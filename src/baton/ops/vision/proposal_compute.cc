#include "baton/ops/vision/proposal_compute.h"

#include <cmath>

#include "baton/ops/domain.h"
#include "baton/ops/shared/sort_compute.h"
#include "baton/ops/vision/nms_compute.h"

namespace baton {

namespace {

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

}  // namespace

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

}  // namespace baton
