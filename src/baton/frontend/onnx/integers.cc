// Shape arithmetic while importing: shapes are read, cut, joined and calculated with as numbers and symbolic
// extents, so that a Reshape has its target and `?` does not spread.
#include <algorithm>
#include <map>

#include "baton/frontend/onnx/operators.h"
#include "baton/ir/extent.h"

namespace baton::onnx {

namespace {

using Result = std::optional<KnownIntegers>;

DType dtype_of_shape() { return DType::int_(64); }

bool all_numbers(const KnownIntegers& known) { return std::ranges::none_of(known.values, &Dim::is_any); }

std::vector<Dim> dims_of(const Conversion& c) {
  if (const auto known = c.integers(0))
    return known->is_scalar ? std::vector<Dim>()
                            : std::vector<Dim>{static_cast<int64_t>(known->values.size())};
  return c.type(0).shape();
}

/// Extents that nothing is known of have no name to calculate with.
Result unless_unknown(KnownIntegers known) {
  for (const Dim each : known.values)
    if (each.is_any() && !each.is_symbolic()) return std::nullopt;
  return known;
}

/// Integers of 32 bits that are none are left to the operator, which wraps them.
Result if_it_fits(KnownIntegers known) {
  if (known.dtype == DType::int_(32))
    for (const Dim each : known.values)
      if (!each.is_any() && each.value() != static_cast<int32_t>(each.value())) return std::nullopt;
  return known;
}

Result shape(const Conversion& c) {
  const std::vector<Dim> dims = dims_of(c);
  const auto rank = static_cast<int64_t>(dims.size());
  const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t begin = place(c.integer("start", 0)), end = place(c.integer("end", rank));
  return unless_unknown(
      {{dims.begin() + begin, dims.begin() + std::max(begin, end)}, false, dtype_of_shape()});
}

Result size(const Conversion& c) {
  Dim product = 1;
  for (const Dim each : dims_of(c)) product = product * each;
  return unless_unknown({{product}, true, dtype_of_shape()});
}

Result gather(const Conversion& c) {
  const auto data = c.integers(0), indices = c.integers(1);
  if (!data || data->is_scalar || !indices || !all_numbers(*indices)) return std::nullopt;
  const auto count = static_cast<int64_t>(data->values.size());
  KnownIntegers result{{}, indices->is_scalar, data->dtype};
  for (const Dim index : indices->values) {
    const int64_t at = index.value() < 0 ? index.value() + count : index.value();
    if (at < 0 || at >= count)
      throw c.error("index " + std::to_string(index.value()) + " of a tensor of " + std::to_string(count) +
                    " elements");
    result.values.push_back(data->values[static_cast<size_t>(at)]);
  }
  return result;
}

Result concat(const Conversion& c) {
  KnownIntegers result;
  for (size_t i = 0; i < c.count(); ++i) {
    const auto part = c.integers(i);
    if (!part || part->is_scalar) return std::nullopt;
    result.dtype = part->dtype;
    result.values.insert(result.values.end(), part->values.begin(), part->values.end());
  }
  return result;
}

Result slice(const Conversion& c) {
  const auto data = c.integers(0);
  if (!data || data->is_scalar) return std::nullopt;
  const bool by_attribute = c.version < 10;
  const auto numbers = [&](size_t input, const char* attribute) {
    return by_attribute ? c.integers_of(attribute) : c.numbers(input);
  };
  const auto starts = numbers(1, "starts"), ends = numbers(2, "ends");
  if (!starts || !ends || starts->size() != 1 || ends->size() != 1) return std::nullopt;
  int64_t step = 1;
  if (!by_attribute && c.has(4)) {
    const auto steps = c.numbers(4);
    if (!steps || steps->size() != 1) return std::nullopt;
    step = steps->at(0);
  }
  const auto count = static_cast<int64_t>(data->values.size());
  if (step == 0) throw c.error("its step is 0");
  const int64_t least = step > 0 ? 0 : -1, most = step > 0 ? count : count - 1;
  const auto place = [&](int64_t at) { return std::clamp(at < 0 ? at + count : at, least, most); };
  KnownIntegers result{{}, false, data->dtype};
  const int64_t end = place(ends->at(0));
  for (int64_t at = place(starts->at(0)); step > 0 ? at < end : at > end; at += step)
    result.values.push_back(data->values[static_cast<size_t>(at)]);
  return result;
}

Result same(const Conversion& c) { return c.integers(0); }

/// Numbers of ONNX's element types.
constexpr int64_t kInt32 = 6, kInt64 = 7, kBool = 9;

Result cast(const Conversion& c) {
  auto data = c.integers(0);
  const int64_t to = c.integer("to", 0);
  if (!data || (to != kInt32 && to != kInt64 && to != kBool)) return std::nullopt;
  if (to == kBool) {
    if (!all_numbers(*data)) return std::nullopt;
    for (Dim& each : data->values) each = each.value() != 0;
  }
  data->dtype = to == kBool ? DType::bool_() : DType::int_(to == kInt32 ? 32 : 64);
  return if_it_fits(*data);
}

Result squeeze(const Conversion& c) {
  auto data = c.integers(0);
  if (!data || data->is_scalar || data->values.size() != 1) return std::nullopt;
  data->is_scalar = true;
  return data;
}

Result unsqueeze(const Conversion& c) {
  auto data = c.integers(0);
  const auto axes = c.version < 13 ? c.integers_of("axes") : c.numbers(1);
  if (!data || !data->is_scalar || !axes || axes->size() != 1) return std::nullopt;
  data->is_scalar = false;
  return data;
}

Result reshape(const Conversion& c) {
  auto data = c.integers(0);
  const auto to = c.version < 5 ? c.integers_of("shape") : c.numbers(1);
  if (!data || !to || to->size() > 1) return std::nullopt;
  const auto count = static_cast<int64_t>(data->values.size());
  if (to->size() == 1 && to->front() != -1 && to->front() != count)
    return std::nullopt;  // the operator says why
  if (to->empty() && count != 1) return std::nullopt;
  data->is_scalar = to->empty();
  return data;
}

/// Element by element, a scalar with every one.
Result pairs(const Conversion& c, Dim (*apply)(Dim, Dim)) {
  const auto a = c.integers(0), b = c.integers(1);
  if (!a || !b) return std::nullopt;
  const size_t count = std::max(a->values.size(), b->values.size());
  if (a->values.empty() || b->values.empty()) return std::nullopt;
  if (a->values.size() != b->values.size() && a->values.size() != 1 && b->values.size() != 1)
    return std::nullopt;
  KnownIntegers result{{}, a->is_scalar && b->is_scalar, a->dtype};
  for (size_t i = 0; i < count; ++i) {
    const Dim value =
        apply(a->values[a->values.size() == 1 ? 0 : i], b->values[b->values.size() == 1 ? 0 : i]);
    if (value.is_any() && !value.is_symbolic()) return std::nullopt;
    result.values.push_back(value);
  }
  return if_it_fits(std::move(result));
}

// ---- Truth: it decides which branches of an If are there.

/// Extents are not negative, nor are sums, products and quotients of them.
bool is_never_negative(Dim dim) {
  if (!dim.is_any()) return dim.value() >= 0;
  if (!dim.is_symbolic()) return false;
  if (as_extent_var(dim)) return true;
  const ExtentParts parts = extent_parts(dim);
  return parts.op != ExtentOp::kSub && is_never_negative(parts.a) && is_never_negative(parts.b);
}

/// -1, 0 or 1: how `a` compares with `b` for all extents; nullopt: that depends on them.
std::optional<int> compared(Dim a, Dim b) {
  if (a == b) return 0;
  const Dim difference = a - b;
  if (!difference.is_any()) return difference.value() < 0 ? -1 : difference.value() > 0;
  if (!a.is_any() && a.value() < 0 && is_never_negative(b)) return -1;
  if (!b.is_any() && b.value() < 0 && is_never_negative(a)) return 1;
  return std::nullopt;
}

template <class Holds>
Result truth(const Conversion& c, Holds holds) {
  const auto a = c.integers(0), b = c.integers(1);
  if (!a || !b || a->values.empty() || b->values.empty()) return std::nullopt;
  if (a->values.size() != b->values.size() && a->values.size() != 1 && b->values.size() != 1)
    return std::nullopt;
  KnownIntegers result{{}, a->is_scalar && b->is_scalar, DType::bool_()};
  for (size_t i = 0; i < std::max(a->values.size(), b->values.size()); ++i) {
    const auto order =
        compared(a->values[a->values.size() == 1 ? 0 : i], b->values[b->values.size() == 1 ? 0 : i]);
    if (!order) return std::nullopt;
    result.values.emplace_back(int64_t{holds(*order)});
  }
  return result;
}

/// And, Or, Xor: of bools, which have no order to know.
template <class Apply>
Result logical(const Conversion& c, Apply apply) {
  const auto a = c.integers(0), b = c.integers(1);
  if (!a || !b || a->values.size() != 1 || b->values.size() != 1) return std::nullopt;
  return KnownIntegers{{int64_t{apply(a->values[0].value() != 0, b->values[0].value() != 0)}},
                       a->is_scalar && b->is_scalar,
                       DType::bool_()};
}

Result negation(const Conversion& c) {
  auto data = c.integers(0);
  if (!data) return std::nullopt;
  for (Dim& each : data->values) each = int64_t{each.value() == 0};
  return data;
}

Result where(const Conversion& c) {
  const auto condition = c.integers(0), a = c.integers(1), b = c.integers(2);
  if (!condition || !a || !b || !all_numbers(*condition)) return std::nullopt;
  const size_t count = std::max({condition->values.size(), a->values.size(), b->values.size()});
  for (const auto* each : {&*condition, &*a, &*b})
    if (each->values.size() != count && each->values.size() != 1) return std::nullopt;
  const auto at = [](const KnownIntegers& of, size_t i) { return of.values[of.values.size() == 1 ? 0 : i]; };
  KnownIntegers result{{}, condition->is_scalar && a->is_scalar && b->is_scalar, a->dtype};
  for (size_t i = 0; i < count; ++i)
    result.values.push_back(at(*condition, i).value() ? at(*a, i) : at(*b, i));
  return result;
}

/// Rounds to zero, as Div does; extents are not negative, so that a symbolic one rounds down.
Dim quotient(Dim a, Dim b) {
  if (b.is_any() || b.value() == 0) return Dim::any();
  if (!a.is_any()) return a.value() == INT64_MIN && b.value() == -1 ? Dim::any() : Dim(a.value() / b.value());
  return b.value() > 0 ? floor_div(a, b.value()) : Dim::any();
}

template <class Choose>
Dim chosen(Dim a, Dim b, Choose choose) {
  if (a == b) return a;
  return a.is_any() || b.is_any() ? Dim::any() : Dim(choose(a.value(), b.value()));
}

Result product(const Conversion& c) {
  const auto data = c.integers(0);
  if (!data || data->is_scalar || c.integers_of("axes") || c.has(1)) return std::nullopt;
  Dim value = 1;
  for (const Dim each : data->values) value = value * each;
  return unless_unknown({{value}, c.integer("keepdims", 1) == 0, data->dtype});
}

using Fold = Result (*)(const Conversion& c);

const std::map<std::string_view, Fold>& folds() {
  static const std::map<std::string_view, Fold> all = {
      {"Shape", &shape},
      {"Size", &size},
      {"Gather", &gather},
      {"Concat", &concat},
      {"Slice", &slice},
      {"Identity", &same},
      {"Cast", &cast},
      {"Squeeze", &squeeze},
      {"Unsqueeze", &unsqueeze},
      {"Reshape", &reshape},
      {"ReduceProd", &product},
      {"Add", [](const Conversion& c) { return pairs(c, [](Dim a, Dim b) { return a + b; }); }},
      {"Sub", [](const Conversion& c) { return pairs(c, [](Dim a, Dim b) { return a - b; }); }},
      {"Mul", [](const Conversion& c) { return pairs(c, [](Dim a, Dim b) { return a * b; }); }},
      {"Div", [](const Conversion& c) { return pairs(c, &quotient); }},
      {"Equal", [](const Conversion& c) { return truth(c, [](int order) { return order == 0; }); }},
      {"Less", [](const Conversion& c) { return truth(c, [](int order) { return order < 0; }); }},
      {"LessOrEqual", [](const Conversion& c) { return truth(c, [](int order) { return order <= 0; }); }},
      {"Greater", [](const Conversion& c) { return truth(c, [](int order) { return order > 0; }); }},
      {"GreaterOrEqual", [](const Conversion& c) { return truth(c, [](int order) { return order >= 0; }); }},
      {"And", [](const Conversion& c) { return logical(c, [](bool a, bool b) { return a && b; }); }},
      {"Or", [](const Conversion& c) { return logical(c, [](bool a, bool b) { return a || b; }); }},
      {"Xor", [](const Conversion& c) { return logical(c, [](bool a, bool b) { return a != b; }); }},
      {"Not", &negation},
      {"Where", &where},
      {"Max",
       [](const Conversion& c) {
         if (c.count() != 2) return Result();
         return pairs(c, [](Dim a, Dim b) {
           return chosen(a, b, [](int64_t x, int64_t y) { return std::max(x, y); });
         });
       }},
      {"Min",
       [](const Conversion& c) {
         if (c.count() != 2) return Result();
         return pairs(c, [](Dim a, Dim b) {
           return chosen(a, b, [](int64_t x, int64_t y) { return std::min(x, y); });
         });
       }},
  };
  return all;
}

}  // namespace

std::optional<KnownIntegers> fold_integers(const Conversion& c) {
  if (!c.node.domain.empty()) return std::nullopt;
  const auto at = folds().find(c.node.op_type);
  return at == folds().end() ? std::nullopt : at->second(c);
}

std::optional<std::pair<Dim, Dim>> compared_extents(const Conversion& c) {
  if (!c.node.domain.empty() || c.node.op_type != "Equal") return std::nullopt;
  const auto a = c.integers(0), b = c.integers(1);
  if (!a || !b || a->values.size() != 1 || b->values.size() != 1) return std::nullopt;
  return std::pair(a->values[0], b->values[0]);
}

}  // namespace baton::onnx
