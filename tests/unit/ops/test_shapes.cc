#include "ops/test_shapes.h"

#include <cctype>
#include <map>
#include <stdexcept>
#include <string_view>

#include "baton/ir/attr_objects.h"
#include "baton/ir/build.h"
#include "baton/ir/op.h"
#include "baton/ops/register.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/types/infer_type.h"

#include "ops/numbers.h"

namespace baton::test {

namespace {

const std::map<std::string, const char*> kElements = {
    {"f16", "float16"}, {"f32", "float32"}, {"f64", "float64"}, {"i8", "int8"},
    {"i16", "int16"},   {"i32", "int32"},   {"i64", "int64"},   {"u8", "uint8"},
    {"u16", "uint16"},  {"u32", "uint32"},  {"u64", "uint64"},  {"bool", "bool"}};

NodeInfo untyped() { return NodeInfo(OriginSet::none()); }

/// Parameters of the calls read so far, and their values.
struct Params {
  std::vector<Var> vars;
  std::vector<NDArray> values;
  int named = 0;  ///< values by the tensor rule
};

/// As many values as a tensor of that shape has elements.
std::vector<double> repeated(std::vector<double> values, const Shape& shape) {
  if (values.empty()) return values;
  const size_t given = values.size();
  size_t count = 1;
  for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
  values.resize(count);
  for (size_t i = given; i < count; ++i) values[i] = values[i % given];
  return values;
}

class Reader {
 public:
  /// `previous`: what `_` stands for, or null.
  Reader(const OpDef& op, std::string_view text, Params& params, Expr previous)
      : op_(op), text_(text), params_(params), previous_(std::move(previous)) {}

  Expr read() {
    std::vector<Expr> args;
    NamedAttrs attrs;
    while (at_ < text_.size()) {
      if (std::isalpha(peek())) {
        const std::string name = word();
        take('=');
        attrs.emplace_back(name, value());
      } else {
        args.push_back(peek() == '[' ? tuple() : peek() == '_' ? previous() : tensor());
      }
      if (at_ < text_.size()) take(',');
      skip_spaces();
    }
    Attrs made = op_.attrs ? make_attrs(*op_.attrs, attrs) : Attrs();
    return make_call(op_expr(op_), std::move(args), std::move(made), untyped());
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(op_.name + ": test shape \"" + std::string(text_) + "\": " + what +
                             " is expected at " + std::to_string(at_));
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_spaces() {
    while (peek() == ' ') ++at_;
  }
  void take(char c) {
    skip_spaces();
    if (peek() != c) fail(std::string("`") + c + "`");
    ++at_;
    skip_spaces();
  }
  bool taken(char c) {
    skip_spaces();
    if (peek() != c) return false;
    take(c);
    return true;
  }
  std::string word() {
    std::string read;
    while (std::isalnum(peek()) || peek() == '_') read += text_[at_++];
    return read;
  }
  std::string number() {
    std::string read;
    while (std::isalnum(peek()) || peek() == '-' || peek() == '.') read += text_[at_++];
    if (read.empty()) fail("a number");
    return read;
  }
  std::vector<double> numbers_until(char end) {
    std::vector<double> all;
    while (!taken(end)) {
      all.push_back(std::stod(number()));  // nan and inf too
      if (peek() != end) take(',');
    }
    return all;
  }

  struct Given {
    NDArray array;
    bool constant = false;
  };
  Given given() {
    take('(');
    Shape shape;
    for (const double extent : numbers_until(')')) shape.push_back(static_cast<int64_t>(extent));
    const auto element = kElements.find(word());
    if (element == kElements.end()) fail("an element type");
    const DType type = *DType::parse(element->second);
    const bool constant = taken('=');
    if (taken('{')) return {from_numbers(repeated(numbers_until('}'), shape), shape, type), constant};
    ValueRange range = default_range(type);
    if (taken('[')) {
      const std::vector<double> bounds = numbers_until(']');
      range = {bounds.at(0), bounds.at(1)};
    }
    return {tensor_value("x" + std::to_string(params_.named++), shape, type, range), constant};
  }

  Expr tensor() {
    const auto [array, constant] = given();
    if (constant) return make_constant(array, untyped());
    params_.values.push_back(array);
    params_.vars.push_back(make_var("x" + std::to_string(params_.vars.size()),
                                    tensor_type(array.shape(), array.dtype()), untyped()));
    return params_.vars.back();
  }
  Expr previous() {
    take('_');
    if (!previous_) fail("a call before `_`");
    if (!std::isdigit(peek())) return previous_;
    return make_tuple_get_item(previous_, std::stoi(number()), untyped());
  }
  Expr tuple() {
    take('[');
    std::vector<Expr> fields;
    while (!taken(']')) {
      fields.push_back(tensor());
      taken(',');
    }
    return make_tuple(std::move(fields), untyped());
  }

  AttrValue value() {
    if (peek() == '(') return expr_attr(make_constant(given().array, untyped()));
    if (taken('"')) {
      std::string read;
      while (peek() != '"' && peek() != '\0') read += text_[at_++];
      take('"');
      return read;
    }
    if (taken('[')) {
      AttrList list;
      while (!taken(']')) {
        list.push_back(value());
        taken(',');
      }
      return list;
    }
    if (std::isalpha(peek())) {
      const std::string read = word();
      if (read == "None") return {};
      if (read == "True" || read == "False") return AttrValue(read == "True");
      return read;
    }
    const std::string read = number();
    if (read.find_first_of(".e") == std::string::npos)
      return AttrValue(static_cast<int64_t>(std::stoll(read)));
    return AttrValue(std::stod(read));
  }

  const OpDef& op_;
  std::string_view text_;
  size_t at_ = 0;
  Params& params_;
  Expr previous_;
};

}  // namespace

std::vector<const OpDef*> computed_ops() {
  register_all_ops();
  std::vector<const OpDef*> all;
  for (const OpDef* op : all_ops())
    if (op->compute) all.push_back(op);
  return all;
}

TestCase test_case(const OpDef& op, const std::string& text) { return test_chain({{&op, text}}); }

TestCase test_chain(const std::vector<std::pair<const OpDef*, std::string>>& calls) {
  Params params;
  Expr body;
  for (const auto& [op, text] : calls) body = Reader(*op, text, params, body).read();
  const Expr typed = infer_type(make_function(params.vars, body, {}, {}, untyped()));
  return {Function(as<FunctionNode>(typed)), params.values};
}

}  // namespace baton::test
