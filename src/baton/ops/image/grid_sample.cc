// Grids of positions, and sampling of data at them.
#include <functional>

#include "baton/ir/rules/read_rule.h"
#include "baton/ops/domain.h"
#include "baton/ops/math.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/shared/resize_compute.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

struct AffineGridAttrs {
  std::vector<int64_t> target_shape = {};
};

struct GridSampleAttrs {
  std::string method = "bilinear";
  std::string layout = "NCHW";
  std::string padding_mode = "zeros";
  bool align_corners = true;
};

template <>
const AttrSchema& attr_schema<AffineGridAttrs>() {
  static const AttrSchema schema = make_schema<AffineGridAttrs>(
      "relay.attrs.AffineGridAttrs",
      {{"target_shape", &AffineGridAttrs::target_shape, "height and width of the grid", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<GridSampleAttrs>() {
  using A = GridSampleAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.GridSampleAttrs",
                     {{"method", &A::method, "\"nearest\", \"bilinear\" or \"bicubic\""},
                      {"layout", &A::layout, "layout of the data, NCHW or NCDHW"},
                      {"padding_mode", &A::padding_mode,
                       "what lies outside the data: \"zeros\", \"border\" or \"reflection\""},
                      {"align_corners", &A::align_corners,
                       "whether -1 and 1 are the middles of the outermost cells, or their borders"}});
  return schema;
}

namespace {

RelationStatus affine_grid_relation(RelationContext& ctx, const AffineGridAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!check_rank(ctx, *data, 3, 0)) return kFailed;
  if (!may_equal(data->shape()[1], 2) || !may_equal(data->shape()[2], 3))
    return fail_arg(ctx, 0, "matrices of 2 x 3 are needed, got " + type_text(ctx.input(0)));
  if (!check_lists(ctx, {{"target_shape", &attrs.target_shape}}, 2)) return kFailed;
  const std::vector<Dim> shape{data->shape()[0], 2, attrs.target_shape[0], attrs.target_shape[1]};
  return ctx.assign_result(tensor_type(shape, data->dtype()));
}

RelationStatus grid_sample_relation(RelationContext& ctx, const GridSampleAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *grid = ctx.tensor(1);
  if (!data || !grid) return kDefer;
  if (attrs.layout != "NCHW" && attrs.layout != "NCDHW")
    return fail_attr(ctx, "layout", "\"" + attrs.layout + "\"", "it must be \"NCHW\" or \"NCDHW\"");
  const int rank = static_cast<int>(attrs.layout.size());
  if (!check_rank(ctx, *data, rank, 0) || !check_rank(ctx, *grid, rank, 1)) return kFailed;
  if (!may_equal(data->shape()[0], grid->shape()[0]))
    return fail_arg(ctx, 1, "one grid is needed for each image, got " + type_text(ctx.input(1)));
  if (!may_equal(grid->shape()[1], rank - 2))
    return fail_arg(
        ctx, 1,
        "positions need " + std::to_string(rank - 2) + " coordinates, got " + type_text(ctx.input(1)));
  std::vector<Dim> shape = grid->shape();
  shape[0] = data->shape()[0];
  shape[1] = data->shape()[1];
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

constexpr float kGridCubicAlpha = -0.75f;

// `x` reflected at the borders of an axis until it is inside: at the centres of the outermost elements, or at
// their edges.
Halide::Expr reflected(const Halide::Expr& x, Dim extent, bool align_corners) {
  const float low = align_corners ? 0.0f : -0.5f;
  const Dim elements = align_corners ? extent - 1 : extent;
  if (!elements.is_any() && elements.value() <= 0) return 0.0f;
  const Halide::Expr span = float_of(elements);
  const Halide::Expr off = abs(x - low), turns = floor(off / span), rest = off - turns * span;
  const Halide::Expr there = select(cast<int>(turns) % 2 == 0, rest + low, span - rest + low);
  return elements.is_symbolic() ? select(span > 0, there, 0.0f) : there;
}

// Affine maps (n, 2, 3) of a grid from -1 to 1.
void affine_grid_compute(Compute& c) {
  const Tensor& maps = c.in(0);
  const std::vector<Dim>& out = c.out().shape();
  const Halide::Type type = sum_type(c.out().dtype());
  const Axes i(4);
  auto coordinate = [&](int axis) {
    Halide::Expr step;
    if (out[axis].is_symbolic())
      step = select(as_expr(out[axis]) > 1,
                    Halide::Expr(2.0) / max(real_of(out[axis] - 1), Halide::Expr(1.0)), Halide::Expr(0.0));
    else
      step = Halide::Expr(out[axis].value() > 1 ? 2.0 / static_cast<double>(out[axis].value() - 1) : 0);
    return cast(type, Halide::Expr(-1.0)) + cast(type, i[axis]) * cast(type, step);
  };
  auto factor = [&](int column) { return cast(type, maps(Index{i[0], i[1], column})); };
  Halide::Func grid = c.stage("affine_grid");
  grid(i.reversed()) =
      cast_to(c.out().dtype(), factor(0) * coordinate(3) + factor(1) * coordinate(2) + factor(2));
  c.result(grid);
}

// Data (n, channels, spatial...) at the positions of input 1 (n, coordinates, spatial...), the last axis'
// coordinate first.
void grid_sample_compute(Compute& c, const std::string& method, const std::string& padding_mode,
                         bool align_corners) {
  const Tensor &data = c.in(0), &grid = c.in(1);
  const int count = data.rank() - 2;
  for (int k = 0; k < count; ++k) c.needs_elements(data.dim(2 + k));
  const Axes i(data.rank());
  const bool cubic = method == "bicubic", zeros = padding_mode == "zeros",
             mirror = padding_mode == "reflection";
  if (!zeros && !mirror && padding_mode != "border")
    throw NotSupported("padding_mode \"" + padding_mode + "\" is not known");
  if (method != "nearest" && method != "bilinear" && !cubic)
    throw NotSupported("interpolation method \"" + method + "\" is not known");

  const bool wide = data.dtype() == DType::float_(64) || grid.dtype() == DType::float_(64);
  const Halide::Type type = wide ? Halide::Float(64) : Halide::Float(32);
  auto bounded = [&](Halide::Expr x, int k) {  // a position, or a whole one
    if (mirror) x = reflected(x, data.dim(2 + k), align_corners);
    return clamp(x, 0.0f, float_of(data.dim(2 + k) - 1));
  };
  std::vector<Halide::Expr> position;
  for (int k = 0; k < count; ++k) {
    Index at = i.exprs();
    at[1] = count - 1 - k;
    const Halide::Expr g = cast(type, grid(at));
    const Dim last = data.dim(2 + k) - 1;
    const Halide::Expr extent = float_of(data.dim(2 + k)),
                       half = last.is_symbolic() ? float_of(last) / 2.0f
                                                 : Halide::Expr(static_cast<float>(last.value()) / 2);
    const Halide::Expr x = align_corners ? (g + 1.0f) * half : ((g + 1.0f) * extent - 1.0f) / 2.0f;
    position.push_back(zeros || cubic ? x : bounded(x, k));  // taps of a cubic are bounded one by one
  }

  struct Tap {
    Halide::Expr at, weight, inside;
  };
  auto tap_at = [&](Halide::Expr x, int k, const Halide::Expr& weight) {  // x is whole
    const Halide::Expr inside = at_most(0.0f, x) && at_most(x, float_of(data.dim(2 + k) - 1));
    if (cubic && !zeros) x = bounded(x, k);
    return Tap{inside_axis(x, data.dim(2 + k)), weight, inside};
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
      const Halide::Expr value = cast(type, data(at));
      return zeros ? select(inside, value, cast(type, Halide::Expr(0.0f))) : value;
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

}  // namespace

const OpDef& op_image_affine_grid() {
  static const OpDef def = OpSpec<AffineGridAttrs>{
      .name = "image.affine_grid",
      .doc = "The positions (x, y) that an affine map gives the points of a grid from -1 to 1.",
      .inputs = {{"data", "(n, 2, 3): the maps"}},
      .fuse = Fuse::kInjective,
      .relation = affine_grid_relation,
      .compute = [](Compute& c, const AffineGridAttrs&) { affine_grid_compute(c); },
      .test_shapes = {"(2, 2, 3)f32, target_shape=[3, 4]"},
  };
  return def;
}

const OpDef& op_image_grid_sample() {
  static const OpDef def = OpSpec<GridSampleAttrs>{
      .name = "image.grid_sample",
      .doc = "The data at the positions of a grid, whose coordinates go from -1 to 1.",
      .inputs = {{"data", "tensor in `layout`"},
                 {"grid", "(n, coordinates, height, width), or with a depth"}},
      .fuse = Fuse::kInjective,
      .relation = grid_sample_relation,
      .compute =
          [](Compute& c, const GridSampleAttrs& attrs) {
            grid_sample_compute(c, attrs.method, attrs.padding_mode, attrs.align_corners);
          },
      .rules = op_rules(reads_places()),
      .test_shapes = {"(1, 2, 4, 4)f32, (1, 2, 3, 3)f32[-1.2, 1.2], method=bicubic, padding_mode=reflection"},
  };
  return def;
}

}  // namespace baton
