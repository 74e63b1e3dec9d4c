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
    const int operators = 4 + below(14);
    for (int i = 0; i < operators; ++i) step(second);
    std::string body = lines_;
    body += result() + "\n";
    std::string text =
        "#[version = \"0.0.5\"]\n" + types_ + "def @main(" + params_ + ") {\n" + body + "}\n" + functions_;
    if (second && !second_) text += "def @idle(%z: Tensor[(2), float32]) {\n  exp(%z)\n}\n";
    if (second_)
      text += "def @twice(%z: Tensor[(" + list(second_shape_) +
              "), float32], Inline=1) {\n  %0 = tanh(%z);\n  add(%0, %z)\n}\n";
    return text;
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<uint64_t>(limit)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& items) {
    return items[static_cast<size_t>(below(static_cast<int>(items.size())))];
  }

  Value param(const std::string& stem, const Shape& shape, bool weight,
              const std::string& dtype = "float32") {
    const std::string name = (weight && chance(60) ? "c" : "p") + std::to_string(count_++) + "_" + stem;
    params_ += (params_.empty() ? "%" : ", %") + name + ": " + tensor(shape, dtype);
    return {"%" + name, shape};
  }
  static std::string tensor(const Shape& shape, const std::string& dtype = "float32") {
    return "Tensor[(" + list(shape) + "), " + dtype + "]";
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
    if (chance(9)) return rare(x);
    if (chance(45)) return anywhere(x);
    x.shape.size() == 4 ? image(x) : matrix(x);
  }

  void branch(const Value& x) {
    const Value flag = param("flag", {}, false);
    const std::string positive = line("greater(" + flag.name + ", 0f)");
    emit("if (" + positive + ") {\n    tanh(" + x.name + ")\n  } else {\n    nn.relu(" + x.name + ")\n  }",
         x.shape);
  }

  void anywhere(const Value& x) {
    static const std::vector<std::string> unary = {"nn.relu", "tanh",   "sigmoid",    "abs",       "negative",
                                                   "exp",     "copy",   "zeros_like", "ones_like", "erf",
                                                   "ceil",    "logical"};  // the last two: of float64
    static const std::vector<std::string> binary = {"add", "subtract", "multiply", "maximum", "minimum"};
    switch (below(10)) {
      case 0:
      case 1:
      case 2: {
        const std::string& op = one_of(unary);
        if (op == "exp")
          return emit("exp(" + line("clip(" + x.name + ", a_min=-2f, a_max=2f)") + ")", x.shape);
        if (op == "ceil") {  // one wide value for several readers
          const std::string wide = line("cast(" + x.name + ", dtype=\"float64\")");
          const std::string sum =
              line("add(" + line("exp(" + line("negative(" + line("abs(" + wide + ")") + ")") + ")") + ", " +
                   line("tanh(" + wide + ")") + ")");
          return emit("cast(" + sum + ", dtype=\"float32\")", x.shape);
        }
        if (op == "logical")
          return emit("cast(" + line("cast(" + x.name + ", dtype=\"float64\")") + ", dtype=\"float32\")",
                      x.shape);
        return emit(op + "(" + x.name + ")", x.shape);
      }
      case 3:
      case 4:
      case 5:
        return emit(one_of(binary) + "(" + x.name + ", " + partner(x.shape).name + ")", x.shape);
      case 6:
        return emit(
            one_of(binary) + "(" + x.name + ", " + one_of<std::string>({"2f", "0f", "1f", "0.5f"}) + ")",
            x.shape);
      case 7: {
        const std::string root = line("sqrt(" + line("add(" + line("abs(" + x.name + ")") + ", 1f)") + ")");
        return emit("divide(1f, " + root + ")", x.shape);
      }
      case 8: {
        const std::string dropped = line("nn.dropout(" + x.name + ", rate=0.3f)");
        return emit(dropped + ".0", x.shape);
      }
      default:
        return emit("nn.leaky_relu(" + x.name + ", alpha=0.1f)", x.shape);
    }
  }

  void image(const Value& x) {
    const int c = x.shape[1], h = x.shape[2], w = x.shape[3];
    switch (below(13)) {
      case 0:
      case 1:
      case 2:
        return convolution(x, c, h, w);
      case 3: {
        const Value k = weight("w", {c, 1, 3, 3});
        return emit("nn.conv2d(" + x.name + ", " + k.name + ", padding=[1, 1, 1, 1], groups=" +
                        std::to_string(c) + ", channels=" + std::to_string(c) + ", kernel_size=[3, 3])",
                    x.shape);
      }
      case 4:
        return emit("nn.bias_add(" + x.name + ", " + weight("b", {c}).name + ")", x.shape);
      case 5: {
        const std::string norm = line("nn.batch_norm(" + x.name + ", " + weight("gamma", {c}).name + ", " +
                                      weight("beta", {c}).name + ", " + weight("mean", {c}).name + ", " +
                                      weight("var", {c}).name + ")");
        return emit(norm + ".0", x.shape);
      }
      case 6:
        return emit(one_of<std::string>({"multiply(", "add("}) + x.name + ", " +
                        weight("gamma", {c, 1, 1}).name + ")",
                    x.shape);
      case 7:
        if (h < 2 || w < 2) return anywhere(x);
        return emit(one_of<std::string>({"nn.max_pool2d(", "nn.avg_pool2d("}) + x.name +
                        ", pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0])",
                    {1, c, h / 2, w / 2});
      case 8: {
        if (chance(50))
          return emit("concatenate((" + x.name + ", " + partner(x.shape).name + "), axis=1)",
                      {1, 2 * c, h, w});
        return emit("concatenate((" + x.name + ", " + partner(x.shape).name + ", " + partner(x.shape).name +
                        "), axis=1)",
                    {1, 3 * c, h, w});
      }
      case 9: {
        if (c % 2) return anywhere(x);
        const std::string parts = line("split(" + x.name + ", indices_or_sections=2, axis=1)");
        const Shape half = {1, c / 2, h, w};
        emit(parts + ".0", half);
        return emit(parts + ".1", half);
      }
      case 10:
        return emit("transpose(" + x.name + ", axes=[0, 1, 3, 2])", {1, c, w, h});
      case 11:
        return emit("nn.global_avg_pool2d(" + x.name + ")", {1, c, 1, 1});
      default:
        return emit("nn.batch_flatten(" + x.name + ")", {1, c * h * w});
    }
  }

  void convolution(Value x, int c, int h, int w) {
    if (chance(25)) x.name = line("multiply(" + x.name + ", " + weight("gamma", {c, 1, 1}).name + ")");
    if (chance(15)) {
      const std::string padded =
          line("nn.pad(" + x.name + ", 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]])");
      return emit("nn.conv2d(" + padded + ", " + weight("w", {2, c, 3, 3}).name +
                      ", padding=[0, 0, 0, 0], channels=2, kernel_size=[3, 3])",
                  {1, 2, h, w});
    }
    const int out = 2 << below(2), kernel = chance(50) ? 3 : 1, pad = kernel / 2;
    const std::string tail = ", padding=[" + list({pad, pad, pad, pad}) +
                             "], channels=" + std::to_string(out) + ", kernel_size=[" +
                             list({kernel, kernel}) + "])";
    const int branches = chance(35) ? 3 : 1;  // parallel ones may be combined
    for (int i = 0; i < branches; ++i)
      emit("nn.conv2d(" + x.name + ", " + weight("w", {out, c, kernel, kernel}).name + tail, {1, out, h, w});
    if (chance(30)) {
      const std::string last =
          chance(50) ? line("nn.relu(" + values_.back().name + ")") : values_.back().name;
      emit("multiply(" + last + ", " + weight("gamma", {out, 1, 1}).name + ")", {1, out, h, w});
    }
  }

  void matrix(const Value& x) {
    const int n = x.shape[0], k = x.shape[1];
    switch (below(9)) {
      case 0:
      case 1:
      case 2: {
        const int units = 2 + below(5), branches = chance(60) ? 3 : 1;
        for (int i = 0; i < branches; ++i)
          emit("nn.dense(" + x.name + ", " + weight("w", {units, k}).name +
                   ", units=" + std::to_string(units) + ")",
               {n, units});
        return;
      }
      case 3:
        return emit("nn.bias_add(" + x.name + ", " + weight("b", {k}).name + ", axis=-1)", x.shape);
      case 4:
        return emit("nn.softmax(" + x.name + ")", x.shape);
      case 5:
        return emit("transpose(" + x.name + ", axes=[1, 0])", {k, n});
      case 6:
        return emit("concatenate((" + x.name + ", " + partner(x.shape).name + "), axis=1)", {n, 2 * k});
      case 7:
        return emit(one_of<std::string>({"sum(", "mean(", "max("}) + x.name + ", axis=[1], keepdims=True)",
                    {n, 1});
      default:
        return emit("reshape(" + x.name + ", newshape=[1, " + std::to_string(n * k) + "])", {1, n * k});
    }
  }

  // What one pass or another looks for.
  void rare(const Value& x) {
    const bool image = x.shape.size() == 4;
    switch (below(image ? 18 : 14)) {
      case 0:
        if (chance(40))
          return emit("add(" + line("tanh(" + x.name + ")") + ", " + line("tanh(" + x.name + ")") + ")",
                      x.shape);
        return emit("divide(" + x.name + ", " + one_of<std::string>({"2f", "3f", "0.5f"}) + ")", x.shape);
      case 1:
        return closure(x);
      case 2:
        return recursion(x);
      case 3:
        return data_type(x);
      case 4:
        return reference(x);
      case 5:
        return emit(
            "on_device(" + x.name + ", virtual_device=VirtualDevice(device_type=1, virtual_device_id=0))",
            x.shape);
      case 6: {
        const std::string shape = line("shape_of(" + x.name + ", dtype=\"int64\")");
        const std::string flat =
            line("dyn.reshape(tanh(" + partner(x.shape).name + "), " + shape + ", newshape=[])");
        return emit("reshape(" + flat + ", newshape=[" + list(x.shape) + "])", x.shape);
      }
      case 7:
        return int8_product();
      case 8:
      case 9:
        return quantized();
      case 10:
        return higher_order(x);
      case 11:
      case 12:
      case 13:
        if (image) return products_of_batches(x);
        return transposed_weight(x);
      case 14:
        return channels_last(x);
      case 15:
      case 16:
        return atrous(x);
      default: {  // more than SplitArgs lets through
        const std::string name = partner(x.shape).name;
        return emit("concatenate((" + x.name + ", " + name + ", " + x.name + ", " + partner(x.shape).name +
                        "), axis=2)",
                    {1, x.shape[1], 4 * x.shape[2], x.shape[3]});
      }
    }
  }

  void closure(const Value& x) {
    const std::string function =
        line("fn (%a: " + tensor(x.shape) + ") { add(tanh(%a), " + partner(x.shape).name + ") }");
    emit(function + "(" + x.name + ")", x.shape);
    if (chance(50)) emit(function + "(" + values_.back().name + ")", x.shape);
  }
  void higher_order(const Value& x) {
    if (functions_.find("@apply") != std::string::npos) return closure(x);
    const std::string type = tensor(x.shape);
    functions_ += "def @apply(%f: fn (" + type + ") -> " + type + ", %z: " + type + ") -> " + type +
                  " {\n  add(%f(tanh(%z)), %z)\n}\n";
    const std::string function =
        line("fn (%a: " + type + ") -> " + type + " { multiply(%a, " + partner(x.shape).name + ") }");
    emit("@apply(" + function + ", " + x.name + ")", x.shape);
  }
  void recursion(const Value& x) {
    if (functions_.find("@loop") != std::string::npos) return closure(x);
    const std::string type = tensor(x.shape);
    functions_ +=
        "def @loop(%i: int32, %z: " + type + ") -> " + type +
        " {\n  if (less(%i, 1)) {\n    %z\n  } else {\n    @loop(subtract(%i, 1), sigmoid(%z))\n  }\n}\n";
    emit("@loop(" + std::to_string(1 + below(3)) + ", " + x.name + ")", x.shape);
  }
  void data_type(const Value& x) {
    if (!types_.empty()) return closure(x);
    types_ = "type Choice {\n  Taken(" + tensor(x.shape) + "),\n  Left,\n}\n";
    const std::string made = line(chance(50) ? "Taken(" + x.name + ")" : line("Taken") + "(" + x.name + ")");
    emit("match (" + made + ") {\n    Taken(%t) => { tanh(%t) },\n    Left => { nn.relu(" +
             partner(x.shape).name + ") },\n  }",
         x.shape);
  }
  // Written before it is read: lets keep the order.
  void reference(const Value& x) {
    const std::string n = std::to_string(line_++);
    lines_ += "  let %r" + n + " = ref(" + x.name + ");\n  let %u" + n + " = ref_write(%r" + n + ", " +
              partner(x.shape).name + ");\n  let %v" + n + " = ref_read(%r" + n + ");\n";
    values_.push_back({"%v" + n, x.shape});
  }
  void transposed_weight(const Value& x) {
    if (params_.find("%fc_w") != std::string::npos) return closure(x);
    const int units = 2 + below(4), k = x.shape[1];
    params_ += ", %fc_w: " + tensor({k, units});
    emit("nn.dense(" + x.name + ", " + line("transpose(%fc_w, axes=[1, 0])") +
             ", units=" + std::to_string(units) + ")",
         {x.shape[0], units});
  }

  void products_of_batches(const Value& x) {
    const int c = x.shape[1], h = x.shape[2], w = x.shape[3], n = 1 + below(3);
    const std::string data = line("reshape(" + x.name + ", newshape=[" + list({c, h, w}) + "])");
    std::string parts;
    for (int i = 0; i < 3; ++i)
      parts += (i ? ", " : "") +
               line("nn.batch_matmul(" + data + ", " + weight("w", {c, n, w}).name + ", transpose_b=True)");
    emit("reshape(" + line("concatenate((" + parts + "), axis=2)") + ", newshape=[" + list({1, c, h, 3 * n}) +
             "])",
         {1, c, h, 3 * n});
  }
  void channels_last(const Value& x) {
    const int c = x.shape[1], h = x.shape[2], w = x.shape[3];
    const std::string conv = line("nn.conv2d(" + line("transpose(" + x.name + ", axes=[0, 2, 3, 1])") + ", " +
                                  weight("w", {3, 3, c, 4}).name +
                                  ", padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3], "
                                  "data_layout=\"NHWC\", kernel_layout=\"HWIO\")");
    emit("transpose(" + conv + ", axes=[0, 3, 1, 2])", {1, 4, h, w});
  }
  void atrous(const Value& x) {
    const int c = x.shape[1], h = x.shape[2], w = x.shape[3];
    const std::string last = line("transpose(" + x.name + ", axes=[0, 2, 3, 1])");
    const std::string blocks = line("nn.space_to_batch_nd(" + last + ", block_shape=[2, 2], paddings=[[" +
                                    list({2, 2 + h % 2}) + "], [" + list({2, 2 + w % 2}) + "]])");
    const std::string conv = line("nn.conv2d(" + blocks + ", " + weight("w", {3, 3, c, 2}).name +
                                  ", padding=[0, 0, 0, 0], channels=2, kernel_size=[3, 3], "
                                  "data_layout=\"NHWC\", kernel_layout=\"HWIO\")");
    const std::string whole = line("nn.batch_to_space_nd(" + conv + ", block_shape=[2, 2], crops=[[" +
                                   list({0, h % 2}) + "], [" + list({0, w % 2}) + "]])");
    emit("transpose(" + whole + ", axes=[0, 3, 1, 2])", {1, 2, h, w});
  }
  // Exact: integers from the parameters on.
  void int8_product() {
    const std::string data = one_of<std::string>({"int8", "uint8"});
    std::string sum;
    Shape shape;
    if (chance(50)) {
      shape = {2, 3};
      sum = line("nn.dense(" + param("q", {2, 5}, false, "int8").name + ", " +
                 param("w", {3, 5}, true, "int8").name + ", units=3, out_dtype=\"int32\")");
    } else {
      shape = {1, 2, 4, 4};
      sum = line("nn.conv2d(" + param("q", {1, 3, 4, 4}, false, data).name + ", " +
                 param("w", {2, 3, 3, 3}, true, "int8").name +
                 ", padding=[1, 1, 1, 1], channels=2, kernel_size=[3, 3], out_dtype=\"int32\")");
    }
    emit("multiply(cast(" + sum + ", dtype=\"float32\"), 0.001f)", shape);
  }

  // Quantised from parameters on and a result of its own: what is rounded otherwise is off by few quanta, and
  // nothing makes more of that. Zero points and scales are literals.
  void quantized() {
    const auto real = [&](const std::string& stem, const Shape& shape, const char* scale) {
      return line("qnn.dequantize(" + param(stem, shape, stem != "q", "int8").name + ", " + scale + ")");
    };
    std::string result;
    switch (below(5)) {
      case 0: {
        const std::string conv = line("nn.conv2d(" + real("q", {1, 3, 4, 4}, "0.05f, 1") + ", " +
                                      real("w", {2, 3, 3, 3}, "0.01f, 4") +
                                      ", padding=[1, 1, 1, 1], channels=2, kernel_size=[3, 3])");
        result = line("qnn.quantize(" + line("nn.relu(" + conv + ")") + ", 0.02f, 0, out_dtype=\"int8\")");
        break;
      }
      case 1: {
        const std::string dense = line("nn.dense(" + real("q", {2, 5}, "0.05f, 1") + ", " +
                                       real("w", {3, 5}, "0.02f, 3") + ", units=3)");
        result = line("qnn.quantize(" + dense + ", 0.02f, 2, out_dtype=\"int8\")");
        break;
      }
      case 2: {
        const std::string sum =
            line(one_of<std::string>({"add(", "multiply("}) + real("q", {2, 3}, "0.05f, 1") + ", " +
                 real("q", {2, 3}, "0.04f, 2") + ")");
        result = line("qnn.quantize(" + sum + ", 0.02f, 0, out_dtype=\"int8\")");
        break;
      }
      case 3: {
        const std::string product = line("qnn.dense(" + param("q", {2, 5}, false, "int8").name + ", " +
                                         param("w", {3, 5}, true, "int8").name +
                                         ", 3, 4, 0.05f, 0.01f, units=3, out_dtype=\"int32\")");
        result = line("qnn.requantize(" + product + ", 0.0005f, 0, 0.02f, 1, axis=1, out_dtype=\"int8\")");
        return results_.push_back(line("qnn.dequantize(" + result + ", 0.02f, 1)"));
      }
      default:
        result = line(one_of<std::string>({"qnn.add(", "qnn.mul(", "qnn.subtract("}) +
                      param("q", {2, 3}, false, "int8").name + ", " + param("q", {2, 3}, false, "int8").name +
                      ", 0.05f, 1, 0.04f, 2, 0.02f, 0)");
    }
    results_.push_back(line("qnn.dequantize(" + result + ", 0.02f, 0)"));
  }

  // The last value, or a tuple of several.
  std::string result() {
    if (!results_.empty()) {
      std::string fields = values_.back().name;
      for (const std::string& more : results_) fields += ", " + more;
      return "  (" + fields + ")";
    }
    if (chance(50)) return "  " + values_.back().name;
    std::string fields = values_.back().name;
    for (int i = 0, more = 1 + below(3); i < more; ++i) fields += ", " + one_of(values_).name;
    return "  (" + fields + ")";
  }

  std::mt19937_64 random_;
  bool lets_ = false, second_ = false;
  Shape second_shape_;
  int count_ = 0, line_ = 0;
  std::string params_, lines_, types_, functions_;
  std::vector<std::string> results_;  // that nothing else reads
  std::vector<Value> values_;
};

}  // namespace

std::string random_module(uint64_t seed) { return Writer(seed).write(); }

}  // namespace baton::properties
