#include "properties/random_module.h"

#include <random>
#include <vector>

namespace baton::properties {

namespace {

using Shape = std::vector<int>;

struct Value {
  std::string name;
  Shape shape;
};

std::string list(const Shape& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  std::string write() {
    lets_ = chance(20);
    const int channels = 2 << below(2), extent = 4 << below(2);
    values_.push_back(param("x", {1, channels, extent, extent}, false));
    if (chance(40)) values_.push_back(param("y", {2 + below(3), 3 + below(4)}, false));
    const bool second = chance(20);
    const int operators = 4 + below(17);
    for (int i = 0; i < operators; ++i) step(second);
    std::string body = lines_;
    body += result() + "\n";
    std::string text = "#[version = \"0.0.5\"]\ndef @main(" + params_ + ") {\n" + body + "}\n";
    if (second && !second_) text += "def @idle(%z: Tensor[(2), float32]) {\n  exp(%z)\n}\n";
    if (second_) text += "def @twice(%z: Tensor[(" + list(second_shape_) + "), float32], Inline=1) {\n  %0 = tanh(%z);\n  add(%0, %z)\n}\n";
    return text;
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<uint64_t>(limit)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& items) { return items[static_cast<size_t>(below(static_cast<int>(items.size())))]; }

  Value param(const std::string& stem, const Shape& shape, bool weight) {
    const std::string name = (weight && chance(60) ? "c" : "p") + std::to_string(count_++) + "_" + stem;
    params_ += (params_.empty() ? "%" : ", %") + name + ": Tensor[(" + list(shape) + "), float32]";
    return {"%" + name, shape};
  }
  // A parameter, or something computed of parameters alone: constant folding's prey.
  Value weight(const std::string& stem, const Shape& shape) {
    const Value first = param(stem, shape, true);
    if (!chance(20)) return first;
    const Value second = param(stem, shape, true);
    return {line("multiply(" + first.name + ", " + line("add(" + second.name + ", 1f)") + ")"), shape};
  }

  // A line for `text`; returns the name of its value.
  std::string line(const std::string& text) {
    const std::string name = "%" + (lets_ ? "v" + std::to_string(line_) : std::to_string(line_));
    ++line_;
    lines_ += "  " + std::string(lets_ ? "let " : "") + name + " = " + text + ";\n";
    return name;
  }
  void emit(const std::string& text, Shape shape) { values_.push_back({line(text), std::move(shape)}); }

  // Mostly a recent value, at times any.
  Value pick() {
    const int size = static_cast<int>(values_.size());
    return values_[static_cast<size_t>(chance(70) ? size - 1 - below(std::min(size, 2)) : below(size))];
  }
  // Another value of that shape, or a parameter.
  Value partner(const Shape& shape) {
    std::vector<Value> same;
    for (const Value& value : values_)
      if (value.shape == shape) same.push_back(value);
    return chance(75) ? one_of(same) : weight("t", shape);
  }

  void step(bool second) {
    const Value x = pick();
    if (second && !second_ && chance(40)) {
      second_ = true;
      second_shape_ = x.shape;
      return emit("@twice(" + x.name + ")", x.shape);
    }
    if (chance(4)) return branch(x);
    if (chance(45)) return anywhere(x);
    x.shape.size() == 4 ? image(x) : matrix(x);
  }

  void branch(const Value& x) {
    const Value flag = param("flag", {}, false);
    const std::string positive = line("greater(" + flag.name + ", 0f)");
    emit("if (" + positive + ") {\n    tanh(" + x.name + ")\n  } else {\n    nn.relu(" + x.name + ")\n  }", x.shape);
  }

  void anywhere(const Value& x) {
    static const std::vector<std::string> unary = {"nn.relu", "tanh", "sigmoid", "abs", "negative", "exp", "copy", "zeros_like",
                                                   "ones_like", "erf", "ceil", "logical"};  // the last two: of float64
    static const std::vector<std::string> binary = {"add", "subtract", "multiply", "maximum", "minimum"};
    switch (below(10)) {
      case 0:
      case 1:
      case 2: {
        const std::string& op = one_of(unary);
        if (op == "exp") return emit("exp(" + line("clip(" + x.name + ", a_min=-2f, a_max=2f)") + ")", x.shape);
        if (op == "ceil") {  // one wide value for several readers
          const std::string wide = line("cast(" + x.name + ", dtype=\"float64\")");
          const std::string sum = line("add(" + line("exp(" + line("negative(" + line("abs(" + wide + ")") + ")") + ")") + ", " +
                                       line("tanh(" + wide + ")") + ")");
          return emit("cast(" + sum + ", dtype=\"float32\")", x.shape);
        }
        if (op == "logical") return emit("cast(" + line("cast(" + x.name + ", dtype=\"float64\")") + ", dtype=\"float32\")", x.shape);
        return emit(op + "(" + x.name + ")", x.shape);
      }
      case 3:
      case 4:
      case 5: return emit(one_of(binary) + "(" + x.name + ", " + partner(x.shape).name + ")", x.shape);
      case 6: return emit(one_of(binary) + "(" + x.name + ", " + one_of<std::string>({"2f", "0f", "1f", "0.5f"}) + ")", x.shape);
      case 7: {
        const std::string root = line("sqrt(" + line("add(" + line("abs(" + x.name + ")") + ", 1f)") + ")");
        return emit("divide(1f, " + root + ")", x.shape);
      }
      case 8: {
        const std::string dropped = line("nn.dropout(" + x.name + ", rate=0.3f)");
        return emit(dropped + ".0", x.shape);
      }
      default: return emit("nn.leaky_relu(" + x.name + ", alpha=0.1f)", x.shape);
    }
  }

  void image(const Value& x) {
    const int c = x.shape[1], h = x.shape[2], w = x.shape[3];
    switch (below(13)) {
      case 0:
      case 1:
      case 2: return convolution(x, c, h, w);
      case 3: {
        const Value k = weight("w", {c, 1, 3, 3});
        return emit("nn.conv2d(" + x.name + ", " + k.name + ", padding=[1, 1, 1, 1], groups=" + std::to_string(c) +
                        ", channels=" + std::to_string(c) + ", kernel_size=[3, 3])",
                    x.shape);
      }
      case 4: return emit("nn.bias_add(" + x.name + ", " + weight("b", {c}).name + ")", x.shape);
      case 5: {
        const std::string norm = line("nn.batch_norm(" + x.name + ", " + weight("gamma", {c}).name + ", " + weight("beta", {c}).name + ", " +
                                      weight("mean", {c}).name + ", " + weight("var", {c}).name + ")");
        return emit(norm + ".0", x.shape);
      }
      case 6: return emit(one_of<std::string>({"multiply(", "add("}) + x.name + ", " + weight("gamma", {c, 1, 1}).name + ")", x.shape);
      case 7:
        if (h < 2 || w < 2) return anywhere(x);
        return emit(one_of<std::string>({"nn.max_pool2d(", "nn.avg_pool2d("}) + x.name +
                        ", pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0])",
                    {1, c, h / 2, w / 2});
      case 8: {
        if (chance(50)) return emit("concatenate((" + x.name + ", " + partner(x.shape).name + "), axis=1)", {1, 2 * c, h, w});
        return emit("concatenate((" + x.name + ", " + partner(x.shape).name + ", " + partner(x.shape).name + "), axis=1)", {1, 3 * c, h, w});
      }
      case 9: {
        if (c % 2) return anywhere(x);
        const std::string parts = line("split(" + x.name + ", indices_or_sections=2, axis=1)");
        const Shape half = {1, c / 2, h, w};
        emit(parts + ".0", half);
        return emit(parts + ".1", half);
      }
      case 10: return emit("transpose(" + x.name + ", axes=[0, 1, 3, 2])", {1, c, w, h});
      case 11: return emit("nn.global_avg_pool2d(" + x.name + ")", {1, c, 1, 1});
      default: return emit("nn.batch_flatten(" + x.name + ")", {1, c * h * w});
    }
  }

  void convolution(Value x, int c, int h, int w) {
    if (chance(25)) x.name = line("multiply(" + x.name + ", " + weight("gamma", {c, 1, 1}).name + ")");
    if (chance(15)) {
      const std::string padded = line("nn.pad(" + x.name + ", 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]])");
      return emit("nn.conv2d(" + padded + ", " + weight("w", {2, c, 3, 3}).name + ", padding=[0, 0, 0, 0], channels=2, kernel_size=[3, 3])",
                  {1, 2, h, w});
    }
    const int out = 2 << below(2), kernel = chance(50) ? 3 : 1, pad = kernel / 2;
    const std::string tail = ", padding=[" + list({pad, pad, pad, pad}) + "], channels=" + std::to_string(out) + ", kernel_size=[" +
                             list({kernel, kernel}) + "])";
    const int branches = chance(15) ? 3 : 1;  // parallel ones may be combined
    for (int i = 0; i < branches; ++i)
      emit("nn.conv2d(" + x.name + ", " + weight("w", {out, c, kernel, kernel}).name + tail, {1, out, h, w});
    if (chance(30)) {
      const std::string last = chance(50) ? line("nn.relu(" + values_.back().name + ")") : values_.back().name;
      emit("multiply(" + last + ", " + weight("gamma", {out, 1, 1}).name + ")", {1, out, h, w});
    }
  }

  void matrix(const Value& x) {
    const int n = x.shape[0], k = x.shape[1];
    switch (below(9)) {
      case 0:
      case 1:
      case 2: {
        const int units = 2 + below(5), branches = chance(20) ? 3 : 1;
        for (int i = 0; i < branches; ++i)
          emit("nn.dense(" + x.name + ", " + weight("w", {units, k}).name + ", units=" + std::to_string(units) + ")", {n, units});
        return;
      }
      case 3: return emit("nn.bias_add(" + x.name + ", " + weight("b", {k}).name + ", axis=-1)", x.shape);
      case 4: return emit("nn.softmax(" + x.name + ")", x.shape);
      case 5: return emit("transpose(" + x.name + ", axes=[1, 0])", {k, n});
      case 6: return emit("concatenate((" + x.name + ", " + partner(x.shape).name + "), axis=1)", {n, 2 * k});
      case 7: return emit(one_of<std::string>({"sum(", "mean(", "max("}) + x.name + ", axis=[1], keepdims=True)", {n, 1});
      default: return emit("reshape(" + x.name + ", newshape=[1, " + std::to_string(n * k) + "])", {1, n * k});
    }
  }

  // The last value, or a tuple of several.
  std::string result() {
    if (chance(50)) return "  " + values_.back().name;
    std::string fields = values_.back().name;
    for (int i = 0, more = 1 + below(3); i < more; ++i) fields += ", " + one_of(values_).name;
    return "  (" + fields + ")";
  }

  std::mt19937_64 random_;
  bool lets_ = false, second_ = false;
  Shape second_shape_;
  int count_ = 0, line_ = 0;
  std::string params_, lines_;
  std::vector<Value> values_;
};

}  // namespace

std::string random_module(uint64_t seed) { return Writer(seed).write(); }

}  // namespace baton::properties
