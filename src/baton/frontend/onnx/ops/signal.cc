// Signals: Fourier transforms as products with matrices, in float64; windows; determinants.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/numbers.h"
#include "baton/ir/op_names.h"

namespace baton::onnx {

namespace {

const DType kReal = DType::float_(64);

// ---- Complex tensors: the last axis is transformed.

struct Complex {
  Expr real, imaginary;  ///< imaginary null: 0
};

Expr times(const Conversion& c, const Expr& a, const Expr& b) { return c.call("multiply", {a, b}); }
Expr plus(const Conversion& c, const Expr& a, const Expr& b) { return c.call("add", {a, b}); }
Expr minus(const Conversion& c, const Expr& a, const Expr& b) { return c.call("subtract", {a, b}); }

Complex each(const Complex& x, const std::function<Expr(const Expr&)>& function) {
  return {function(x.real), x.imaginary ? function(x.imaginary) : Expr()};
}

/// cos and `sign` sin of 2 pi k i / n, of (rows, columns). The turn is reduced in integers, so that angles
/// are exact.
Complex turns(const Conversion& c, int64_t rows, int64_t columns, int64_t n, double sign) {
  std::vector<double> real, imaginary;
  real.reserve(c.table_size({rows, columns}));
  for (int64_t k = 0; k < rows; ++k)
    for (int64_t i = 0; i < columns; ++i) {
      const double angle = 2 * M_PI * static_cast<double>(k * i % n) / static_cast<double>(n);
      real.push_back(std::cos(angle)), imaginary.push_back(sign * std::sin(angle));
    }
  return {c.constant(reals_array({rows, columns}, real, kReal)),
          c.constant(reals_array({rows, columns}, imaginary, kReal))};
}

Complex product(const Conversion& c, const Complex& a, const Complex& b,
                const std::function<Expr(const Expr&, const Expr&)>& multiply) {
  if (!a.imaginary) return {multiply(a.real, b.real), multiply(a.real, b.imaginary)};
  return {minus(c, multiply(a.real, b.real), multiply(a.imaginary, b.imaginary)),
          plus(c, multiply(a.real, b.imaginary), multiply(a.imaginary, b.real))};
}

/// The first `bins` of the frequencies of a signal of n elements, by one matrix.
Complex by_matrix_of_turns(const Conversion& c, const Complex& x, int64_t n, int64_t bins, double sign) {
  return product(c, x, turns(c, bins, n, n, sign), [&](const Expr& data, const Expr& matrix) {
    return c.call(op_names::kDense, {data, matrix}, {{"units", bins}});
  });
}

/// The factor of n next to its root; 1: n is prime.
int64_t middle_factor(int64_t n) {
  for (auto factor = static_cast<int64_t>(std::sqrt(static_cast<double>(n))); factor > 1; --factor)
    if (n % factor == 0) return factor;
  return 1;
}

constexpr int64_t kMostByMatrix = 512;  // beyond, the matrix is larger than a cache

/// Cooley and Tukey, 1965: n = a b, x[b i + j] to X[k + a l] by transforms of length a over i, turns by
/// j k / n, and transforms of length b over j.
Complex transformed(const Conversion& c, const Complex& x, int64_t rows, int64_t n, double sign) {
  const int64_t a = n > kMostByMatrix ? middle_factor(n) : 1, b = n / a;
  if (a == 1) return by_matrix_of_turns(c, x, n, n, sign);
  const auto reshaped = [&](const Complex& of, int64_t first, int64_t second, bool turned) {
    return each(of, [&](const Expr& part) {
      const Expr wide = c.reshape(part, {rows, first, second});
      return turned ? c.transpose(wide, {0, 2, 1}) : wide;
    });
  };
  const auto flat = [&](const Complex& of, int64_t last) {
    return each(of, [&](const Expr& part) { return c.reshape(part, {-1, last}); });
  };
  Complex part = flat(reshaped(x, a, b, true), a);                       // rows b, a
  part = reshaped(transformed(c, part, rows * b, a, sign), b, a, true);  // rows, a (k), b (j)
  part = product(c, part, turns(c, a, b, n, sign),
                 [&](const Expr& data, const Expr& turn) { return times(c, data, turn); });
  part = transformed(c, flat(part, b), rows * a, b, sign);
  return flat(reshaped(part, a, b, true), n);
}

/// Padded with zeros, or cut, to `length` elements.
Expr with_length(const Conversion& c, const Expr& data, int axis, int64_t length) {
  const std::vector<Dim>& shape = tensor_type(data).shape();
  const int64_t more = length - shape.at(static_cast<size_t>(axis)).value();
  if (more == 0) return data;
  AttrList widths;
  for (size_t i = 0; i < shape.size(); ++i)
    widths.emplace_back(std::vector<int64_t>{0, static_cast<int>(i) == axis ? more : 0});
  return c.call("nn.pad", {data, c.scalar(0, tensor_type(data).dtype())},
                {{"pad_width", widths}, {"pad_mode", "constant"}});
}

/// The real and imaginary part along the last axis; a part is (rows, length).
Complex parts_of(const Conversion& c, const Expr& data, int64_t length) {
  const int last = tensor_type(data).rank() - 1;
  const int64_t parts = last_extent(tensor_type(data)).value();
  if (parts != 1 && parts != 2)
    throw c.error("its last axis has " + std::to_string(parts) + " elements, and should have 1 or 2");
  const auto part = [&](int64_t which) {
    const Expr one = c.call("take", {data, c.scalar(static_cast<double>(which), DType::int_(64))},
                            {{"axis", last}, {"mode", "clip"}});
    return c.reshape(c.cast(one, kReal), {-1, length});
  };
  return {part(0), parts == 2 ? part(1) : Expr()};
}

/// A real signal of n elements from its frequencies up to the middle one.
Expr real_signal(const Conversion& c, const Complex& x, int64_t bins, int64_t n) {
  std::vector<double> cosines, sines;
  cosines.reserve(c.table_size({n, bins}));
  for (int64_t t = 0; t < n; ++t)
    for (int64_t k = 0; k < bins; ++k) {
      const double angle = 2 * M_PI * static_cast<double>(t * k % n) / static_cast<double>(n);
      const double weight = (k == 0 || 2 * k == n ? 1.0 : 2.0) / static_cast<double>(n);
      cosines.push_back(weight * std::cos(angle));
      sines.push_back(k == 0 || 2 * k == n ? 0 : -weight * std::sin(angle));
    }
  const auto by = [&](const Expr& data, const std::vector<double>& matrix) {
    return c.call(op_names::kDense, {data, c.constant(reals_array({n, bins}, matrix, kReal))},
                  {{"units", n}});
  };
  const Expr real = by(x.real, cosines);
  return x.imaginary ? plus(c, real, by(x.imaginary, sines)) : real;
}

/// The last axis of `x`, of the extents `shape` (…, n, 2 or 1), transformed: `data` is moved so that the
/// signals are the axis before the last.
Expr fourier(const Conversion& c, const Expr& data, int64_t n, bool inverse, bool onesided) {
  std::vector<int64_t> shape;
  for (const Dim each_dim : tensor_type(data).shape()) shape.push_back(each_dim.value());
  const size_t axis = shape.size() - 2;
  const DType type = tensor_type(data).dtype();
  const int64_t bins = n / 2 + 1, taken = inverse && onesided ? bins : n;
  const Expr whole = with_length(c, data, static_cast<int>(axis), taken);
  const Complex x = parts_of(c, whole, taken);
  int64_t rows = 1;
  for (size_t i = 0; i < axis; ++i) rows *= shape.at(i);
  if (inverse && onesided) {
    shape.at(axis) = n, shape.back() = 1;
    return c.reshape(c.cast(real_signal(c, x, bins, n), type), shape);
  }
  const bool few = onesided && n <= kMostByMatrix;
  Complex result = few ? by_matrix_of_turns(c, x, n, bins, -1) : transformed(c, x, rows, n, inverse ? 1 : -1);
  if (inverse)
    result = each(result, [&](const Expr& part) {
      return times(c, part, c.scalar(1 / static_cast<double>(n), kReal));
    });
  shape.at(axis) = onesided ? bins : n, shape.pop_back();
  const Complex formed = each(result, [&](const Expr& part) {
    const Expr cut = onesided && !few ? with_length(c, part, 1, bins) : part;
    return c.reshape(c.cast(cut, type), shape);
  });
  return c.call("stack", {tuple({formed.real, formed.imaginary})}, {{"axis", static_cast<int>(axis) + 1}});
}

Values dft(Conversion& c) {
  const int rank = c.rank(0);
  if (!c.knows({1, 2}) || !c.has_known_shape(0)) return c.later(rank, c.dtype(0));
  int64_t given = c.version < 20 ? c.integer("axis", 1) : -2;
  if (c.version >= 20 && c.has(2)) given = c.required_numbers(2, "axes").at(0);
  const int axis = c.axis(given, rank);
  if (axis == rank - 1) throw c.error("its axis is that of real and imaginary parts");
  const bool inverse = c.integer("inverse", 0) != 0, onesided = c.integer("onesided", 0) != 0;
  const int64_t extent = c.type(0).shape().at(static_cast<size_t>(axis)).value();
  int64_t n = inverse && onesided ? 2 * (extent - 1) : extent;
  if (c.has(1)) n = c.required_numbers(1, "lengths").at(0);
  if (n < 1) throw c.error("a transform of " + std::to_string(n) + " elements");
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::swap(order.at(static_cast<size_t>(axis)), order.at(static_cast<size_t>(rank) - 2));
  return {c.transpose(fourier(c, c.transpose(c[0], order), n, inverse, onesided), order)};
}

Values stft(Conversion& c) {
  if (!c.knows({1, 3}) || !c.has_known_shape(0) || (c.has(2) && !c.has_known_shape(2)))
    return c.later(4, c.dtype(0));
  std::vector<int64_t> shape;
  for (const Dim each_dim : c.type(0).shape()) shape.push_back(each_dim.value());
  if (shape.size() == 2) shape.push_back(1);
  if (shape.size() != 3) throw c.error("its signal has rank " + std::to_string(shape.size()));
  const int64_t step = c.required_numbers(1, "steps").at(0);
  const int64_t length = c.has(3)   ? c.required_numbers(3, "lengths").at(0)
                         : c.has(2) ? c.type(2).shape().at(0).value()
                                    : shape.at(1);
  if (step < 1 || length < 1 || length > shape.at(1))
    throw c.error("frames of " + std::to_string(length) + " elements, " + std::to_string(step) +
                  " apart, of a signal of " + std::to_string(shape.at(1)));
  const int64_t frames = (shape.at(1) - length) / step + 1;
  std::vector<int32_t> places;
  places.reserve(c.table_size({frames, length}));
  for (int64_t f = 0; f < frames; ++f)
    for (int64_t i = 0; i < length; ++i) places.push_back(static_cast<int32_t>(f * step + i));
  const Expr table = c.constant(NDArray::of<int32_t>({frames, length}, places, DType::int_(32)));
  Expr framed = c.call("take", {c.reshape(c[0], shape), table}, {{"axis", 1}, {"mode", "clip"}});
  if (c.has(2)) framed = times(c, framed, c.reshape(c[2], {length, 1}));
  return {fourier(c, framed, length, false, c.integer("onesided", 1) != 0)};
}

// ---- Windows.

/// constant + first cos(2 pi i / n) + second cos(4 pi i / n)
Values window_by(Conversion& c, double constant, double first, double second) {
  const int64_t to = c.integer("output_datatype", 1);
  const std::optional<DType> type = dtype_of(static_cast<Element>(to));
  if (!type) throw c.not_supported("windows of type " + element_name(static_cast<Element>(to)));
  if (!c.knows({0})) return c.later(1, *type);
  const int64_t size = c.required_numbers(0, "sizes").at(0);
  if (size < 0) throw c.error("its size is " + std::to_string(size));
  const auto length = static_cast<double>(c.integer("periodic", 1) != 0 ? size : size - 1);
  std::vector<double> values;
  values.reserve(c.table_size({size}));
  for (int64_t i = 0; i < size; ++i) {
    const double turn = 2 * M_PI * static_cast<double>(i) / length;
    values.push_back(constant + first * std::cos(turn) + second * std::cos(2 * turn));
  }
  return {c.cast(c.constant(reals_array({size}, values, kReal)), *type)};
}
Values hann_window(Conversion& c) { return window_by(c, 0.5, -0.5, 0); }
Values hamming_window(Conversion& c) { return window_by(c, 25.0 / 46, -21.0 / 46, 0); }
Values blackman_window(Conversion& c) { return window_by(c, 0.42, -0.5, 0.08); }

/// Triangles over the bins of a spectrum, evenly spaced on the scale of mels.
Values mel_weights(Conversion& c) {
  const int64_t to = c.integer("output_datatype", 1);
  const std::optional<DType> type = dtype_of(static_cast<Element>(to));
  if (!type) throw c.not_supported("weights of type " + element_name(static_cast<Element>(to)));
  for (size_t i = 0; i < 5; ++i)
    if (!c.constant(i) && !c.numbers(i)) return c.later(2, *type);
  const auto number = [&](size_t i) { return reals_of(c, i).at(0); };
  const auto mels = static_cast<int64_t>(number(0)), length = static_cast<int64_t>(number(1)),
             bins = length / 2 + 1;
  const double rate = number(2);
  if (mels < 0 || length < 1 || !(rate > 0)) throw c.error("its sizes or its rate are not greater than 0");
  const double low = 2595 * std::log10(1 + number(3) / 700), high = 2595 * std::log10(1 + number(4) / 700);
  static_cast<void>(c.table_size({bins, mels}));
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < mels + 2; ++i) {
    const double mel = low + static_cast<double>(i) * (high - low) / static_cast<double>(mels + 2);
    const double hertz = 700 * (std::pow(10, mel / 2595) - 1);
    edges.push_back(static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * hertz / rate)));
  }
  std::vector<double> weights(c.table_size({bins, mels}));
  const auto set = [&](int64_t bin, int64_t mel, double weight) {
    if (bin < 0 || bin >= bins) throw c.error("an edge lies beyond the spectrum");
    weights[static_cast<size_t>(bin * mels + mel)] = weight;
  };
  for (size_t i = 0; i + 2 < edges.size(); ++i) {
    const auto mel = static_cast<int64_t>(i);
    const int64_t left = edges[i], centre = edges[i + 1], right = edges[i + 2];
    if (left == centre) set(centre, mel, 1);
    for (int64_t bin = left; left != centre && bin <= centre; ++bin)
      set(bin, mel, static_cast<double>(bin - left) / static_cast<double>(centre - left));
    for (int64_t bin = centre; bin < right; ++bin)
      set(bin, mel, static_cast<double>(right - bin) / static_cast<double>(right - centre));
  }
  return {c.cast(c.constant(reals_array({bins, mels}, weights, kReal)), *type)};
}

// ---- Determinants.

/// One step of elimination with the largest element of the first column as pivot: of (batch, m, m) a matrix
/// (batch, m - 1, m - 1); `factor` becomes what the determinant is divided by.
Expr eliminated(const Conversion& c, const Expr& matrix, int64_t batch, int64_t m, Expr& factor) {
  const DType type = tensor_type(matrix).dtype();
  const auto part = [&](const Expr& of, std::vector<int64_t> begin, std::vector<int64_t> end) {
    return c.call("strided_slice", {of},
                  {{"begin", begin}, {"end", end}, {"strides", std::vector<int64_t>{1, 1, 1}}});
  };
  const Expr column = c.call("abs", {part(matrix, {0, 0, 0}, {batch, m, 1})});
  const Expr place =
      c.call("argmax", {column}, {{"axis", std::vector<int64_t>{1}}, {"keepdims", true}});  // (batch, 1, 1)
  const Expr row = c.call("gather",
                          {matrix, c.call("broadcast_to", {place},
                                          {{"shape", std::vector<int64_t>{batch, 1, m}}, {"dtype", ""}})},
                          {{"axis", 1}});
  std::vector<int64_t> numbers(static_cast<size_t>(m));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  const Expr is_pivot = c.call("equal", {c.reshape(c.vector(numbers, DType::int_(32)), {1, m, 1}), place});
  const Expr swapped = c.call("where", {is_pivot, part(matrix, {0, 0, 0}, {batch, 1, m}), matrix});
  const Expr rest = part(swapped, {0, 1, 0}, {batch, m, m}), pivot = part(row, {0, 0, 0}, {batch, 1, 1});
  const Expr zero = c.scalar(0, type), one = c.scalar(1, type);
  const Expr is_first = c.call("equal", {place, c.scalar(0, DType::int_(32))});
  factor = times(c, factor, times(c, pivot, c.call("where", {is_first, one, c.scalar(-1, type)})));
  const Expr is_zero = c.call("equal", {pivot, zero});
  const Expr share =
      c.call("divide", {part(rest, {0, 0, 0}, {batch, m - 1, 1}), c.call("where", {is_zero, one, pivot})});
  return minus(c, part(rest, {0, 0, 1}, {batch, m - 1, m}),
               times(c, share, part(row, {0, 0, 1}, {batch, 1, m})));
}

Values determinant(Conversion& c) {
  const int rank = c.rank(0);
  if (rank < 2) throw c.error("it has rank " + std::to_string(rank) + ", and should be a matrix");
  if (!c.has_known_shape(0)) return c.later(rank - 2, c.dtype(0));
  std::vector<int64_t> shape;
  for (const Dim each_dim : c.type(0).shape()) shape.push_back(each_dim.value());
  const int64_t n = shape.back();
  if (shape.at(shape.size() - 2) != n) throw c.error("its matrices are not square");
  shape.resize(shape.size() - 2);
  const int64_t batch = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  constexpr int64_t kMost = 64;
  if (n > kMost)
    throw c.not_supported("determinants of matrices of more than " + std::to_string(kMost) + " rows");
  const DType type = c.dtype(0);
  if (n == 0 || batch == 0) return {c.call("full", {c.scalar(1, type)}, {{"shape", shape}, {"dtype", type}})};
  Expr matrix = c.reshape(c[0], {batch, n, n});
  Expr result =
      c.call("full", {c.scalar(1, type)}, {{"shape", std::vector<int64_t>{batch, 1, 1}}, {"dtype", type}});
  for (int64_t m = n; m > 1; --m) matrix = eliminated(c, matrix, batch, m, result);
  return {c.reshape(times(c, result, matrix), shape)};
}

}  // namespace

const std::vector<Operator>& signal_operators() {
  static const std::vector<Operator> all = {
      {"", "BlackmanWindow", {17}, &blackman_window},
      {"", "DFT", {17, 20}, &dft},
      {"", "Det", {11, 22}, &determinant},
      {"", "HammingWindow", {17}, &hamming_window},
      {"", "HannWindow", {17}, &hann_window},
      {"", "MelWeightMatrix", {17}, &mel_weights},
      {"", "STFT", {17}, &stft},
  };
  return all;
}

}  // namespace baton::onnx
