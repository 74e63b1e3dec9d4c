// What qnn operators mean, over real numbers.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "baton/ir/inspect.h"
#include "baton/ops/shared/conv_attrs.h"
#include "baton/support/error.h"

#include "transform/program_interpreter.h"

namespace baton::run {

namespace {

/// An affine map between integers and real numbers.
struct Quanta {
  double scale = 1, zero = 0;
};

double scalar_at(const std::vector<NDArray>& args, size_t at) {
  if (args.at(at).size() != 1) throw NotSupported("plain qnn: scales per channel");
  return element(args[at], 0);
}

Quanta quanta_at(const std::vector<NDArray>& args, size_t at) {
  return {scalar_at(args, at), scalar_at(args, at + 1)};
}

template <class T>
void fill(NDArray& to, const std::function<double(int64_t)>& value) {
  for (int64_t i = 0; i < to.size(); ++i) {
    double x = value(i);
    if constexpr (std::is_integral_v<T>)
      x = std::clamp(x, static_cast<double>(std::numeric_limits<T>::min()),
                     static_cast<double>(std::numeric_limits<T>::max()));
    static_cast<T*>(to.data())[i] = static_cast<T>(x);
  }
}

NDArray made(const CallNode& call, const std::function<double(int64_t)>& value) {
  const auto* type = as_type<TensorTypeNode>(call.checked_type());
  NDArray to = NDArray::empty(type->extents(), type->dtype());
  if (type->dtype() == DType::float_(32))
    fill<float>(to, value);
  else if (type->dtype() == DType::int_(8))
    fill<int8_t>(to, value);
  else if (type->dtype() == DType::uint_(8))
    fill<uint8_t>(to, value);
  else if (type->dtype() == DType::int_(16))
    fill<int16_t>(to, value);
  else if (type->dtype() == DType::int_(32))
    fill<int32_t>(to, value);
  else
    throw NotSupported("plain qnn: results of " + type->dtype().str());
  return to;
}

NDArray quantized(const CallNode& call, Quanta to, const std::function<double(int64_t)>& real) {
  return made(call, [&](int64_t i) { return std::floor(real(i) / to.scale + 0.5) + to.zero; });
}

double real_at(const NDArray& array, int64_t at, Quanta quanta) {
  return (element(array, at) - quanta.zero) * quanta.scale;
}

// Which element of `from` the element `at` of a result of `shape` reads.
int64_t broadcast(int64_t at, const Shape& shape, const Shape& from) {
  int64_t index = 0, stride = 1;
  for (size_t back = 1; back <= shape.size(); ++back) {
    const int64_t i = at % shape[shape.size() - back];
    at /= shape[shape.size() - back];
    if (back > from.size()) continue;
    const int64_t extent = from[from.size() - back];
    index += extent == 1 ? 0 : i * stride;
    stride *= extent;
  }
  return index;
}

NDArray binary(const CallNode& call, const std::vector<NDArray>& args, double (*f)(double, double)) {
  const Quanta a = quanta_at(args, 2), b = quanta_at(args, 4);
  const Shape shape = as_type<TensorTypeNode>(call.checked_type())->extents();
  return quantized(call, quanta_at(args, 6), [&](int64_t i) {
    return f(real_at(args[0], broadcast(i, shape, args[0].shape()), a),
             real_at(args[1], broadcast(i, shape, args[1].shape()), b));
  });
}

// Sums of products of what the integers are without their zero points; the scales multiply.
NDArray dense(const CallNode& call, const std::vector<NDArray>& args) {
  const double a = scalar_at(args, 2), b = scalar_at(args, 3);
  const int64_t inner = args[1].shape()[1], units = args[1].shape()[0];
  return made(call, [&](int64_t i) {
    double sum = 0;
    for (int64_t k = 0; k < inner; ++k)
      sum += (element(args[0], i / units * inner + k) - a) * (element(args[1], i % units * inner + k) - b);
    return sum;
  });
}

NDArray conv2d(const CallNode& call, const std::vector<NDArray>& args) {
  const double a = scalar_at(args, 2), b = scalar_at(args, 3);
  const Padding2D padding = *padding_2d(ints_attr(call, "padding"));
  const auto strides = ints_attr(call, "strides"), dilation = ints_attr(call, "dilation");
  if (int_attr(call, "groups") != 1 || text_attr(call, "data_layout") != "NCHW" ||
      text_attr(call, "kernel_layout") != "OIHW")
    throw NotSupported("plain qnn: convolutions other than the plain one");
  const Shape out = as_type<TensorTypeNode>(call.checked_type())->extents(), &in = args[0].shape(),
              &kernel = args[1].shape();
  return made(call, [&](int64_t i) {
    const int64_t x = i % out[3], y = i / out[3] % out[2], o = i / (out[3] * out[2]) % out[1],
                  n = i / (out[3] * out[2] * out[1]);
    double sum = 0;
    for (int64_t c = 0; c < kernel[1]; ++c)
      for (int64_t r = 0; r < kernel[2]; ++r)
        for (int64_t s = 0; s < kernel[3]; ++s) {
          const int64_t row = y * strides[0] + r * dilation[0] - padding.top,
                        column = x * strides[1] + s * dilation[1] - padding.left;
          if (row < 0 || row >= in[2] || column < 0 || column >= in[3]) continue;
          sum += (element(args[0], ((n * in[1] + c) * in[2] + row) * in[3] + column) - a) *
                 (element(args[1], ((o * kernel[1] + c) * kernel[2] + r) * kernel[3] + s) - b);
        }
    return sum;
  });
}

}  // namespace

NDArray plain_quantized(const CallNode& call, const std::vector<NDArray>& args) {
  const std::string& name = call.op()->name;
  if (name == "qnn.quantize")
    return quantized(call, quanta_at(args, 1), [&](int64_t i) { return element(args[0], i); });
  if (name == "qnn.dequantize")
    return made(call, [&, from = quanta_at(args, 1)](int64_t i) { return real_at(args[0], i, from); });
  if (name == "qnn.requantize")
    return quantized(call, quanta_at(args, 3),
                     [&, from = quanta_at(args, 1)](int64_t i) { return real_at(args[0], i, from); });
  if (name == "qnn.add") return binary(call, args, [](double a, double b) { return a + b; });
  if (name == "qnn.subtract") return binary(call, args, [](double a, double b) { return a - b; });
  if (name == "qnn.mul") return binary(call, args, [](double a, double b) { return a * b; });
  if (name == "qnn.dense") return dense(call, args);
  if (name == "qnn.conv2d") return conv2d(call, args);
  throw NotSupported("no plain arithmetic for " + name);
}

}  // namespace baton::run
