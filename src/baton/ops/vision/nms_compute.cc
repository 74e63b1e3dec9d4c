#include "baton/ops/vision/nms_compute.h"

#include "baton/ops/domain.h"

namespace baton {

Halide::Expr overlap(const Box& a, const Box& b, float border) {
  auto low = [](const Halide::Expr& p, const Halide::Expr& q) { return min(p, q); };
  auto high = [](const Halide::Expr& p, const Halide::Expr& q) { return max(p, q); };
  auto area = [&](const Box& box) {
    return (abs(box.x1 - box.x0) + border) * (abs(box.y1 - box.y0) + border);
  };
  const Halide::Expr width =
      min(high(a.x0, a.x1), high(b.x0, b.x1)) - max(low(a.x0, a.x1), low(b.x0, b.x1)) + border;
  const Halide::Expr height =
      min(high(a.y0, a.y1), high(b.y0, b.y1)) - max(low(a.y0, a.y1), low(b.y0, b.y1)) + border;
  const Halide::Expr both = max(width, 0.0f) * max(height, 0.0f), all = area(a) + area(b) - both;
  return select(all <= 0.0f, 0.0f, both / select(all <= 0.0f, 1.0f, all));
}

// Box by box, best first: a box is kept unless an earlier kept one suppresses it.
Kept suppress(Compute& c, const Suppression& s) {
  const int boxes = as_int(s.boxes);
  const Axes list(static_cast<int>(s.lists.size()), "l");
  const Halide::Var n("n");
  const Index at = list.exprs();
  auto func_at = [&](const Halide::Expr& box) {
    Index args = reversed(at);
    args.insert(args.begin(), box);
    return args;
  };
  std::vector<Halide::Var> args = list.reversed();
  args.insert(args.begin(), n);
  Halide::Func alive = c.stage("alive"), count = c.stage("count"), kept = c.stage("kept"),
               kept_count = c.stage("kept_count");
  alive(args) = select(s.present(at, n), 1, 0);
  if (boxes > 1) {
    Halide::RDom r(0, boxes - 1, 1, boxes - 1,
                   "r");  // a better box, and one behind it, which is the outer loop
    r.where(r.x < r.y && alive(func_at(r.x)) == 1 && alive(func_at(r.y)) == 1);
    alive(func_at(r.y)) = select(s.suppresses(at, r.x, r.y), 0, 1);
  }
  count(args) = alive(args);
  if (boxes > 1) {
    const Halide::RDom later(1, boxes - 1, "s");
    count(func_at(later)) += count(func_at(later - 1));
  }
  const Halide::Expr allowed = s.most < 0 || count(args) <= s.most;
  kept(args) = select(allowed, alive(args), 0);
  kept_count(args) = select(s.most < 0, count(args), min(count(args), s.most));
  return {kept, kept_count};
}

}  // namespace baton
