#include "baton/ops/image/sample_compute.h"

#include <functional>

#include "baton/ops/domain.h"
#include "baton/ops/math.h"
#include "baton/ops/shared/resize_compute.h"

namespace baton {

namespace {

constexpr float kGridCubicAlpha = -0.75f;

Halide::Expr bilinear(const std::function<Halide::Expr(Halide::Expr, Halide::Expr)>& pixel,
                      const Halide::Expr& y, const Halide::Expr& x) {
  const Halide::Expr y0 = floor(y), x0 = floor(x), dy = y - y0, dx = x - x0;
  const Halide::Expr iy = cast<int>(y0), ix = cast<int>(x0);
  const Halide::Expr top = pixel(iy, ix) * (1.0f - dx) + pixel(iy, ix + 1) * dx;
  const Halide::Expr bottom = pixel(iy + 1, ix) * (1.0f - dx) + pixel(iy + 1, ix + 1) * dx;
  return top * (1.0f - dy) + bottom * dy;
}

// `x` mirrored at the borders of an axis until it lies inside: at the middles of the outermost elements, or
// at their borders.
Halide::Expr reflected(const Halide::Expr& x, int64_t extent, bool align_corners) {
  const float low = align_corners ? 0.0f : -0.5f,
              span = static_cast<float>(align_corners ? extent - 1 : extent);
  if (span <= 0) return 0.0f;
  const Halide::Expr off = abs(x - low), turns = floor(off / span), rest = off - turns * span;
  return select(cast<int>(turns) % 2 == 0, rest + low, span - rest + low);
}

}  // namespace

void crop_and_resize_compute(Compute& c, const Layout& layout, const std::string& method,
                             double extrapolation_value) {
  const Tensor &data = c.in(0), &boxes = c.in(1), &indices = c.in(2);
  const Layout nchw = *Layout::parse("NCHW");
  const std::vector<int64_t> from = convert_shape(data.shape(), layout, nchw),
                             to = convert_shape(c.out().extents(), layout, nchw);
  const Axes i(data.rank());
  const Index plain = convert_index<Halide::Expr>(i.exprs(), layout, nchw);
  const Halide::Expr image = inside_axis(indices(Index{plain[0]}), from[0]);
  auto position = [&](int axis) {  // 0: height, 1: width
    const Halide::Expr start = cast<float>(boxes(Index{plain[0], axis})),
                       end = cast<float>(boxes(Index{plain[0], 2 + axis}));
    const float last = static_cast<float>(from[2 + axis] - 1);
    if (to[2 + axis] == 1) return 0.5f * (start + end) * last;
    return start * last +
           cast<float>(plain[2 + axis]) * ((end - start) * last / static_cast<float>(to[2 + axis] - 1));
  };
  const Halide::Expr y = position(0), x = position(1);
  const std::function<Halide::Expr(Halide::Expr, Halide::Expr)> pixel = [&](const Halide::Expr& at_y,
                                                                            const Halide::Expr& at_x) {
    return cast<float>(data(convert_index<Halide::Expr>(
        {image, plain[1], inside_axis(at_y, from[2]), inside_axis(at_x, from[3])}, nchw, layout)));
  };
  Halide::Expr value;
  if (method == "bilinear")
    value = bilinear(pixel, y, x);
  else if (method == "nearest_neighbor")
    value = pixel(round_away(y), round_away(x));
  else
    throw NotSupported("interpolation method \"" + method + "\" is not known");
  const Halide::Expr inside =
      y >= 0.0f && y <= static_cast<float>(from[2] - 1) && x >= 0.0f && x <= static_cast<float>(from[3] - 1);
  Halide::Func crops = c.stage("crop_and_resize");
  crops(i.reversed()) =
      cast_to(c.out().dtype(), select(inside, value, static_cast<float>(extrapolation_value)));
  c.result(crops);
}

void affine_grid_compute(Compute& c) {
  const Tensor& maps = c.in(0);
  const std::vector<int64_t> out = c.out().extents();
  const Halide::Type type = sum_type(c.out().dtype());
  const Axes i(4);
  auto coordinate = [&](int axis) {
    const double step = out[axis] > 1 ? 2.0 / static_cast<double>(out[axis] - 1) : 0;
    return cast(type, Halide::Expr(-1.0)) + cast(type, i[axis]) * cast(type, Halide::Expr(step));
  };
  auto factor = [&](int column) { return cast(type, maps(Index{i[0], i[1], column})); };
  Halide::Func grid = c.stage("affine_grid");
  grid(i.reversed()) =
      cast_to(c.out().dtype(), factor(0) * coordinate(3) + factor(1) * coordinate(2) + factor(2));
  c.result(grid);
}

void grid_sample_compute(Compute& c, const std::string& method, const std::string& padding_mode,
                         bool align_corners) {
  const Tensor &data = c.in(0), &grid = c.in(1);
  const int count = data.rank() - 2;
  const Axes i(data.rank());
  const bool cubic = method == "bicubic", zeros = padding_mode == "zeros",
             mirror = padding_mode == "reflection";
  if (!zeros && !mirror && padding_mode != "border")
    throw NotSupported("padding_mode \"" + padding_mode + "\" is not known");
  if (method != "nearest" && method != "bilinear" && !(cubic && count == 2))
    throw NotSupported("interpolation method \"" + method + "\" is not known");

  auto bounded = [&](Halide::Expr x, int k) {  // a position, or a whole one
    if (mirror) x = reflected(x, data.extent(2 + k), align_corners);
    return clamp(x, 0.0f, static_cast<float>(data.extent(2 + k) - 1));
  };
  std::vector<Halide::Expr> position;
  for (int k = 0; k < count; ++k) {
    Index at = i.exprs();
    at[1] = count - 1 - k;
    const Halide::Expr g = cast<float>(grid(at));
    const float extent = static_cast<float>(data.extent(2 + k));
    const Halide::Expr x =
        align_corners ? (g + 1.0f) * ((extent - 1) / 2) : ((g + 1.0f) * extent - 1.0f) / 2.0f;
    position.push_back(zeros || cubic ? x : bounded(x, k));  // taps of a cubic are bounded one by one
  }

  struct Tap {
    Halide::Expr at, weight, inside;
  };
  auto tap_at = [&](Halide::Expr x, int k, const Halide::Expr& weight) {  // x is whole
    const Halide::Expr inside = x >= 0.0f && x <= static_cast<float>(data.extent(2 + k) - 1);
    if (cubic && !zeros) x = bounded(x, k);
    return Tap{inside_axis(x, data.extent(2 + k)), weight, inside};
  };
  std::vector<std::vector<Tap>> taps(count);
  for (int k = 0; k < count; ++k) {
    const Halide::Expr first = floor(position[k]), t = position[k] - first;
    if (method == "nearest") {
      taps[k] = {tap_at(round(position[k]), k, Halide::Expr())};
    } else if (!cubic) {
      taps[k] = {tap_at(first, k, 1.0f - t), tap_at(first + 1.0f, k, t)};
    } else {
      const std::vector<Halide::Expr> weights = cubic_weights(t, kGridCubicAlpha);
      for (int tap = 0; tap < 4; ++tap)
        taps[k].push_back(tap_at(first + static_cast<float>(tap - 1), k, weights[tap]));
    }
  }
  const std::function<Halide::Expr(int, Index, Halide::Expr)> sampled =
      [&](int k, Index at, const Halide::Expr& inside) -> Halide::Expr {
    if (k == count) {
      const Halide::Expr value = cast<float>(data(at));
      return zeros ? select(inside, value, 0.0f) : value;
    }
    Halide::Expr sum;
    for (const Tap& tap : taps[k]) {
      at[2 + k] = tap.at;
      Halide::Expr part = sampled(k + 1, at, inside && tap.inside);
      if (tap.weight.defined()) part = part * tap.weight;
      sum = sum.defined() ? sum + part : part;
    }
    return sum;
  };
  Index at = i.exprs();
  Halide::Func sample = c.stage("grid_sample");
  sample(i.reversed()) = cast_to(c.out().dtype(), sampled(0, at, Halide::Internal::const_true()));
  c.result(sample);
}

}  // namespace baton
