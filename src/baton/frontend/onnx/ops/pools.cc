// Pools, and what turns them round.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/windows.h"

namespace baton::onnx {

namespace {

int64_t product_of(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{1}, std::multiplies<>());
}

// ---- Over all positions.

Values global_pool_by(Conversion& c, const char* op) {
  std::vector<int64_t> axes(static_cast<size_t>(std::max(0, c.rank(0) - 2)));
  std::iota(axes.begin(), axes.end(), int64_t{2});
  if (axes.size() == 2)
    return {c.call(std::string(op) == "max" ? "nn.global_max_pool2d" : "nn.global_avg_pool2d", {c[0]})};
  return {axes.empty() ? c[0] : c.call(op, {c[0]}, {{"axis", axes}, {"keepdims", true}})};
}
Values global_average_pool(Conversion& c) { return global_pool_by(c, "mean"); }
Values global_max_pool(Conversion& c) { return global_pool_by(c, "max"); }

/// `p` of the norm: a number in version 1, an integer since.
double exponent_of(const Conversion& c) {
  return c.version < 2 ? c.number("p", 2) : static_cast<double>(c.integer("p", 2));
}
Expr powers(const Conversion& c, double p) {
  const Expr size = c.call("abs", {c[0]});
  if (p == 1) return size;
  return p == 2 ? c.call("multiply", {size, size}) : c.call("power", {size, c.scalar(p, c.dtype(0))});
}
Expr root_of(const Conversion& c, const Expr& sum, double p) {
  if (p == 1) return sum;
  return p == 2 ? c.call("sqrt", {sum}) : c.call("power", {sum, c.scalar(1 / p, c.dtype(0))});
}

Values global_lp_pool(Conversion& c) {
  std::vector<int64_t> axes(static_cast<size_t>(std::max(0, c.rank(0) - 2)));
  std::iota(axes.begin(), axes.end(), int64_t{2});
  const double p = exponent_of(c);
  const Expr sum = powers(c, p);
  return {root_of(c, axes.empty() ? sum : c.call("sum", {sum}, {{"axis", axes}, {"keepdims", true}}), p)};
}

// ---- Windows.

/// With ceil_mode, ONNX leaves out a last window that begins in the padding behind; Relay keeps it.
Expr without_late_windows(Conversion& c, const Expr& pooled, const Window& window) {
  if (c.integer("ceil_mode", 0) == 0) return pooled;
  std::vector<int64_t> ends, axes;
  for (size_t i = 0; i < window.axes(); ++i) {
    const Dim extent = c.type(0).shape().at(i + 2), results = tensor_type(pooled).shape().at(i + 2);
    if ((results.value() - 1) * window.strides.at(i) < extent.value() + window.before[i]) continue;
    ends.push_back(results.value() - 1), axes.push_back(static_cast<int64_t>(i) + 2);
  }
  if (axes.empty()) return pooled;
  return c.call("strided_slice", {pooled},
                {{"begin", std::vector<int64_t>(axes.size(), 0)},
                 {"end", ends},
                 {"strides", std::vector<int64_t>(axes.size(), 1)},
                 {"slice_mode", "end"},
                 {"axes", axes}});
}

Expr pooled(Conversion& c, const char* name, const Window& window, const Expr& data, bool ceil,
            std::optional<bool> counts_padding) {
  const size_t axes = checked_axes(c, window.axes());
  NamedAttrs attrs{{"pool_size", window.kernel},
                   {"strides", window.strides},
                   {"dilation", window.dilations},
                   {"padding", window.padding()},
                   {"ceil_mode", ceil}};
  if (counts_padding) attrs.emplace_back("count_include_pad", *counts_padding);
  return c.call(by_axes(name, axes), {data}, attrs);
}

Values average_pool(Conversion& c) {
  if (windows_wait(c)) return c.later(c.rank(0), c.dtype(0));
  const Window window = window_of(c);
  const Expr all = pooled(c, "nn.avg_pool", window, c[0], c.integer("ceil_mode", 0) != 0,
                          c.integer("count_include_pad", 0) != 0);
  return {without_late_windows(c, all, window)};
}

/// Padding counts as zeros, so that the sum is a mean times the size of a window.
Values lp_pool(Conversion& c) {
  if (windows_wait(c)) return c.later(c.rank(0), c.dtype(0));
  Window window = window_of(c);
  const double p = exponent_of(c);
  if (c.integer("ceil_mode", 0) != 0) {
    const std::vector<int64_t> counts = window_counts(c, window);
    for (size_t i = 0; i < window.axes(); ++i)  // all windows are whole
      window.after[i] = std::max<int64_t>(0, (counts[i] - 1) * window.strides.at(i) +
                                                 (window.kernel.at(i) - 1) * window.dilations[i] + 1 -
                                                 c.type(0).shape().at(i + 2).value() - window.before[i]);
  }
  const Expr mean = pooled(c, "nn.avg_pool", window, powers(c, p), false, true);
  const Expr sum =
      c.call("multiply", {mean, c.scalar(static_cast<double>(product_of(window.kernel)), c.dtype(0))});
  return {root_of(c, sum, p)};
}

// ---- Largest elements, and where they are.

/// For each window and each of its places, which element of the data is there, by its position in memory;
/// -1: padding.
std::vector<int32_t> places_of(const Conversion& c, const std::vector<int64_t>& extents,
                               const std::vector<int64_t>& counts, const Window& window) {
  std::vector<int32_t> places{0};
  // Axis by axis, a table of (windows so far, taps so far) becomes one of (windows, count, taps, kernel).
  int64_t windows = 1, taps = 1;
  for (size_t i = 0; i < window.axes(); ++i) {
    const int64_t count = counts[i], kernel = window.kernel.at(i);
    std::vector<int32_t> more(c.table_size({windows, count, taps, kernel}));
    for (int64_t w = 0; w < windows * count; ++w)
      for (int64_t t = 0; t < taps * kernel; ++t) {
        const int64_t at =
            w % count * window.strides.at(i) + t % kernel * window.dilations[i] - window.before[i];
        const int32_t outer = places[static_cast<size_t>(w / count * taps + t / kernel)];
        const bool inside = outer >= 0 && at >= 0 && at < extents.at(i);
        more[static_cast<size_t>(w * taps * kernel + t)] =
            inside ? static_cast<int32_t>(outer * extents.at(i) + at) : -1;
      }
    places = std::move(more);
    windows *= count, taps *= kernel;
  }
  return places;
}

/// The same element's position where the first axis is the innermost one.
int64_t column_major(int64_t place, const std::vector<int64_t>& extents) {
  std::vector<int64_t> index(extents.size());
  for (size_t i = extents.size(); i-- > 0; place /= extents.at(i)) index[i] = place % extents.at(i);
  int64_t at = 0;
  for (size_t i = extents.size(); i-- > 0;) at = at * extents.at(i) + index[i];
  return at;
}

/// Padding is never the largest: in its places stands an element of the same window, the first one.
void use_data_for_padding(std::vector<int32_t>& places, int64_t taps) {
  for (size_t window = 0; window < places.size(); window += static_cast<size_t>(taps)) {
    const auto begin = places.begin() + static_cast<std::ptrdiff_t>(window), end = begin + taps;
    const auto first = std::find_if(begin, end, [](int32_t place) { return place >= 0; });
    std::replace(begin, end, -1, first == end ? 0 : *first);
  }
}

/// Positions of the largest elements in the whole tensor: the first of equals.
Expr largest_places(Conversion& c, const Window& window) {
  std::vector<int64_t> shape, extents;
  for (const Dim each : c.type(0).shape()) shape.push_back(each.value());
  extents.assign(shape.begin() + 2, shape.end());
  const std::vector<int64_t> counts = window_counts(c, window);
  std::vector<int32_t> places = places_of(c, extents, counts, window);
  const int64_t batch = shape.at(0), channels = shape.at(1), size = product_of(extents),
                windows = product_of(counts), taps = product_of(window.kernel);
  const bool by_columns = c.integer("storage_order", 0) != 0;
  use_data_for_padding(places, taps);
  std::vector<int64_t> numbers;
  for (const int32_t place : places) numbers.push_back(by_columns ? column_major(place, extents) : place);
  const Expr flat = c.reshape(c[0], {batch, channels, size});
  const Expr table = c.constant(NDArray::of<int32_t>({windows, taps}, places, DType::int_(32)));
  const Expr taken = c.call("take", {flat, table}, {{"axis", 2}, {"mode", "clip"}});
  const Expr first = c.call("argmax", {taken}, {{"axis", std::vector<int64_t>{3}}, {"keepdims", false}});
  std::vector<int32_t> rows(c.table_size({windows}));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int32_t>(static_cast<int64_t>(i) * taps);
  const Expr at = c.call("add", {first, c.constant(NDArray::of<int32_t>({windows}, rows, DType::int_(32)))});
  const Expr place = c.call("take", {c.vector(numbers), at}, {{"axis", 0}, {"mode", "clip"}});
  std::vector<int64_t> offsets;
  offsets.reserve(c.table_size({batch, channels}));
  for (int64_t i = 0; i < batch * channels; ++i) offsets.push_back(i * size);
  const Expr all = c.call("add", {place, c.reshape(c.vector(offsets), {batch, channels, 1})});
  std::vector<int64_t> result{batch, channels};
  result.insert(result.end(), counts.begin(), counts.end());
  return c.reshape(all, result);
}

Values max_pool(Conversion& c) {
  const DType int64 = DType::int_(64);
  if (windows_wait(c) || (c.wants(1) && !c.has_known_shape(0))) {
    const std::vector<Dim> shape(static_cast<size_t>(c.rank(0)), Dim::any());
    return c.later({baton::tensor_type(shape, c.dtype(0)), baton::tensor_type(shape, int64)});
  }
  const Window window = window_of(c);
  const Expr all = pooled(c, "nn.max_pool", window, c[0], c.integer("ceil_mode", 0) != 0, std::nullopt);
  Values results{without_late_windows(c, all, window)};
  if (c.wants(1)) results.emplace_back(largest_places(c, window));
  return results;
}

/// Elements go back to the places that MaxPool took them from; the rest is 0.
Values max_unpool(Conversion& c) {
  if (!c.has_known_shape(0) || !c.knows({2})) return c.later(c.rank(0), c.dtype(0));
  const Window window = window_of(c);
  std::vector<int64_t> shape{c.type(0).shape().at(0).value(), c.type(0).shape().at(1).value()};
  for (size_t i = 0; i < window.axes(); ++i)
    shape.push_back((c.type(0).shape().at(i + 2).value() - 1) * window.strides.at(i) - window.before[i] -
                    window.after[i] + window.kernel.at(i));
  const int64_t size = product_of(shape);
  const DType type = c.dtype(0);
  if (c.type(0).shape() != c.type(1).shape()) throw c.error("its elements and places are not equally many");
  const Expr zeros =
      c.call("full", {c.scalar(0, type)}, {{"shape", std::vector<int64_t>{size}}, {"dtype", type}});
  const Expr flat = c.call("scatter", {zeros, c.reshape(c[1], {-1}), c.reshape(c[0], {-1})}, {{"axis", 0}});
  const Expr result = c.reshape(flat, shape);
  if (!c.has(2)) return {result};
  const std::vector<int64_t> wanted = *c.numbers(2);
  if (wanted.size() != shape.size()) throw c.error("`output_shape` is no shape of its rank");
  AttrList widths;
  for (size_t i = 0; i < shape.size(); ++i)
    widths.emplace_back(std::vector<int64_t>{0, wanted[i] - shape.at(i)});
  return {c.call("nn.pad", {result, c.scalar(0, type)}, {{"pad_width", widths}, {"pad_mode", "constant"}})};
}

// ---- Col2Im: sums of what windows say of each element.

/// For each element of the image, and each place in a window, which number of the columns belongs there, of
/// (places, windows); `none` where no window has it there.
std::vector<int32_t> contributions(const Conversion& c, const std::vector<int64_t>& image,
                                   const std::vector<int64_t>& counts, const Window& window) {
  const int64_t windows = product_of(counts), taps = product_of(window.kernel), size = product_of(image);
  const std::vector<int32_t> places = places_of(c, image, counts, window);
  std::vector<int32_t> table(c.table_size({size, taps}), static_cast<int32_t>(windows * taps));
  for (int64_t w = 0; w < windows; ++w)
    for (int64_t t = 0; t < taps; ++t)
      if (const int32_t at = places[static_cast<size_t>(w * taps + t)]; at >= 0)
        table[static_cast<size_t>(at * taps + t)] = static_cast<int32_t>(t * windows + w);
  return table;
}

Values col2im(Conversion& c) {
  const std::vector<Dim>& given = c.type(1).shape();
  if (given.size() != 1 || given.at(0).is_any()) throw c.not_supported("images of a rank that is not known");
  const int rank = 2 + static_cast<int>(given.at(0).value());
  if (!c.knows({1, 2}) || !c.has_known_shape(0)) return c.later(rank, c.dtype(0));
  const std::vector<int64_t> image = *c.numbers(1);
  Window window = window_of_axes(c, *c.numbers(2));
  if (image.size() != window.axes()) throw c.error("`image_shape` and `block_shape` are not equally long");
  std::vector<int64_t> counts;
  for (size_t i = 0; i < image.size(); ++i)
    counts.push_back((image[i] + window.before[i] + window.after[i] -
                      (window.kernel.at(i) - 1) * window.dilations[i] - 1) /
                         window.strides.at(i) +
                     1);
  const int64_t taps = product_of(window.kernel), windows = product_of(counts), size = product_of(image);
  const std::vector<Dim>& shape = c.type(0).shape();
  if (shape.size() != 3 || shape.at(1).value() % taps != 0 || shape.at(2).value() != windows)
    throw c.error("its columns are no (batch, channels * " + std::to_string(taps) + ", " +
                  std::to_string(windows) + ")");
  const int64_t batch = shape.at(0).value(), channels = shape.at(1).value() / taps;
  const DType type = c.dtype(0);
  AttrList widths;
  for (const int64_t behind : {0, 0, 1}) widths.emplace_back(std::vector<int64_t>{0, behind});
  const Expr columns =
      c.call("nn.pad", {c.reshape(c[0], {batch, channels, taps * windows}), c.scalar(0, type)},
             {{"pad_width", widths}, {"pad_mode", "constant"}});
  const Expr table = c.constant(
      NDArray::of<int32_t>({size, taps}, contributions(c, image, counts, window), DType::int_(32)));
  const Expr parts = c.call("take", {columns, table}, {{"axis", 2}, {"mode", "clip"}});
  const Expr sum = c.call("sum", {parts}, {{"axis", std::vector<int64_t>{3}}, {"keepdims", false}});
  std::vector<int64_t> result{batch, channels};
  result.insert(result.end(), image.begin(), image.end());
  return {c.reshape(sum, result)};
}

}  // namespace

const std::vector<Operator>& pooling_operators() {
  static const std::vector<Operator> all = {
      {"", "AveragePool", {1, 7, 10, 11, 19, 22}, &average_pool},
      {"", "Col2Im", {18}, &col2im},
      {"", "GlobalAveragePool", {1, 22}, &global_average_pool},
      {"", "GlobalLpPool", {1, 2, 22}, &global_lp_pool},
      {"", "GlobalMaxPool", {1, 22}, &global_max_pool},
      {"", "LpPool", {1, 2, 11, 18, 22}, &lp_pool},
      {"", "MaxPool", {1, 8, 10, 11, 12, 22}, &max_pool},
      {"", "MaxUnpool", {9, 11, 22}, &max_unpool},
  };
  return all;
}

}  // namespace baton::onnx
