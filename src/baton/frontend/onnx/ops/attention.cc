// Attention, and rotary position embedding.
#include "baton/frontend/onnx/ops/attention.h"

#include <cmath>
#include <limits>

#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/formulas.h"
#include "baton/frontend/onnx/ops/normalization.h"
#include "baton/frontend/onnx/ops/products.h"
#include "baton/ir/op_names.h"

namespace baton::onnx {

int64_t known(const Conversion& c, Dim extent, const char* what) {
  if (extent.is_any()) throw c.not_supported(std::string(what) + " whose extent is not known");
  return extent.value();
}

int64_t heads_of(const Conversion& c, const char* name) {
  const int64_t heads = c.required_integer(name);
  if (heads < 1) throw c.error("attribute `" + std::string(name) + "` is " + std::to_string(heads));
  return heads;
}

Expr split_heads(const Conversion& c, const Expr& data, int64_t heads) {
  const int64_t hidden = known(c, tensor_type(data).shape().at(2), "heads of data");
  if (heads < 1 || hidden % heads != 0)
    throw c.error(std::to_string(hidden) + " elements do not divide into " + std::to_string(heads) +
                  " heads");
  return c.transpose(c.reshape(data, {0, 0, heads, hidden / heads}), {0, 2, 1, 3});
}

Expr join_heads(const Conversion& c, const Expr& data) {
  const std::vector<Dim>& shape = tensor_type(data).shape();
  const int64_t hidden = known(c, shape.at(1), "heads") * known(c, shape.at(3), "heads");
  return c.reshape(c.transpose(data, {0, 2, 1, 3}), {0, 0, hidden});
}

Expr bias_of(const Conversion& c, const Expr& allowed, DType dtype) {
  return c.call("where",
                {allowed, c.scalar(0, dtype), c.scalar(-std::numeric_limits<double>::infinity(), dtype)});
}

namespace {

/// Products of queries with keys or of probabilities with values, over batches and heads at once. Where
/// several heads of the queries share one of the others, they are rows of one product.
class HeadsProduct {
 public:
  HeadsProduct(const Conversion& c, const Expr& query, const Expr& key)
      : c_(c),
        heads_(known(c, tensor_type(query).shape().at(1), "heads")),
        shared_(known(c, tensor_type(key).shape().at(1), "heads")) {
    if (shared_ == 0 || heads_ % shared_ != 0)
      throw c.error(std::to_string(heads_) + " heads of the queries are no multiple of " +
                    std::to_string(shared_) + " of the keys");
  }

  Expr operator()(const Expr& a, const Expr& b, bool transpose_b) const {
    const int64_t group = heads_ / shared_;
    Expr rows = a;
    if (group > 1) rows = c_.reshape(c_.reshape(a, {0, -4, shared_, group, 0, 0}), {0, 0, -3, 0});
    const auto flat = [&](const Expr& x) { return c_.reshape(x, {-3, 0, 0}); };
    const Expr product = summed(c_, op_names::kBatchMatmul, {flat(rows), flat(b)},
                                {{"transpose_a", false}, {"transpose_b", transpose_b}});
    const Expr heads = c_.reshape(product, {-4, -1, shared_, 0, 0});
    return group == 1 ? heads : c_.reshape(c_.reshape(heads, {0, 0, -4, group, -1, 0}), {0, -3, 0, 0});
  }

 private:
  const Conversion& c_;
  int64_t heads_, shared_;
};

}  // namespace

namespace {

/// Over the last axis of short floats, rounded to them after each step, as ONNX defines it.
Expr short_softmax(const Conversion& c, const Expr& x) {
  const Formulas f(c);
  const DType type = f.dtype_of(x);
  const std::vector<int64_t> last{tensor_type(x).rank() - 1};
  const auto rounded = [&](const Expr& value) { return f.cast(value, type); };
  const Expr powers = rounded(f.of("exp", f.cast(f.sub(x, f.most(x, last)), kFloat32)));
  return f.div(powers, rounded(f.sum(f.cast(powers, kFloat32), last)));
}

}  // namespace

AttentionResult attention_of(const Conversion& c, const HeadsAttention& how) {
  const Formulas f(c);
  const DType type = f.dtype_of(how.query);
  const HeadsProduct product(c, how.query, how.key);
  const double size = static_cast<double>(known(c, tensor_type(how.query).shape().at(3), "heads")),
               scale = how.scale == 0 ? 1 / std::sqrt(size) : how.scale;
  AttentionResult made;
  if (how.scales_factors)
    made.scores = product(f.scaled(std::sqrt(scale), how.query), f.scaled(std::sqrt(scale), how.key), true);
  else
    made.scores = f.scaled(scale, product(how.query, how.key, true));
  made.capped =
      how.softcap == 0
          ? made.scores
          : f.scaled(how.softcap, f.of("tanh", f.div(made.scores, f.number(how.softcap, made.scores))));
  made.biased = how.bias ? f.add(made.capped, how.bias) : made.capped;
  const DType dtype = how.softmax_dtype.value_or(type);
  made.probabilities =
      f.cast(dtype.bits == 16 ? short_softmax(c, f.cast(made.biased, dtype))
                              : c.call("nn.softmax", {f.cast(made.biased, dtype)}, {{"axis", -1}}),
             type);
  if (how.hides_all) {
    const Expr most = f.most(how.bias, {tensor_type(how.bias).rank() - 1});
    const Expr hidden = f.of("equal", most, f.number(-std::numeric_limits<double>::infinity(), most));
    made.probabilities = f.where(hidden, f.number(0, made.probabilities), made.probabilities);
  }
  made.result = product(made.probabilities, how.value, false);
  return made;
}

Expr rotated(const Conversion& c, const Expr& data, const Expr& cos, const Expr& sin, bool interleaved) {
  const Formulas f(c);
  const int64_t size = known(c, tensor_type(data).shape().at(3), "heads"),
                half = known(c, tensor_type(cos).shape().at(2), "caches of angles");
  if (2 * half > size)
    throw c.error(std::to_string(2 * half) + " elements turn in heads of " + std::to_string(size));
  const Expr turning = 2 * half == size ? data : f.sliced(data, 3, 0, 2 * half);
  const Expr x = interleaved ? f.sliced(turning, 3, 0, 2 * half, 2) : f.sliced(turning, 3, 0, half),
             y = interleaved ? f.sliced(turning, 3, 1, 2 * half, 2) : f.sliced(turning, 3, half, 2 * half);
  const Expr cosine = f.expanded(cos, 1), sine = f.expanded(sin, 1);  // the same for all heads
  const Expr real = f.sub(f.mul(cosine, x), f.mul(sine, y)),
             imaginary = f.add(f.mul(sine, x), f.mul(cosine, y));
  Expr turned = interleaved
                    ? c.reshape(f.joined({f.expanded(real, 4), f.expanded(imaginary, 4)}, 4), {0, 0, 0, -3})
                    : f.joined({real, imaginary}, 3);
  if (2 * half < size) turned = f.joined({turned, f.sliced(data, 3, 2 * half, size)}, 3);
  return turned;
}

namespace {

// ---- Attention.

constexpr size_t kMask = 3, kPastKey = 4, kPastValue = 5, kLengths = 6;  // inputs

Expr with_heads(const Conversion& c, size_t input, const char* heads) {
  const int rank = c.rank(input);
  if (rank != 3 && rank != 4)
    throw c.error("input " + std::to_string(input) + " is of rank " + std::to_string(rank));
  return rank == 4 ? c[input] : split_heads(c, c[input], heads_of(c, heads));
}

/// The mask over all keys: what is missing at its end is hidden.
Expr full_mask(const Conversion& c, const Expr& key) {
  const Expr mask = c[kMask];
  const TensorTypeNode& type = tensor_type(mask);
  const Dim own = last_extent(type), all = tensor_type(key).shape().at(2);
  if (own == all || own.is_any() || all.is_any()) return mask;
  const bool is_bool = type.dtype() == kBool;
  std::vector<int64_t> shape;
  for (const Dim each : type.shape()) shape.push_back(known(c, each, "masks that are shorter than the keys"));
  shape.back() = all.value() - own.value();
  if (shape.back() < 0) throw c.error("its mask is longer than its keys");
  const double hidden = is_bool ? 0 : -std::numeric_limits<double>::infinity();
  const Expr rest =
      c.call("full", {c.scalar(hidden, type.dtype())}, {{"shape", shape}, {"dtype", type.dtype()}});
  return Formulas(c).joined({mask, rest}, type.rank() - 1);
}

/// Which keys each query may see by their positions: `is_causal` and the windows. Null: all.
Expr visible(const Conversion& c, const Expr& query, const Expr& key) {
  const Formulas f(c);
  const int64_t left = c.integer("left_window_size", -1), right = c.integer("right_window_size", -1);
  const bool causal = c.integer("is_causal", 0) != 0;
  if (left < -1 || right < -1) throw c.error("a window is smaller than -1");
  if (!causal && left < 0 && right < 0) return {};
  const DType int64 = kInt64;
  const Expr keys = f.positions(key, 2);
  Expr queries = f.expanded(f.positions(query, 2), 1);
  // Positions count from the first key; queries stand at the end of what is there.
  if (c.has(kPastKey)) {
    const Dim past = c.type(kPastKey).shape().at(2);
    queries = f.add(queries, c.cast(c.tensor(Value(KnownIntegers{{past}, true, int64})), int64));
  } else if (c.has(kLengths)) {
    const Dim length = tensor_type(query).shape().at(2);
    const Expr offset =
        f.sub(c.cast(c[kLengths], int64), c.tensor(Value(KnownIntegers{{length}, true, int64})));
    queries = f.add(f.expanded(offset, 1, 3), queries);
  }
  Expr allowed;
  const auto also = [&](const Expr& more) { allowed = allowed ? f.of("logical_and", allowed, more) : more; };
  if (causal) also(f.of("less_equal", keys, queries));
  if (left >= 0) also(f.of("less_equal", f.sub(queries, keys), c.scalar(static_cast<double>(left), int64)));
  if (right >= 0) also(f.of("less_equal", f.sub(keys, queries), c.scalar(static_cast<double>(right), int64)));
  return allowed;
}

/// What is added to the scores; null: nothing.
Expr attention_bias(const Conversion& c, const Expr& query, const Expr& key) {
  const Formulas f(c);
  const DType type = f.dtype_of(query);
  Expr allowed = visible(c, query, key), bias;
  const auto also = [&](const Expr& more) { allowed = allowed ? f.of("logical_and", allowed, more) : more; };
  if (c.has(kMask)) {
    const Expr mask = full_mask(c, key);
    if (f.dtype_of(mask) == kBool)
      also(mask);
    else
      bias = f.cast(mask, type);
  }
  if (c.has(kLengths)) {
    const Expr lengths = f.expanded(c.cast(c[kLengths], DType::int_(64)), 1, 3);
    also(f.of("less", f.positions(key, 2), lengths));
  }
  if (!allowed) return bias;
  const Expr hidden = bias_of(c, allowed, type);
  return bias ? f.add(bias, hidden) : hidden;
}

Values attention(Conversion& c) {
  const Formulas f(c);
  HeadsAttention how;
  how.query = with_heads(c, 0, "q_num_heads");
  how.key = with_heads(c, 1, "kv_num_heads");
  how.value = with_heads(c, 2, "kv_num_heads");
  if (c.has(kPastKey) != c.has(kPastValue)) throw c.error("past keys and past values are not given together");
  if (c.has(kPastKey)) {
    how.key = f.joined({c[kPastKey], how.key}, 2);
    how.value = f.joined({c[kPastValue], how.value}, 2);
  }
  how.scale = c.number("scale", 0);
  how.scales_factors = true;
  how.softcap = c.number("softcap", 0);
  how.bias = attention_bias(c, how.query, how.key);
  how.hides_all = how.bias && (c.has(kMask) || c.has(kLengths) || c.integer("left_window_size", -1) >= 0 ||
                               c.integer("right_window_size", -1) >= 0);
  if (c.has_attribute("softmax_precision"))
    how.softmax_dtype = c.element_type("softmax_precision", DType::float_(32));
  const AttentionResult made = attention_of(c, how);
  const int64_t mode = c.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) throw c.error("`qk_matmul_output_mode` is " + std::to_string(mode));
  const Expr scores[] = {made.scores, made.capped, made.biased, made.probabilities};
  return {c.rank(0) == 3 ? join_heads(c, made.result) : made.result, how.key, how.value, scores[mode]};
}

// ---- Rotary embedding.

Values rotary_embedding(Conversion& c) {
  const Formulas f(c);
  const bool flat = c.rank(0) == 3;
  const Expr data = flat ? split_heads(c, c[0], heads_of(c, "num_heads")) : c[0];
  Expr cos = c[1], sin = c[2];
  if (c.has(3)) {
    cos = c.call("take", {cos, c[3]}, {{"axis", 0}});
    sin = c.call("take", {sin, c[3]}, {{"axis", 0}});
  }
  const int64_t turning = c.integer("rotary_embedding_dim", 0),
                size = turning != 0 ? turning : known(c, tensor_type(data).shape().at(3), "heads");
  const Dim half = last_extent(tensor_type(cos));
  if (tensor_type(cos).rank() != 3 || !(half == Dim(size / 2)))
    throw c.error("its caches of angles do not have " + std::to_string(size / 2) + " elements in each row");
  const Expr turned = rotated(c, data, cos, sin, c.integer("interleaved", 0) != 0);
  return {flat ? join_heads(c, turned) : turned};
}

}  // namespace

const std::vector<Operator>& attention_operators() {
  static const std::vector<Operator> all = {
      {"", "Attention", {23, 24, 25}, &attention},
      {"", "RotaryEmbedding", {23}, &rotary_embedding},
  };
  return all;
}

}  // namespace baton::onnx
