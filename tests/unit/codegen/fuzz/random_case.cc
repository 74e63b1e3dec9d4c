#include "codegen/fuzz/random_case.h"

#include <algorithm>
#include <random>
#include <set>

#include "baton/ir/inspect.h"
#include "baton/ir/layout.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/cost.h"
#include "baton/ir/visit.h"
#include "baton/support/error.h"

namespace baton::fuzz {
namespace {

constexpr int64_t kMostElements = 1 << 20;
constexpr double kMostOperations = 2e8;
constexpr int kTries = 40;

/// The operators with a compute and shapes to begin with.
const std::vector<const OpDef*>& operators() {
  static const std::vector<const OpDef*> all = [] {
    std::vector<const OpDef*> found;
    for (const OpDef* op : all_ops())
      if (op->compute && !op->test_shapes.empty()) found.push_back(op);
    return found;
  }();
  return all;
}

class CaseWriter {
 public:
  explicit CaseWriter(uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {}

  KernelCase write() {
    KernelCase chain{base_call(*one_of(operators()))};
    for (int tries = 0; tries < kTries; ++tries) {
      KernelCase changed = chain;
      for (int count = below(5); count > 0; --count) change(changed[0]);
      if (!well_typed(changed)) continue;
      chain = std::move(changed);
      break;
    }
    if (chance(35)) extend(chain);
    return chain;
  }

 private:
  int below(size_t limit) { return limit == 0 ? 0 : static_cast<int>(random_() % limit); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& items) {
    return items[static_cast<size_t>(below(items.size()))];
  }

  CaseCall base_call(const OpDef& op) {
    return parse_case(op.name + ": " + op.test_shapes[static_cast<size_t>(below(op.test_shapes.size()))])[0];
  }

  static bool well_typed(const KernelCase& chain) {
    try {
      return is_usable(build_case(chain));
    } catch (const InternalError&) {
      return true;  // a finding: it is reported when the case is run
    } catch (const std::exception&) {
      return false;
    }
  }

  int64_t extent() {
    static const std::vector<int64_t> often = {0, 1, 1, 2, 3, 3, 4, 5, 7, 8, 16, 17, 17, 31, 33, 64};
    static const std::vector<int64_t> large = {65, 100, 127, 256, 257, 1000, 1023, 4097, 20000};
    return chance(85) ? one_of(often) : one_of(large);
  }

  static std::vector<CaseTensor*> tensors_of(CaseCall& call) {
    std::vector<CaseTensor*> all;
    for (CaseArg& arg : call.args)
      for (CaseTensor& tensor : arg.tensors) all.push_back(&tensor);
    return all;
  }

  void change(CaseCall& call) {
    const int what = below(100);
    if (what < 50)
      change_extent(call);
    else if (what < 65)
      change_element(call);
    else if (what < 75)
      change_layout(call);
    else
      change_attr(call);
  }

  /// One extent: in one place, or wherever the same number stands, in attributes too.
  void change_extent(CaseCall& call) {
    const std::vector<CaseTensor*> tensors = tensors_of(call);
    if (tensors.empty()) return;
    CaseTensor& chosen = *one_of(tensors);
    if (chosen.shape.empty()) {
      if (chance(10)) chosen.shape.push_back(extent());
      return;
    }
    int64_t& place = chosen.shape[static_cast<size_t>(below(chosen.shape.size()))];
    const int64_t was = place, now = extent();
    place = now;
    if (chance(75))
      for (CaseTensor* tensor : tensors)
        for (int64_t& other : tensor->shape)
          if (other == was) other = now;
    if (chance(50))
      for (auto& [name, value] : call.attrs) replace_number(value, was, now);
    for (CaseTensor* tensor : tensors) keep_values_valid(*tensor, now);
  }

  static void replace_number(std::string& value, int64_t was, int64_t now) {
    const std::string from = std::to_string(was);
    for (size_t at = 0; (at = value.find(from, at)) != std::string::npos;) {
      const size_t end = at + from.size();
      const bool whole = (at == 0 || !std::isalnum(static_cast<unsigned char>(value[at - 1]))) &&
                         (end == value.size() || !std::isalnum(static_cast<unsigned char>(value[end])));
      if (whole && (end == value.size() || value[end] != '.')) {
        value.replace(at, from.size(), std::to_string(now));
        at += std::to_string(now).size();
      } else {
        at = end;
      }
    }
  }

  void change_element(CaseCall& call) {
    static const std::vector<std::string> elements = {"f32", "f32", "f64", "f16", "i8",  "u8",  "i16",
                                                      "u16", "i32", "i32", "i64", "u32", "u64", "bool"};
    const std::vector<CaseTensor*> tensors = tensors_of(call);
    if (tensors.empty()) return;
    const std::string was = one_of(tensors)->element, now = one_of(elements);
    const bool all = chance(85);
    for (CaseTensor* tensor : tensors) {
      if (tensor->element != was) continue;
      tensor->element = now;
      // Fractions and negative numbers are for those that have them.
      if (now[0] == 'u' || now == "bool") tensor->values.clear();
      if (!all) break;
    }
  }

  void change_layout(CaseCall& call) {
    static const std::vector<std::string> of_data = {"NCHW",    "NHWC",   "NCHW4c", "NCHW8c",
                                                     "NCHW16c", "NCHW3c", "HWNC"};
    static const std::vector<std::string> of_kernel = {"OIHW",     "HWIO",     "HWOI",       "OIHW4i4o",
                                                       "OIHW8i8o", "OIHW1i4o", "OIHW16i16o", "OHWI"};
    const OpDef* op = find_op(call.op);
    if (!op || !op->attrs) return;
    for (const AttrField& field : op->attrs->fields) {
      const bool kernel = field.name == "kernel_layout",
                 data = field.name == "layout" || field.name == "data_layout";
      if ((!kernel && !data && field.name != "out_layout") || chance(20)) continue;
      const std::string to = one_of(kernel ? of_kernel : of_data);
      const size_t arg = kernel ? 1 : 0;
      if ((kernel || data) && arg < call.args.size() && call.args[arg].tensors.size() == 1) {
        const std::string now = attr_of(call, field.name, kernel ? "OIHW" : "NCHW");
        const auto before = Layout::parse(now), after = Layout::parse(to);
        Shape& shape = call.args[arg].tensors[0].shape;
        if (!before || !after || !before->convertible(*after) ||
            before->rank() != static_cast<int>(shape.size()))
          continue;
        shape = convert_shape(shape, *before, *after);
      }
      set_attr(call, field.name, to);
    }
  }

  static std::string attr_of(const CaseCall& call, const std::string& name, const std::string& otherwise) {
    for (const auto& [each, value] : call.attrs)
      if (each == name) return value;
    return otherwise;
  }
  static void set_attr(CaseCall& call, const std::string& name, const std::string& value) {
    for (auto& [each, old] : call.attrs)
      if (each == name) {
        old = value;
        return;
      }
    call.attrs.emplace_back(name, value);
  }

  /// An attribute of the operator, written or not, gets another value of its kind.
  void change_attr(CaseCall& call) {
    const OpDef* op = find_op(call.op);
    if (!op || !op->attrs || op->attrs->fields.empty()) return;
    const AttrField& field = one_of(op->attrs->fields);
    const std::string value =
        attr_of(call, field.name, field.default_value ? attr_text(*field.default_value) : "");
    const std::string changed = other_value(value);
    if (!changed.empty()) set_attr(call, field.name, changed);
  }

  std::string other_value(const std::string& value) {
    if (value == "True" || value == "False") return value == "True" ? "False" : "True";
    if (value == "None") return chance(50) ? small_number() : "[" + small_number() + "]";
    if (value.empty()) return "";
    if (value[0] == '[') {
      std::vector<std::string> items = split_list(value.substr(1, value.size() - 2));
      if (items.empty() || chance(10)) {
        items.push_back(small_number());
      } else if (chance(10)) {
        items.pop_back();
      } else {
        std::string& item = items[static_cast<size_t>(below(items.size()))];
        const std::string changed = other_value(item);
        if (!changed.empty()) item = changed;
      }
      std::string text;
      for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
      return "[" + text + "]";
    }
    const bool number = std::isdigit(static_cast<unsigned char>(value[0])) || value[0] == '-';
    if (!number) return other_word(value);
    if (value.find_first_of(".ef") == std::string::npos) return small_number();
    return one_of<std::string>({"0.", "1.", "0.5", "-1.", "2.", "3.7", "1e-05"});
  }
  std::string small_number() {
    return one_of<std::string>(
        {"0", "0", "1", "1", "2", "2", "3", "4", "5", "7", "8", "16", "-1", "-1", "-2", "-3"});
  }
  /// Words that some operator knows: modes, methods, element types.
  std::string other_word(const std::string& value) {
    static const std::vector<std::vector<std::string>> kinds = {
        {"float32", "float64", "float16", "int32", "int8", "int64", "uint8", "bool"},
        {"clip", "wrap", "fast"},
        {"nearest_neighbor", "linear", "cubic", "bilinear", "bicubic", "trilinear", "nearest"},
        {"constant", "edge", "reflect"},
        {"zeros", "border", "reflection"},
        {"SYMMETRIC", "REFLECT"},
        {"half_pixel", "align_corners", "asymmetric"},
        {"DCR", "CDR"},
        {"update", "add", "mul", "min", "max"},
        {"values", "indices", "both"},
        {"UPWARD", "TONEAREST"},
        {"sum", "mean", "none"}};
    for (const auto& words : kinds)
      for (const std::string& word : words)
        if (word == value || "\"" + word + "\"" == value) return one_of(words);
    return "";
  }

  /// Calls before and after, as passes fuse them.
  void extend(KernelCase& chain) {
    if (chance(30)) begin_with_elementwise(chain);
    for (int count = 1 + below(3); count > 0; --count) {
      for (int tries = 0; tries < 12; ++tries) {
        KernelCase longer = chain;
        if (!follow(longer) || !well_typed(longer)) continue;
        chain = std::move(longer);
        break;
      }
    }
  }

  /// An element by element operator on what was the first argument.
  void begin_with_elementwise(KernelCase& chain) {
    const OpDef& op = *one_of(operators());
    if (op.fuse != Fuse::kElementwise || chain[0].args.empty() || chain[0].args[0].tensors.size() != 1 ||
        chain[0].args[0].tuple)
      return;
    CaseCall first = base_call(op);
    if (first.args.size() != 1 || first.args[0].tensors.size() != 1) return;
    KernelCase longer = chain;
    const std::string range = first.args[0].tensors[0].values;
    first.args[0].tensors[0] = chain[0].args[0].tensors[0];
    if (range[0] == '[' && chain[0].args[0].tensors[0].element[0] == 'f')
      first.args[0].tensors[0].values = range;
    longer[0].args[0] = {false, "_", {}};
    longer.insert(longer.begin(), std::move(first));
    if (well_typed(longer)) chain = std::move(longer);
  }

  bool follow(KernelCase& chain) {
    const OpDef& op = *one_of(operators());
    if (op.fuse > Fuse::kInjective && !chance(15)) return false;
    CaseCall next = base_call(op);
    if (next.args.empty() || next.args[0].tuple) return false;
    const test::TestCase built = build_case(chain);
    const Type& type = built.function->body()->checked_type();
    const auto* tuple = as_type<TupleTypeNode>(type);
    const auto* result =
        as_type<TensorTypeNode>(tuple && !tuple->fields().empty() ? tuple->fields()[0] : type);
    if (!result || !result->is_static()) return false;
    const CaseTensor first = next.args[0].tensors[0];
    const std::string element = element_name(result->dtype());
    next.args[0] = {false, tuple ? "_0" : "_", {}};
    for (size_t i = 1; i < next.args.size(); ++i)
      for (CaseTensor& tensor : next.args[i].tensors) {
        if (tensor.element == first.element) tensor.element = element;
        if (chance(60) || tensor.shape == first.shape) tensor.shape = broadcast_to(result->extents());
      }
    chain.push_back(std::move(next));
    return true;
  }

  /// A shape that broadcasts to `shape`: fewer axes, ones among them.
  Shape broadcast_to(const std::vector<int64_t>& shape) {
    Shape result(shape.begin() + below(shape.size() + 1), shape.end());
    if (chance(40)) result = shape;
    for (int64_t& each : result)
      if (chance(25)) each = 1;
    return result;
  }

  static std::string element_name(DType type) {
    if (type.is_bool()) return "bool";
    return (type.is_float() ? "f" : type.is_int() ? "i" : "u") + std::to_string(type.bits);
  }

  std::mt19937_64 random_;
};

}  // namespace

void keep_values_valid(CaseTensor& tensor, int64_t extent) {
  if (tensor.values.empty()) return;
  std::vector<std::string> numbers = split_list(tensor.values.substr(1, tensor.values.size() - 2));
  const bool integers = tensor.element[0] == 'i' || tensor.element[0] == 'u';
  if (tensor.values[0] == '{') {
    const auto count = element_count(tensor.shape);
    if (count && static_cast<size_t>(*count) == numbers.size()) return;
    double least = 0, most = 0;
    for (const std::string& number : numbers) {
      const double value = std::stod(number);
      least = std::min(least, value), most = std::max(most, value);
    }
    numbers = {std::to_string(static_cast<int64_t>(least)), std::to_string(static_cast<int64_t>(most) + 1)};
  }
  if (integers && std::stod(numbers.at(1)) > extent)
    numbers[1] = std::to_string(std::max<int64_t>(1, extent));
  if (integers && std::stod(numbers[0]) >= std::stod(numbers[1])) numbers[0] = "0";
  tensor.values = "[" + numbers[0] + ", " + numbers[1] + "]";
}

std::vector<CaseCall> base_calls() {
  std::vector<CaseCall> all;
  for (const OpDef* op : operators())
    for (const char* text : op->test_shapes) all.push_back(parse_case(op->name + ": " + text)[0]);
  return all;
}

KernelCase random_case(uint64_t seed) { return CaseWriter(seed).write(); }

test::TestCase build_case(const KernelCase& chain) {
  std::vector<std::pair<const OpDef*, std::string>> calls;
  for (const CaseCall& call : chain) {
    const OpDef* op = find_op(call.op);
    if (!op) throw std::runtime_error("there is no operator " + call.op);
    calls.emplace_back(op, arguments_text(call));
  }
  // Before memory is asked for.
  for (const CaseCall& call : chain)
    for (const CaseArg& arg : call.args)
      for (const CaseTensor& tensor : arg.tensors) {
        const auto count = element_count(tensor.shape);
        if (!count || *count > kMostElements) throw std::runtime_error("a tensor is too large");
      }
  return test::test_chain(calls);
}

bool is_usable(const test::TestCase& built, std::string* why, bool dynamic) {
  std::string reason;
  double operations = 0;
  post_order(Expr(built.function), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (!call || !call->op()) return;
    if (!call->op()->compute) reason = call->op()->name + " has no compute";
    for (const TensorTypeNode* type : flat_types(call->checked_type())) {
      if (!type->is_static()) {
        if (!dynamic) reason = call->op()->name + " has a result of unknown extents";
        continue;
      }
      const auto count = element_count(type->extents());
      if (!count || *count > kMostElements) reason = call->op()->name + " has too large a result";
    }
    if (reason.empty()) operations += cost_of_call(*call).flops;
  });
  if (reason.empty() && operations > kMostOperations) reason = "too much work";
  if (why) *why = reason;
  return reason.empty();
}

}  // namespace baton::fuzz
