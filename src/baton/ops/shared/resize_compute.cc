#include "baton/ops/shared/resize_compute.h"

#include <functional>

#include "baton/ops/domain.h"
#include "baton/ops/math.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

namespace {

Halide::Expr number(double value) { return Halide::Expr(static_cast<float>(value)); }

Halide::Expr quotient(Dim a, Dim b) {
  if (a.is_symbolic() || b.is_symbolic()) return cast<float>(real_of(a) / real_of(b));
  return number(static_cast<double>(a.value()) / static_cast<double>(b.value()));
}

// The fractional data position on an axis of `from` elements for position `at` of a result axis of `to`
// elements.
Halide::Expr source_position(const Resize& resize, int k, const Halide::Expr& at, Dim from, Dim to) {
  const std::string& mode = resize.mode;
  const auto several = [&](const Halide::Expr& position) {
    if (to.is_symbolic()) return select(as_expr(to) > 1, position, number(0));
    return to.value() > 1 ? position : number(0);
  };
  const Halide::Expr x = cast<float>(at), scale = quotient(from, to);
  if (mode == "half_pixel") return (x + 0.5f) * scale - 0.5f;
  if (mode == "asymmetric") return x * scale;
  if (mode == "align_corners") return several(x * quotient(from - 1, to - 1));
  if (mode == "pytorch_half_pixel") return several((x + 0.5f) * scale - 0.5f);
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5f) * scale;
  if (mode == "tf_crop_and_resize") {
    BATON_CHECK(resize.roi.size() == 2u * static_cast<size_t>(resize.count),
                "a region has a start and an end for each axis");
    const Halide::Expr start = resize.roi[k], end = resize.roi[resize.count + k], last = float_of(from - 1);
    if (to == 1) return 0.5f * (start + end) * last;
    return start * last + x * (end - start) * last / float_of(to - 1);
  }
  throw NotSupported("coordinate_transformation_mode \"" + mode + "\" is not known");
}

Halide::Expr rounded(const Resize& resize, const Halide::Expr& x) {
  std::string rounding = resize.rounding;
  if (rounding.empty()) rounding = resize.mode == "align_corners" ? "round" : "floor";
  if (rounding == "round") return round_away(x);
  if (rounding == "round_prefer_floor") return ceil(x - 0.5f);
  if (rounding == "round_prefer_ceil") return floor(x + 0.5f);
  // An exact integer position may be computed slightly too small.
  if (rounding == "floor") return floor(x + 1e-5f);
  if (rounding == "ceil") return ceil(x);
  throw NotSupported("rounding_method \"" + rounding + "\" is not known");
}

struct Tap {
  Halide::Expr at, weight;  // the weight is undefined where there is one tap only
};

std::vector<Tap> taps_of(const Resize& resize, const Halide::Expr& position, Dim extent) {
  if (resize.method == "nearest_neighbor")
    return {{inside_axis(rounded(resize, position), extent), Halide::Expr()}};
  const Halide::Expr first = floor(position), t = position - first;
  const Halide::Expr index = cast<int>(first);
  if (resize.method == "linear")
    return {{inside_axis(index, extent), 1.0f - t}, {inside_axis(index + 1, extent), t}};
  if (resize.method != "cubic")
    throw NotSupported("interpolation method \"" + resize.method + "\" is not known");
  std::vector<Halide::Expr> weights = cubic_weights(t, resize.cubic_alpha);
  std::vector<Tap> taps;
  Halide::Expr total = 0.0f;
  for (int tap = 0; tap < 4; ++tap) {
    const Halide::Expr at = index + (tap - 1);
    if (resize.cubic_exclude) weights[tap] = select(at >= 0 && at < as_expr(extent), weights[tap], 0.0f);
    total = total + weights[tap];
    taps.push_back({inside_axis(at, extent), weights[tap]});
  }
  if (resize.cubic_exclude)
    for (Tap& tap : taps) tap.weight = tap.weight / total;
  return taps;
}

}  // namespace

std::vector<Halide::Expr> cubic_weights(const Halide::Expr& t, double alpha) {
  const Halide::Expr a = number(alpha), t2 = t * t, t3 = t2 * t;
  return {a * (t3 - 2.0f * t2 + t), (a + 2.0f) * t3 - (a + 3.0f) * t2 + 1.0f,
          -(a + 2.0f) * t3 + (2.0f * a + 3.0f) * t2 - a * t, a * (t2 - t3)};
}

void resize_compute(Compute& c, const Resize& resize) {
  const Tensor& data = c.in(0);
  const Layout canonical = *Layout::parse(data_letters(resize.count));
  const std::vector<Dim> from = convert_shape(data.dims(), resize.layout, canonical);
  const std::vector<Dim> to = convert_shape(c.out().shape(), resize.layout, canonical);
  const Axes i(data.rank());
  const Index plain = convert_index<Halide::Expr>(i.exprs(), resize.layout, canonical);
  std::vector<std::vector<Tap>> taps;
  Halide::Expr inside = Halide::Internal::const_true();
  for (int k = 0; k < resize.count; ++k) {
    const Halide::Expr position = source_position(resize, k, plain[2 + k], from[2 + k], to[2 + k]);
    if (resize.mode == "tf_crop_and_resize")
      inside = inside && at_most(0.0f, position) && at_most(position, float_of(from[2 + k] - 1));
    taps.push_back(taps_of(resize, position, from[2 + k]));
    c.needs_elements(from[2 + k]);
  }
  const bool nearest = resize.method == "nearest_neighbor";
  const std::function<Halide::Expr(int, Index)> interpolated = [&](int k, Index at) -> Halide::Expr {
    if (k == resize.count) {
      const Halide::Expr value = data(convert_index<Halide::Expr>(at, canonical, resize.layout));
      // Weights are float32, as in TVM; elements of float64 keep their digits.
      return nearest || value.type() == Halide::Float(64) ? value : cast<float>(value);
    }
    Halide::Expr sum;
    for (const Tap& tap : taps[k]) {
      at[2 + k] = tap.at;
      Halide::Expr part = interpolated(k + 1, at);
      if (tap.weight.defined()) part = part * tap.weight;
      sum = sum.defined() ? sum + part : part;
    }
    return sum;
  };
  Halide::Expr value = interpolated(0, plain);
  if (resize.mode == "tf_crop_and_resize")
    value = select(inside, value, cast(value.type(), number(resize.extrapolation_value)));
  Halide::Func resized = c.stage("resize");
  resized(i.reversed()) = cast_to(c.out().dtype(), value);
  c.result(resized);
}

}  // namespace baton
