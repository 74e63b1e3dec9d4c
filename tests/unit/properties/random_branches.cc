#include "properties/random_branches.h"

#include "properties/dice.h"

namespace baton::properties {

namespace {

using Shape = std::vector<int>;

class BranchWriter {
 public:
  explicit BranchWriter(uint64_t seed) : dice_(seed) {}

  std::string write() {
    kind_ = dice_.below(4);
    lets_ = dice_.chance(30);
    const int n = small(), k = small();
    data_ = kind_ == 0 ? Shape{n, k} : kind_ == 1 ? Shape{n, k, small()} : Shape{1, k, n, n};
    if (kind_ == 3) data_ = {1, n, n, k};
    source_ = param(data_);
    if (dice_.chance(30)) source_ = line("tanh(" + source_ + ")");
    std::string results;
    const int groups = 1 + dice_.below(2);
    for (int i = 0; i < groups; ++i) {
      units_ = small();
      tail_ = some_tail();
      const int branches = 2 + dice_.below(3);
      for (int j = 0; j < branches; ++j) results += (results.empty() ? "" : ", ") + placed_branch();
    }
    const std::string body = lines_ + "  (" + results + ")\n";
    return "#[version = \"0.0.5\"]\ntype Box {\n  Full(" + tensor_text(data_) +
           "),\n  Empty,\n}\ndef @main(" + params_ + ") {\n" + body + "}\n";
  }

 private:
  int small() { return 2 + dice_.below(2); }
  std::string param(const Shape& shape, const std::string& dtype = "float32") {
    const std::string name = "%p" + std::to_string(count_++);
    params_ += (params_.empty() ? "" : ", ") + name + ": " + tensor_text(shape, dtype);
    return name;
  }
  std::string line(const std::string& text) {
    const std::string name = "%" + std::string(lets_ ? "v" : "") + std::to_string(line_++);
    lines_ += std::string(lets_ ? "let " : "") + name + " = " + text + ";\n";
    return name;
  }
  // A weight that is there from the beginning, or after other lines.
  std::string weight(const Shape& shape) {
    const std::string given = param(shape);
    return dice_.chance(20) ? line("negative(" + given + ")") : given;
  }

  // The name of the result of a branch: where the others are, or inside of something.
  std::string placed_branch() {
    const int place = dice_.below(14);
    if (place > 2) return branch({}).first;
    // Its lines are the body of an if, a clause or a function; it may read what is bound there.
    std::string outer;
    std::swap(outer, lines_);
    const std::string inner = "%i" + std::to_string(count_++);
    const Shape bound = weight_shape();
    const auto [name, shape] = branch(place == 0 || !dice_.chance(60) ? "" : place == 1 ? inner : "");
    std::string body;
    std::swap(body, lines_);
    lines_ = outer;
    if (place == 0)
      return line("if (less(" + param({}) + ", 0f)) {\n" + body + name + "\n} else {\n  zeros(shape=[" +
                  list_text(shape) + "], dtype=\"float32\")\n}");
    if (place == 1)
      return line("fn (" + inner + ": " + tensor_text(bound) + ") {\n" + body + name + "\n}") + "(" +
             param(bound) + ")";
    return line("match (Full(" + source_ + ")) {\n  Full(" + inner + ") => {\n" + body + name +
                "\n},\n  Empty => { zeros(shape=[" + list_text(shape) + "], dtype=\"float32\") },\n}");
  }

  Shape weight_shape() const {
    if (kind_ == 0) return {units_, data_[1]};
    if (kind_ == 1) return {data_[0], units_, data_[2]};
    return kind_ == 2 ? Shape{units_, data_[1], 1, 1} : Shape{1, 1, data_[3], units_};
  }

  std::string head(const std::string& weight) {
    if (kind_ == 0) return "nn.dense(" + source_ + ", " + weight + ", units=" + std::to_string(units_) + ")";
    if (kind_ == 1) return "nn.batch_matmul(" + source_ + ", " + weight + ", transpose_b=True)";
    return "nn.conv2d(" + source_ + ", " + weight +
           ", padding=[0, 0, 0, 0], channels=" + std::to_string(units_) + ", kernel_size=[1, 1]" +
           (kind_ == 3 ? ", data_layout=\"NHWC\", kernel_layout=\"HWIO\")" : ")");
  }
  Shape head_shape() const {
    if (kind_ == 0) return {data_[0], units_};
    if (kind_ == 1) return {data_[0], data_[1], units_};
    return kind_ == 2 ? Shape{1, units_, data_[2], data_[3]} : Shape{1, data_[1], data_[2], units_};
  }

  std::pair<std::string, Shape> branch(const std::string& given) {
    const int units = units_;
    if (dice_.chance(15)) units_ = small();
    const Shape wanted = weight_shape();
    const bool fits = !given.empty() && units == units_;
    std::string value = line(head(fits ? given : weight(wanted)));
    Shape shape = head_shape();
    units_ = units;
    std::vector<int> tail = dice_.chance(75) ? tail_ : some_tail();
    for (const int step : tail) {
      const std::string before = value;
      value = line(follower(step, value, shape));
      if (dice_.chance(5)) value = line("(" + before + ", " + value + ")") + ".1";
    }
    return {value, shape};
  }

  std::vector<int> some_tail() {
    std::vector<int> tail(static_cast<size_t>(dice_.below(4)));
    for (int& step : tail) step = dice_.below(kSteps);
    // The choices that branches of a group have in common.
    axis_ = dice_.below(4), variant_ = dice_.below(6);
    return tail;
  }

  static constexpr int kSteps = 26;
  // `shape` becomes that of the result.
  std::string follower(int step, const std::string& x, Shape& shape) {
    const int rank = static_cast<int>(shape.size()),
              axis = dice_.chance(90) ? axis_ % rank : dice_.below(rank);
    const int last = shape.back();
    const auto call = [&](const std::string& op, const std::string& more = "") {
      return op + "(" + x + more + ")";
    };
    switch (step) {
      case 0:
      case 1:
      case 2:
        return call("nn.bias_add", ", " + weight({shape[axis]}) +
                                       ", axis=" + std::to_string(dice_.chance(30) ? axis - rank : axis));
      case 3:
        return call("add", ", " + weight({last}));
      case 4:
        return dice_.chance(50) ? call("multiply", ", " + weight({1})) : call("multiply", ", " + weight({}));
      case 5:
        return call("nn.relu");
      case 6:
        return call("tanh");
      case 7:
        return call("clip", ", a_min=-1f, a_max=1f");
      case 8:
        return call("add", ", " + weight(shape));
      case 9: {
        Shape one = shape;
        one[axis] = 1;
        return call(variant_ % 2 ? "add" : "maximum", ", " + weight(one));
      }
      case 10:
        shape.insert(shape.begin() + axis, 1);
        return call("expand_dims", ", axis=" + std::to_string(axis));
      case 11: {
        Shape wide = shape;
        wide.insert(wide.begin(), small());
        shape = wide;
        return "add(" + weight(wide) + ", " + x + ")";
      }
      case 12:
        return call("nn.prelu", ", " + weight({shape[axis]}) + ", axis=" + std::to_string(axis));
      case 13:
        return call("nn.softmax", ", axis=" + std::to_string(axis));
      case 14: {
        shape.insert(shape.begin(), 2);
        return call("broadcast_to", ", shape=[" + list_text(shape) + "]");
      }
      case 15:
        shape[axis] *= 2;
        return call("repeat", ", repeats=2, axis=" + std::to_string(axis));
      case 16:
        return dice_.chance(50) ? call("full_like", ", " + weight({})) : call("zeros_like");
      case 17:
        return "where(" + line("greater(" + weight(shape) + ", 0f)") + ", " + x + ", " + weight(shape) + ")";
      case 18:
        return call("trilu", ", 0, upper=True");
      case 19:
        std::swap(shape[rank - 1], shape[rank - 2]);
        return call("transpose", ", axes=[" + swapped(rank) + "]");
      case 20:
        return call("cumsum", ", axis=" + std::to_string(axis));
      case 21:
        return call("nn.l2_normalize", ", eps=1e-05f, axis=[" + std::to_string(axis) + "]");
      case 22:
        return call("reverse", ", axis=" + std::to_string(axis));
      case 23:
        return dice_.chance(50) ? call("broadcast_to_like", ", " + weight(shape))
                                : "broadcast_to_like(" + weight({last}) + ", " + x + ")";
      case 24:
        return dice_.chance(50) ? call("cast_like", ", " + weight({2}))
                                : call("nn.leaky_relu", ", alpha=0.1f");
      default:
        return call("subtract", ", " + std::string(shape == data_ ? source_ : "1f"));
    }
  }

  static std::string swapped(int rank) {
    Shape axes;
    for (int i = 0; i < rank; ++i) axes.push_back(i);
    std::swap(axes[rank - 1], axes[rank - 2]);
    return list_text(axes);
  }

  Dice dice_;
  int kind_ = 0, units_ = 0, count_ = 0, line_ = 0, axis_ = 0, variant_ = 0;
  bool lets_ = false;
  Shape data_;
  std::string source_, params_, lines_;
  std::vector<int> tail_;
};

}  // namespace

std::string random_branches(uint64_t seed) { return BranchWriter(seed).write(); }

}  // namespace baton::properties
