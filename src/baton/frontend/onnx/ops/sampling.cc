// Data sampled between their elements: grids, regions, deformed windows.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/numbers.h"
#include "baton/frontend/onnx/ops/windows.h"
#include "baton/ir/op_names.h"

namespace baton::onnx {

namespace {

/// Positions are the last axis in ONNX, the second one in Relay.
Values grid_sample(Conversion& c) {
  const std::string mode = c.text("mode", c.version < 20 ? "bilinear" : "linear");
  const bool linear = mode == "linear" || mode == "bilinear", cubic = mode == "cubic" || mode == "bicubic";
  if (!linear && !cubic && mode != "nearest")
    throw c.error("`mode` is \"" + mode + "\", and should be linear, nearest or cubic");
  const int rank = c.rank(0);
  if (rank != 4 && rank != 5) throw c.not_supported("grids over " + std::to_string(rank - 2) + " axes");
  if (!c.has_known_shape(0) || !c.has_known_shape(1)) return c.later(rank, c.dtype(0));
  std::vector<int64_t> order{0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) order.push_back(i);
  return {c.call("image.grid_sample", {c[0], c.transpose(c[1], order)},
                 {{"method", linear  ? "bilinear"
                             : cubic ? "bicubic"
                                     : "nearest"},
                  {"layout", rank == 4 ? "NCHW" : "NCDHW"},
                  {"padding_mode", c.text("padding_mode", "zeros")},
                  {"align_corners", c.integer("align_corners", 0) != 0}})};
}

/// The middles of `count` cells between -1 and 1, or so many points from -1 to 1.
std::vector<double> even_points(int64_t count, bool align_corners) {
  std::vector<double> points;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<double>(i), all = static_cast<double>(count);
    points.push_back(!align_corners ? (2 * at + 1) / all - 1 : count > 1 ? 2 * at / (all - 1) - 1 : -1);
  }
  return points;
}

Values affine_grid(Conversion& c) {
  const std::vector<Dim>& given = c.type(1).shape();
  if (given != std::vector<Dim>{4} && given != std::vector<Dim>{5})
    throw c.error("its size has to be 4 or 5 extents");
  const int rank = static_cast<int>(given.at(0).value());
  if (!c.knows({1}) || !c.has_known_shape(0)) return c.later(rank, c.dtype(0));
  const std::vector<int64_t> size = *c.numbers(1);
  const std::vector<int64_t> spatial(size.begin() + 2, size.end());
  const size_t axes = spatial.size();
  const int64_t points = std::accumulate(spatial.begin(), spatial.end(), int64_t{1}, std::multiplies<>());
  std::vector<std::vector<double>> along;
  for (const int64_t extent : spatial)
    along.push_back(even_points(extent, c.integer("align_corners", 0) != 0));
  std::vector<double> grid;  // of each point x, y, (z,) 1
  for (int64_t point = 0; point < points; ++point) {
    int64_t rest = point;
    for (size_t i = axes; i-- > 0; rest /= spatial[i])
      grid.push_back(along[i][static_cast<size_t>(rest % spatial[i])]);
    grid.push_back(1);
  }
  const auto count = static_cast<int64_t>(axes);
  const DType type = c.dtype(0);
  const Expr table = c.constant(reals_array({points, count + 1}, grid, type));
  const Expr moved =
      c.call(op_names::kDense, {c.reshape(c[0], {size[0] * count, count + 1}), table}, {{"units", points}});
  std::vector<int64_t> result{size[0]};
  result.insert(result.end(), spatial.begin(), spatial.end());
  result.push_back(count);
  return {c.reshape(c.transpose(c.reshape(moved, {size[0], count, points}), {0, 2, 1}), result)};
}

// ---- Regions.

/// Regions with the number of their image in front.
Expr numbered_regions(const Conversion& c) {
  const Expr numbers = c.call("expand_dims", {c.cast(c[2], c.dtype(1))}, {{"axis", 1}, {"num_newaxis", 1}});
  return c.call("concatenate", {tuple({numbers, c[1]})}, {{"axis", 1}});
}

Values roi_align(Conversion& c) {
  const std::string positions =
      c.version < 16 ? "output_half_pixel" : c.text("coordinate_transformation_mode", "half_pixel");
  if (positions != "half_pixel" && positions != "output_half_pixel")
    throw c.error("`coordinate_transformation_mode` is \"" + positions +
                  "\", and should be half_pixel or output_half_pixel");
  const std::vector<int64_t> size{c.integer("output_height", 1), c.integer("output_width", 1)};
  if (!c.has_known_shape(0)) {
    const std::vector<Dim>& shape = c.type(0).shape();
    return c.later(
        {baton::tensor_type({c.type(1).shape().at(0), shape.at(1), size[0], size[1]}, c.dtype(0))});
  }
  const int64_t samples = c.integer("sampling_ratio", 0);
  return {c.call("vision.sampled_regions", {c[0], numbered_regions(c)},
                 {{"pooled_size", size},
                  {"spatial_scale", c.number("spatial_scale", 1)},
                  {"sample_ratio", samples > 0 ? samples : int64_t{-1}},
                  {"mode", c.text("mode", "avg")},
                  {"half_pixel", positions == "half_pixel"}})};
}

Values max_roi_pool(Conversion& c) {
  const auto size = c.integers_of("pooled_shape");
  if (!size || size->size() != 2) throw c.error("`pooled_shape` is not two numbers");
  return {
      c.call("vision.roi_pool", {c[0], c[1]},
             {{"pooled_size", *size}, {"spatial_scale", c.number("spatial_scale", 1)}, {"layout", "NCHW"}})};
}

// ---- Convolutions whose windows' places are moved.

/// Extents of a deformed convolution over two axes.
struct Deformed {
  Window window;
  int64_t batch, channels, height, width, rows, columns, groups, offset_groups, results;
  int64_t taps() const { return window.kernel.at(0) * window.kernel.at(1); }
  int64_t positions() const { return rows * columns; }
};

Deformed deformed(const Conversion& c) {
  const std::vector<Dim>&data = c.type(0).shape(), &weight = c.type(1).shape(), &offset = c.type(2).shape();
  if (data.size() != 4 || weight.size() != 4 || offset.size() != 4)
    throw c.not_supported("deformed convolutions over another number of axes than 2");
  Deformed d{window_of(c, {weight[2].value(), weight[3].value()}),
             data[0].value(),
             data[1].value(),
             data[2].value(),
             data[3].value(),
             offset[2].value(),
             offset[3].value(),
             c.integer("group", 1),
             c.integer("offset_group", 1),
             weight[0].value()};
  if (d.groups < 1 || d.offset_groups < 1 || d.channels % d.groups != 0 || d.results % d.groups != 0 ||
      d.channels % d.offset_groups != 0 || weight[1].value() * d.groups != d.channels ||
      offset[1].value() != d.offset_groups * d.taps() * 2)
    throw c.error("its channels, groups and offsets do not fit each other");
  return d;
}

/// Where each tap of each window is along an axis before it is moved, of (1, 1, taps, positions).
Expr unmoved(const Conversion& c, const Deformed& d, size_t axis, DType type) {
  std::vector<double> places;
  for (int64_t tap = 0; tap < d.taps(); ++tap)
    for (int64_t at = 0; at < d.positions(); ++at) {
      const int64_t k = axis == 0 ? tap / d.window.kernel.at(1) : tap % d.window.kernel.at(1);
      const int64_t i = axis == 0 ? at / d.columns : at % d.columns;
      places.push_back(static_cast<double>(i * d.window.strides.at(axis) - d.window.before[axis] +
                                           k * d.window.dilations[axis]));
    }
  return c.constant(reals_array({1, 1, d.taps(), d.positions()}, places, type));
}

/// One of the two elements around each position along an axis.
struct Neighbour {
  Expr at, weight;  ///< whole numbers of int32 within the data, and how much of each; 0 outside
};
Neighbour neighbour(const Conversion& c, const Expr& position, int64_t extent, bool second) {
  const DType type = tensor_type(position).dtype(), int32 = DType::int_(32);
  const Expr first = c.call("floor", {position}), share = c.call("subtract", {position, first}),
             one = c.scalar(1, type), last = c.scalar(static_cast<double>(extent - 1), type);
  const Expr at = second ? c.call("add", {first, one}) : first;
  const Expr inside = c.call(
      "logical_and", {c.call("greater_equal", {at, c.scalar(0, type)}), c.call("less_equal", {at, last})});
  const Expr weight = second ? share : c.call("subtract", {one, share});
  const Expr bounded = c.call("minimum", {c.call("maximum", {at, c.scalar(0, type)}), last});
  return {c.cast(bounded, int32), c.call("where", {inside, weight, c.scalar(0, type)})};
}

/// The elements that each window reads, of (batch, offset groups, channels of one, taps * positions).
Expr sampled_columns(const Conversion& c, const Deformed& d) {
  const DType type = c.dtype(0);
  const int64_t channels = d.channels / d.offset_groups, read = d.taps() * d.positions();
  const Expr offsets = c.reshape(c[2], {d.batch, d.offset_groups, d.taps(), 2, d.positions()});
  const auto position = [&](size_t axis) {
    const Expr moved = c.call("take", {offsets, c.scalar(static_cast<double>(axis), DType::int_(64))},
                              {{"axis", 3}, {"mode", "clip"}});
    return c.call("add", {moved, unmoved(c, d, axis, type)});
  };
  const Expr y = position(0), x = position(1);
  const Expr data = c.reshape(c[0], {d.batch, d.offset_groups, channels, d.height * d.width});
  const std::vector<int64_t> wide{d.batch, d.offset_groups, channels, read};
  Expr sum;
  for (const bool below : {false, true})
    for (const bool right : {false, true}) {
      const Neighbour row = neighbour(c, y, d.height, below), column = neighbour(c, x, d.width, right);
      const Expr at = c.call(
          "add",
          {c.call("multiply", {row.at, c.scalar(static_cast<double>(d.width), DType::int_(32))}), column.at});
      const Expr index = c.call("broadcast_to", {c.reshape(at, {d.batch, d.offset_groups, 1, read})},
                                {{"shape", wide}, {"dtype", ""}});
      const Expr weight =
          c.reshape(c.call("multiply", {row.weight, column.weight}), {d.batch, d.offset_groups, 1, read});
      const Expr part = c.call("multiply", {c.call("gather", {data, index}, {{"axis", 3}}), weight});
      sum = sum ? c.call("add", {sum, part}) : part;
    }
  if (!c.has(4)) return sum;
  return c.call("multiply", {sum, c.reshape(c[4], {d.batch, d.offset_groups, 1, read})});
}

Values deform_conv(Conversion& c) {
  for (const size_t input : {0u, 1u, 2u})
    if (!c.has_known_shape(input)) return c.later(c.rank(0), c.dtype(0));
  const Deformed d = deformed(c);
  const int64_t inner = d.channels / d.groups * d.taps(), outer = d.results / d.groups;
  const Expr columns = c.reshape(sampled_columns(c, d), {d.batch * d.groups, inner, d.positions()});
  const Expr weights =
      c.call("broadcast_to", {c.reshape(c[1], {1, d.groups, outer, inner})},
             {{"shape", std::vector<int64_t>{d.batch, d.groups, outer, inner}}, {"dtype", ""}});
  const Expr product =
      c.call("nn.batch_matmul", {c.reshape(weights, {d.batch * d.groups, outer, inner}), columns},
             {{"transpose_a", false}, {"transpose_b", false}});
  const Expr result = c.reshape(product, {d.batch, d.results, d.rows, d.columns});
  return {c.has(3) ? c.call("nn.bias_add", {result, c[3]}, {{"axis", 1}}) : result};
}

// ---- Boxes.

/// Corners (y, x) in ascending order, of boxes that are two corners, or a middle and a size.
Expr corners(const Conversion& c) {
  const DType type = c.dtype(0);
  const auto part = [&](int64_t from, int64_t to) {
    return c.call("strided_slice", {c[0]},
                  {{"begin", std::vector<int64_t>{from}},
                   {"end", std::vector<int64_t>{to}},
                   {"strides", std::vector<int64_t>{1}},
                   {"slice_mode", "end"},
                   {"axes", std::vector<int64_t>{2}}});
  };
  Expr one = part(0, 2), other = part(2, 4);
  if (c.integer("center_point_box", 0) != 0) {
    // (x, y), width and height: the order of the axes makes no difference to what two boxes share.
    const Expr half = c.call("multiply", {other, c.scalar(0.5, type)});
    other = c.call("add", {one, half}), one = c.call("subtract", {one, half});
  }
  return c.call("concatenate", {tuple({c.call("minimum", {one, other}), c.call("maximum", {one, other})})},
                {{"axis", 2}});
}

Values non_max_suppression(Conversion& c) {
  const DType float32 = DType::float_(32), int64 = DType::int_(64), int32 = DType::int_(32);
  const Dim boxes = c.type(0).shape().at(1);
  if (!c.has_known_shape(0) || !c.has_known_shape(1))
    return c.later({baton::tensor_type({Dim::any(), Dim(3)}, int64)});
  // No more than there are: a larger number may not fit into 32 bits.
  const Expr most =
      c.has(2) ? c.call("minimum", {c.reshape(c[2], {}), c.scalar(static_cast<double>(boxes.value()), int64)})
               : c.scalar(0, int64);
  Expr threshold = c.has(3) ? c.reshape(c[3], {}) : c.scalar(0, float32);
  // Boxes that share exactly the threshold stay, and Relay's operator drops them: the next larger number.
  const Expr bits = c.call("reinterpret", {threshold}, {{"dtype", int32}});
  const Expr next = c.call("reinterpret", {c.call("add", {bits, c.scalar(1, int32)})}, {{"dtype", float32}});
  threshold = c.call("maximum", {next, c.scalar(1.17549435e-38, float32)});
  const Expr least = c.has(4) ? c.reshape(c[4], {}) : c.scalar(-INFINITY, float32);
  const Expr both =
      c.call("vision.all_class_non_max_suppression",
             {corners(c), c[1], c.call("maximum", {most, c.scalar(0, int64)}), threshold, least},
             {{"output_format", "onnx"}});
  const auto rows = [&](int64_t value) { return c.vector({value}); };
  return {c.call("dyn.strided_slice", {c.item(both, 0), rows(0), c.item(both, 1), rows(1)},
                 {{"slice_mode", "end"}})};
}

}  // namespace

const std::vector<Operator>& sampling_operators() {
  static const std::vector<Operator> all = {
      {"", "AffineGrid", {20}, &affine_grid},
      {"", "DeformConv", {19, 22}, &deform_conv},
      {"", "GridSample", {16, 20, 22}, &grid_sample},
      {"", "MaxRoiPool", {1, 22}, &max_roi_pool},
      {"", "NonMaxSuppression", {10, 11}, &non_max_suppression},
      {"", "RoiAlign", {10, 16, 22}, &roi_align},
  };
  return all;
}

}  // namespace baton::onnx
