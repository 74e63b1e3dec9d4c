#include "baton/ops/nn/pool/pool_compute.h"

#include "baton/ir/layout.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/shared/conv_attrs.h"

namespace baton {

namespace {

// A window over height and width of the data: where cell (r.y, r.x) of the window of result element `i` lies.
struct WindowCells {
  int h, w;  // positions of the two axes in the layout
  Halide::Expr y, x, inside;
  Index at;  // clamped to the data
};

template <class A>
WindowCells window(const Compute& c, const A& attrs, const Index& i, const Halide::RDom& r) {
  const Layout layout = *Layout::parse(attrs.layout);
  const Padding2D pad = *padding_2d(attrs.padding);
  WindowCells w;
  w.h = layout.find('H');
  w.w = layout.find('W');
  w.y = i[w.h] * as_int(attrs.strides[0]) + r.y * as_int(attrs.dilation[0]) - as_int(pad.top);
  w.x = i[w.w] * as_int(attrs.strides[1]) + r.x * as_int(attrs.dilation[1]) - as_int(pad.left);
  const Halide::Expr height = as_int(c.in(0).extent(w.h)), width = as_int(c.in(0).extent(w.w));
  w.inside = w.y >= 0 && w.y < height && w.x >= 0 && w.x < width;
  w.at = i;
  // Most windows lie inside: `likely` makes Halide split loops, so that only those at the edges look.
  w.at[w.h] = clamp(likely(w.y), 0, height - 1);
  w.at[w.w] = clamp(likely(w.x), 0, width - 1);
  return w;
}

Halide::RDom pool_domain(const std::vector<int64_t>& size) {
  return {0, as_int(size[1]), 0, as_int(size[0]), "r"};
}

// How many cells of the window that starts at `first` lie below `limit` and not before `from`.
Halide::Expr cells(Halide::Expr first, int64_t size, int64_t dilation, int64_t from, int64_t limit) {
  const int step = as_int(dilation), count = as_int(size);
  const Halide::Expr skipped = clamp((as_int(from) - first + step - 1) / step, 0, count);
  const Halide::Expr reached = clamp((as_int(limit) - first + step - 1) / step, 0, count);
  return reached - skipped;
}

}  // namespace

void max_pool2d_compute(Compute& c, const MaxPool2DAttrs& attrs) {
  const Axes i(c.out().rank());
  const Halide::RDom r = pool_domain(attrs.pool_size);
  const WindowCells w = window(c, attrs, i.exprs(), r);
  const Halide::Type type = halide_type(c.out().dtype());
  Halide::Func pool = c.stage("max_pool2d");
  pool(i.reversed()) = lowest(type);
  pool(i.reversed()) = max(pool(i.reversed()), select(w.inside, likely(c.in(0)(w.at)), lowest(type)));
  c.result(copy_stage(c, pool));
}

void avg_pool2d_compute(Compute& c, const AvgPool2DAttrs& attrs) {
  const Axes i(c.out().rank());
  const Halide::RDom r = pool_domain(attrs.pool_size);
  const WindowCells w = window(c, attrs, i.exprs(), r);
  const Halide::Type type = sum_type(c.out().dtype());
  Halide::Func sum = c.stage("sum"), pool = c.stage("avg_pool2d");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) += select(w.inside, likely(cast(type, c.in(0)(w.at))), cast(type, 0));

  // With count_include_pad the cells in the padding count, but not those that ceil_mode adds beyond it.
  const Padding2D pad = *padding_2d(attrs.padding);
  const int64_t height = c.in(0).extent(w.h), width = c.in(0).extent(w.w);
  const bool all = attrs.count_include_pad;
  const Halide::Expr y = i[w.h] * as_int(attrs.strides[0]) - as_int(pad.top);
  const Halide::Expr x = i[w.w] * as_int(attrs.strides[1]) - as_int(pad.left);
  const Halide::Expr count =
      cells(y, attrs.pool_size[0], attrs.dilation[0], all ? -pad.top : 0,
            all ? height + pad.bottom : height) *
      cells(x, attrs.pool_size[1], attrs.dilation[1], all ? -pad.left : 0, all ? width + pad.right : width);
  pool(i.reversed()) = cast_to(c.out().dtype(), sum(i.reversed()) / cast(type, max(count, 1)));
  c.result(pool);
}

void global_avg_pool2d_compute(Compute& c, const GlobalPool2DAttrs& attrs) {
  const Layout layout = *Layout::parse(attrs.layout);
  const int h = layout.find('H'), w = layout.find('W');
  const Halide::RDom r(0, as_int(c.in(0).extent(w)), 0, as_int(c.in(0).extent(h)), "r");
  const Axes i(c.out().rank());
  Index at = i.exprs();
  at[h] = r.y;
  at[w] = r.x;
  const Halide::Type type = sum_type(c.out().dtype());
  Halide::Func sum = c.stage("sum"), pool = c.stage("global_avg_pool2d");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) += cast(type, c.in(0)(at));
  pool(i.reversed()) =
      cast_to(c.out().dtype(), sum(i.reversed()) / cast(type, as_int(c.in(0).extent(h) * c.in(0).extent(w))));
  c.result(pool);
}

void global_max_pool2d_compute(Compute& c, const GlobalPool2DAttrs& attrs) {
  const Layout layout = *Layout::parse(attrs.layout);
  const int h = layout.find('H'), w = layout.find('W');
  const Halide::RDom r(0, as_int(c.in(0).extent(w)), 0, as_int(c.in(0).extent(h)), "r");
  const Axes i(c.out().rank());
  Index at = i.exprs();
  at[h] = r.y;
  at[w] = r.x;
  Halide::Func pool = c.stage("global_max_pool2d");
  pool(i.reversed()) = lowest(halide_type(c.out().dtype()));
  pool(i.reversed()) = max(pool(i.reversed()), c.in(0)(at));
  c.result(copy_stage(c, pool));
}

}  // namespace baton
