#include "properties/random_quantized.h"

#include <algorithm>

#include "properties/dice.h"

namespace baton::properties {

namespace {

using Shape = std::vector<int>;

/// A length in units of the result's quantum, and of 1.
struct Length {
  double quanta = 0, plain = 0;
  Length operator+(const Length& other) const { return {quanta + other.quanta, plain + other.plain}; }
};
Length larger(const Length& a, const Length& b) {
  return {std::max(a.quanta, b.quanta), std::max(a.plain, b.plain)};
}

struct QuantizedValue {
  std::string name;
  Shape shape;
  double most = 0;      ///< the largest magnitude
  Length quantum, off;  ///< of the numbers in the quantised program
  bool exact = true;    ///< they are those of the floats
};

constexpr double kMostScale = 0.5, kMostNumber = 128 + 5;

class QuantizedWriter {
 public:
  explicit QuantizedWriter(uint64_t seed) : dice_(seed) {}

  QuantizedProgram write() {
    std::string results;
    double quanta = 0;
    lets_ = dice_.chance(20), plain_ = dice_.chance(60);
    for (int i = 0, count = 1 + dice_.below(2); i < count; ++i) {
      const int first = dice_.below(4);
      values_.clear(), most_ = 0, told_ = true;
      values_.push_back(leaf(first == 0 ? Shape{1, 2, 4, 4} : first == 1 ? Shape{2, 3, 4} : Shape{3, 4}));
      for (int steps = 1 + dice_.below(5); steps > 0; --steps) step();
      const QuantizedValue& last = values_.back();
      const std::string dtype = plain_ ? "int8" : dice_.word({"int8", "uint8", "int16", "int32"});
      told_ = told_ && dtype == "int8" && bits_ == "int8";
      // The scale holds all numbers on the way.
      const double scale = most_ / 100 + 1e-3;
      const bool simple = told_ || dice_.chance(50);
      const std::string pair = simple ? std::to_string(scale) + "f, " + std::to_string(dice_.below(5) - 2)
                                      : pair_along(last.shape, dice_.chance(25));
      results += (results.empty() ? "" : ", ") +
                 line("qnn.quantize(" + last.name + ", " + pair + ", out_dtype=\"" + dtype + "\")");
      if (!told_) quanta = -1;
      if (quanta >= 0) quanta = std::max(quanta, 2 + 2 * (last.off.quanta + last.off.plain / scale));
      if (dice_.chance(20)) results += ", " + dice_.one_of(values_).name;
      if (results.back() != ')' && dice_.chance(10)) quanta = -1;
    }
    return {"#[version = \"0.0.5\"]\ndef @main(" + params_ + ") {\n" + lines_ + "  (" + results + ")\n}\n",
            quanta};
  }

 private:
  std::string param(const char* stem, const Shape& shape, const std::string& dtype) {
    const std::string name = "%" + std::string(stem) + std::to_string(count_++);
    params_ += (params_.empty() ? "" : ", ") + name + ": " + tensor_text(shape, dtype);
    return name;
  }
  std::string line(const std::string& text) {
    const std::string name = "%" + std::string(lets_ ? "v" : "") + std::to_string(line_++);
    lines_ += std::string(lets_ ? "let " : "") + name + " = " + text + ";\n";
    return name;
  }

  // ---- Scales and zero points

  /// One that was written before, or a new one, of `shape`: (), (1), or (channels).
  std::string scale(const Shape& shape) {
    std::vector<std::string> fitting;
    for (const auto& [name, known] : scales_)
      if (known == shape) fitting.push_back(name);
    if (!fitting.empty() && dice_.chance(40)) return dice_.one_of(fitting);
    std::string made;
    switch (dice_.below(shape.empty() ? 7 : 5)) {
      case 0:
      case 1:
        made = param("s", shape, "float32");
        break;
      case 2:
        made = line("multiply(" + param("s", shape, "float32") + ", 0.5f)");
        break;
      case 3:
        made = line("(" + param("s", shape, "float32") + ", 1f)") + ".0";
        break;
      case 4:
        made = line("minimum(" + scale(shape) + ", " + param("s", shape, "float32") + ")");
        break;
      case 5:
        made = line("multiply(0.25f, 0.5f)");
        break;
      default:
        return dice_.word({"0.25f", "0.125f", "0.5f", "0.0625f"});
    }
    scales_.push_back({made, shape});
    return made;
  }
  std::string zero(const Shape& shape) {
    switch (dice_.below(shape.empty() ? 5 : 3)) {
      case 0:
        return param("z", shape, "int32");
      case 1:
        return line("add(" + param("z", shape, "int32") + ", 1)");
      case 2:
        return line("zeros(shape=[" + list_text(shape) + "], dtype=\"int32\")");
      default:
        return dice_.word({"0", "0", "1", "-2", "3"});
    }
  }
  /// ", scale, zero point[, axis]" for data of `shape`.
  std::string pair_along(const Shape& shape, bool per_channel) {
    const int rank = static_cast<int>(shape.size());
    if (!per_channel || rank == 0) {
      const Shape one = {1};
      return scale(dice_.chance(30) ? one : Shape{}) + ", " + zero(dice_.chance(20) ? one : Shape{});
    }
    const int axis = dice_.below(rank);
    const Shape channels{shape[axis]};
    const bool both = dice_.chance(70), scales = both || dice_.chance(50);
    return scale(scales ? channels : Shape{}) + ", " + zero(both || !scales ? channels : Shape{}) +
           ", axis=" + std::to_string(dice_.chance(30) ? axis - rank : axis);
  }

  // ---- Values

  QuantizedValue leaf(const Shape& shape) {
    if (!plain_ && dice_.chance(20)) bits_ = dice_.word({"uint8", "int16"}), told_ = false;
    const bool per_channel = !plain_ && dice_.chance(12);
    const std::string dtype = plain_ || dice_.chance(90) ? "int8" : bits_;
    if (dtype != "int8") told_ = false;
    const QuantizedValue made{
        line("qnn.dequantize(" + param("q", shape, dtype) + ", " + pair_along(shape, per_channel) + ")"),
        shape,
        kMostNumber * kMostScale,
        {0, kMostScale},
        {},
        true};
    most_ = std::max(most_, made.most);
    return made;
  }
  QuantizedValue weight(const Shape& shape, int axis) {
    const bool odd = !plain_ && dice_.chance(10);
    std::string pair;
    if (axis >= 0 && dice_.chance(40) && !odd)
      pair = scale({shape[axis]}) + ", " + zero(dice_.chance(60) ? Shape{shape[axis]} : Shape{}) +
             ", axis=" + std::to_string(axis);
    else
      pair = pair_along(shape, odd);
    return {line("qnn.dequantize(" + param("q", shape, "int8") + ", " + pair + ")"),
            shape,
            kMostNumber * kMostScale,
            {0, kMostScale},
            {},
            true};
  }
  QuantizedValue pick() { return dice_.chance(75) ? values_.back() : dice_.one_of(values_); }
  QuantizedValue partner(const QuantizedValue& x) {
    std::vector<QuantizedValue> same;
    for (const QuantizedValue& each : values_)
      if (each.shape == x.shape) same.push_back(each);
    return dice_.chance(60) ? dice_.one_of(same) : leaf(x.shape);
  }

  void add(const std::string& text, QuantizedValue value) {
    value.name = line(text);
    most_ = std::max(most_, value.most);
    values_.push_back(std::move(value));
  }
  /// A value that is rounded to the result's quantum.
  static QuantizedValue rounded(QuantizedValue x) {
    x.off = x.off + Length{1, 0} + x.quantum;
    x.quantum = {1, 0}, x.exact = false;
    return x;
  }

  void step() {
    const QuantizedValue x = pick();
    switch (dice_.below(6)) {
      case 0:
        return one(x);
      case 1:
        return two(x);
      case 2:
        return move(x);
      default:
        return product(x);
    }
  }

  void one(QuantizedValue x) {
    const std::string tail = ")";
    switch (dice_.below(plain_ ? 6 : 7)) {
      case 0:
      case 1:
        return add("nn.relu(" + x.name + ")", x);
      case 2:
        x.off = x.off + x.quantum;
        return add("clip(" + x.name + ", a_min=-2f, a_max=3f)", x);
      case 3:
        x.most = 1;
        return add(dice_.word({"sigmoid(", "tanh(", "erf("}) + x.name + ")", rounded(x));
      case 4:
        return add("nn.leaky_relu(" + x.name + ", alpha=0.5f)", rounded(x));
      case 5:
        return add("abs(" + x.name + ")", rounded(x));
      default:
        told_ = false;  // no rule
        return add(dice_.word({"cumsum(" + x.name + ", axis=0)", "negative(" + x.name + ")"}), x);
    }
  }

  void two(const QuantizedValue& x) {
    if (!plain_ && dice_.chance(30)) {
      told_ = false;  // the constant takes the quantum of x
      return add(dice_.word({"add(", "multiply(", "subtract(", "maximum(", "minimum("}) + x.name + ", " +
                     dice_.word({"0.5f", "-3f", "100f", "0f"}) + ")",
                 x);
    }
    const QuantizedValue y = partner(x);
    QuantizedValue both = x;
    both.off = x.off + y.off, both.quantum = larger(x.quantum, y.quantum);
    std::string op = dice_.word({"add(", "add(", "subtract(", "multiply(", "maximum(", "minimum("});
    if (plain_ && !(x.exact && y.exact) && op == "multiply(") op = "add(";
    if (op == "multiply(") {
      told_ = told_ && x.exact && y.exact;
      both.most = x.most * y.most;
    } else {
      both.most = x.most + y.most;
    }
    both.off = both.off + x.quantum + y.quantum;
    add(op + x.name + ", " + y.name + ")", rounded(both));
  }

  void move(QuantizedValue x) {
    const int rank = static_cast<int>(x.shape.size());
    int size = 1;
    for (const int extent : x.shape) size *= extent;
    switch (dice_.below(rank == 4 ? 12 : 9)) {
      case 0:
        x.shape = {size / x.shape.back(), x.shape.back()};
        return add("reshape(" + x.name + ", newshape=[" + list_text(x.shape) + "])", x);
      case 1:
        std::reverse(x.shape.begin(), x.shape.end());
        return add("transpose(" + x.name + ", axes=None)", x);
      case 2: {
        Shape axes;
        for (int i = 0; i < rank; ++i) axes.push_back((i + 1) % rank);
        std::rotate(x.shape.begin(), x.shape.begin() + 1, x.shape.end());
        return add("transpose(" + x.name + ", axes=[" + list_text(axes) + "])", x);
      }
      case 3: {
        if (rank > 4) return one(x);
        const int axis = dice_.below(rank + 1);
        x.shape.insert(x.shape.begin() + axis, 1);
        return add("expand_dims(" + x.name + ", axis=" + std::to_string(axis) + ")", x);
      }
      case 4: {
        const std::string parts =
            line("split(" + x.name + ", indices_or_sections=" + std::to_string(x.shape[0]) + ", axis=0)");
        x.shape[0] = 1;
        return add("copy(" + parts + ".0)", x);
      }
      case 5: {
        QuantizedValue y = partner(x);
        y.off = larger(x.off, y.off) + x.quantum + y.quantum;
        y.shape[0] += x.shape[0];
        return add(
            "concatenate((" + x.name + ", " + (dice_.chance(50) ? x.name : partner(x).name) + "), axis=0)",
            rounded(y));
      }
      case 6: {
        std::string width;
        for (int i = 0; i < rank; ++i)
          width += std::string(i ? ", " : "") + (i + 1 == rank ? "[1, 2]" : "[0, 0]");
        x.shape.back() += 3;
        return add("nn.pad(" + x.name + ", 0f, pad_width=[" + width + "])", x);
      }
      case 7:
        x.shape[rank - 1] = 1;
        return add("mean(" + x.name + ", axis=[-1], keepdims=True)", rounded(x));
      case 8:
        x.shape[0] = 1;
        return add("strided_slice(" + x.name + ", begin=[0], end=[1], strides=[1], axes=None)", x);
      case 9:
        if (x.shape[2] < 2 || x.shape[3] < 2) return one(x);
        --x.shape[2], --x.shape[3];
        return add("nn.max_pool2d(" + x.name + ", pool_size=[2, 2], padding=[0, 0, 0, 0])", x);
      case 10:
        return add("nn.avg_pool2d(" + x.name + ", pool_size=[3, 3], padding=[1, 1, 1, 1]" +
                       (dice_.chance(50) ? ", count_include_pad=True)" : ")"),
                   rounded(x));
      default:
        x.shape[2] = x.shape[3] = 1;
        return add("nn.global_avg_pool2d(" + x.name + ")", rounded(x));
    }
  }

  void product(const QuantizedValue& x) {
    const int rank = static_cast<int>(x.shape.size());
    if (rank < 2 || rank > 4 || (plain_ && !x.exact)) return one(x);
    const int units = 2 + dice_.below(3), form = dice_.below(4), times = 1 + dice_.below(2);
    told_ = told_ && x.exact;
    const auto made = [&] {
      QuantizedValue value = x;
      const std::string text = rank == 2   ? dense(value, units)
                               : rank == 3 ? batch_matmul(value, units)
                                           : convolution(value, form, form == 1 ? times : units);
      value.quantum = {0, kMostScale * kMostScale}, value.exact = false;
      add(text, value);
      if (dice_.chance(30)) bias(rank == 4 ? 1 : rank - 1);
      return values_.back();
    };
    const QuantizedValue first = made();
    if (!dice_.chance(35)) return;
    QuantizedValue sum = made();  // two products under one sum
    const std::string text = "add(" + first.name + ", " + sum.name + ")";
    sum.most += first.most, sum.off = sum.off + first.off + Length{1, 0} + sum.quantum;
    add(text, sum);
  }

  std::string dense(QuantizedValue& x, int units) {
    const int depth = x.shape[1];
    x.most *= depth * kMostNumber * kMostScale;
    const bool moved = dice_.chance(20);  // the channels of the weight move
    const QuantizedValue w =
        moved ? weight({depth, units}, plain_ ? 1 : dice_.below(2)) : weight({units, depth}, 0);
    const std::string name = moved ? line("transpose(" + w.name + ", axes=[1, 0])") : w.name;
    const std::string text = "nn.dense(" + x.name + ", " + name + ", units=" + std::to_string(units) + ")";
    x.shape = {x.shape[0], units};
    return text;
  }
  std::string batch_matmul(QuantizedValue& x, int units) {
    const Shape shape{x.shape[0], units, x.shape[2]};
    x.most *= x.shape[2] * kMostNumber * kMostScale;
    x.shape[2] = units;
    return "nn.batch_matmul(" + x.name + ", " + weight(shape, plain_ ? -1 : dice_.below(3)).name +
           ", transpose_b=True)";
  }
  std::string convolution(QuantizedValue& x, int form, int units) {
    const int c = x.shape[1];
    const std::string head = (form == 0 ? "nn.conv2d_transpose(" : "nn.conv2d(") + x.name + ", ";
    x.most *= 9 * c * kMostNumber * kMostScale;
    x.shape[1] = form == 1 ? c * units : units;
    const std::string channels = ", channels=" + std::to_string(x.shape[1]);
    if (form == 0)
      return head + weight({c, units, 1, 1}, plain_ ? 1 : dice_.below(2)).name + channels +
             ", kernel_size=[1, 1], kernel_layout=\"IOHW\")";
    if (form == 1)
      return head + weight({c * units, 1, 3, 3}, 0).name +
             ", padding=[1, 1, 1, 1], groups=" + std::to_string(c) + channels + ", kernel_size=[3, 3])";
    return head + weight({units, c, 3, 3}, plain_ || dice_.chance(85) ? 0 : 1).name +
           ", padding=[1, 1, 1, 1]" + channels + ", kernel_size=[3, 3])";
  }

  void bias(int channel) {
    QuantizedValue x = values_.back();
    const Shape vector{x.shape[channel]};
    std::string value;
    if (plain_ || dice_.chance(50)) {
      value = line("qnn.dequantize(" + param("q", vector, "int32") + ", " +
                   pair_along(vector, !plain_ && dice_.chance(30)) + ")");
    } else {
      value = line("multiply(ones(shape=[" + list_text(vector) + "], dtype=\"float32\"), 2f)");
      told_ = false;  // no constant before it is folded
    }
    x.off = x.off + x.quantum;
    x.most += kMostNumber * kMostScale;
    add("nn.bias_add(" + x.name + ", " + value + ", axis=" + std::to_string(channel) + ")", x);
  }

  Dice dice_;
  bool lets_ = false, plain_ = false, told_ = true;
  int count_ = 0, line_ = 0;
  double most_ = 0;
  std::string params_, lines_, bits_ = "int8";
  std::vector<QuantizedValue> values_;
  std::vector<std::pair<std::string, Shape>> scales_;
};

}  // namespace

QuantizedProgram random_quantized(uint64_t seed) { return QuantizedWriter(seed).write(); }

}  // namespace baton::properties
