// Attention as ONNX Runtime's optimisers write it.
#include "baton/frontend/onnx/ops/microsoft_attention.h"

#include <algorithm>
#include <cmath>

#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/attention.h"
#include "baton/frontend/onnx/ops/formulas.h"
#include "baton/frontend/onnx/ops/products.h"

namespace baton::onnx {

namespace {

void refuse(const Conversion& c, std::initializer_list<const char*> attributes) {
  for (const char* name : attributes)
    if (c.integer(name, 0) != 0) throw c.not_supported("attentions with `" + std::string(name) + "`");
}

/// 0 where `allowed`, else the number that hides, shaped as scores are.
Expr mask_bias(const Conversion& c, const Expr& allowed, DType type) {
  const double hides = c.number("mask_filter_value", -10000);
  return c.call("where", {allowed, c.scalar(0, type), c.scalar(hides, type)});
}

/// Masks by their shape: (batch, keys), (batch, queries, keys), lengths (batch), or ends and starts (2 *
/// batch).
Expr padding_bias(const Conversion& c, size_t input, const Expr& key, DType type) {
  const Formulas f(c);
  const Expr mask = f.cast(c[input], kInt64), zero = c.scalar(0, kInt64);
  const int rank = tensor_type(mask).rank();
  if (rank == 2) return mask_bias(c, f.expanded(f.of("greater", mask, zero), 1, 2), type);
  if (rank == 3) return mask_bias(c, f.expanded(f.of("greater", mask, zero), 1), type);
  const Dim batch = tensor_type(key).shape().at(0), own = tensor_type(mask).shape().at(0);
  const Expr places = f.positions(key, 2);
  const auto before = [&](const Expr& ends) { return f.of("less", places, f.expanded(ends, 1, 3)); };
  if (rank == 1 && own == batch) return mask_bias(c, before(mask), type);
  if (rank == 1 && !batch.is_any() && own == Dim(2 * batch.value())) {
    const std::vector<Expr> parts = f.parts(mask, 2, 0);
    const Expr behind = f.of("greater_equal", places, f.expanded(parts[1], 1, 3));
    return mask_bias(c, f.of("logical_and", before(parts[0]), behind), type);
  }
  throw c.not_supported("masks of this shape");
}

/// Each query sees the keys up to its own place; the queries are the last of all places.
Expr causal_bias(const Conversion& c, const Expr& query, const Expr& key, DType type, int64_t window) {
  const Formulas f(c);
  const auto length = [&](const Expr& x) {
    return f.cast(f.taken(c.call("shape_of", {x}, {{"dtype", kInt64}}), 0, 2), kInt64);
  };
  const Dim own = tensor_type(query).shape().at(2), all = tensor_type(key).shape().at(2);
  const Expr past = own.is_any() || all.is_any()
                        ? f.sub(length(key), length(query))
                        : c.scalar(static_cast<double>(all.value() - own.value()), kInt64);
  const Expr places = f.add(f.expanded(f.positions(query, 2), 1), past), keys = f.positions(key, 2);
  Expr allowed = f.of("less_equal", keys, places);
  if (window > 0) {
    const Expr near = f.of("less", f.sub(places, keys), c.scalar(static_cast<double>(window), kInt64));
    allowed = f.of("logical_and", allowed, near);
  }
  return bias_of(c, allowed, type);
}

Expr sum_of(const Conversion& c, const Expr& a, const Expr& b) {
  return a && b ? c.call("add", {a, b}) : a ? a : b;
}

// ---- MultiHeadAttention

/// One of several tensors that are packed along an axis of a 5-D one, as (batch, heads, length, size).
Expr unpacked(const Conversion& c, const Expr& packed, int64_t index) {
  return c.transpose(Formulas(c).taken(packed, 3, index), {0, 2, 1, 3});
}

Values multi_head_attention(Conversion& c) {
  const Formulas f(c);
  const int64_t heads = heads_of(c, "num_heads");
  for (const size_t input : {8, 9})
    if (c.has(input)) throw c.not_supported("attentions with shared buffers");
  HeadsAttention how;
  const auto biased = [&](size_t input, int part) {
    if (!c.has(3)) return c[input];
    std::vector<int64_t> hidden;
    int64_t begin = 0;
    for (int i = 0; i < part; ++i) begin += known(c, c.type(static_cast<size_t>(i)).shape().at(2), "biases");
    const int64_t own = known(c, c.type(input).shape().at(2), "biases");
    return f.add(c[input], f.sliced(c[3], 0, begin, begin + own));
  };
  if (c.rank(0) == 5) {
    if (c.has(3)) throw c.not_supported("biases of packed queries, keys and values");
    how.query = unpacked(c, c[0], 0), how.key = unpacked(c, c[0], 1), how.value = unpacked(c, c[0], 2);
  } else {
    how.query = split_heads(c, biased(0, 0), heads);
    if (c.rank(1) == 5) {
      if (c.has(3)) throw c.not_supported("biases of packed keys and values");
      how.key = unpacked(c, c[1], 0), how.value = unpacked(c, c[1], 1);
    } else if (c.rank(1) == 4) {
      how.key = c[1], how.value = c[2];
    } else {
      how.key = split_heads(c, biased(1, 1), heads), how.value = split_heads(c, biased(2, 2), heads);
    }
  }
  if (c.has(6)) how.key = f.joined({c[6], how.key}, 2), how.value = f.joined({c[7], how.value}, 2);
  const DType type = f.dtype_of(how.query);
  how.scale = c.number("scale", 0);
  if (c.has(4)) how.bias = padding_bias(c, 4, how.key, type);
  if (c.has(5)) how.bias = sum_of(c, how.bias, c[5]);
  if (c.integer("unidirectional", 0) != 0)
    how.bias = sum_of(c, how.bias, causal_bias(c, how.query, how.key, type, 0));
  const AttentionResult made = attention_of(c, how);
  return {join_heads(c, made.result), how.key, how.value};
}

// ---- Attention

Values self_attention(Conversion& c) {
  const Formulas f(c);
  Expr all = matrix_product(c, c[0], c[1]);
  if (c.has(2)) all = f.add(all, c[2]);
  return attention_of_projection(c, all, {3, 4, 5});
}

// ---- GroupQueryAttention

/// The cache with the new keys or values at the end of what each sentence has so far, and zeros behind.
/// `past` and `total`: how many each sentence had, and has then.
Expr appended(const Conversion& c, const Expr& cache, const Expr& fresh, const Expr& past,
              const Expr& total) {
  const Formulas f(c);
  const Expr both = f.joined({cache, fresh}, 2);
  const Expr places = f.positions(both, 2);
  const Expr from =
      f.of("maximum", f.sub(places, f.expanded(past, 1)), c.scalar(0, kInt64));  // (batch, places)
  const Expr rows = c.transpose(fresh, {0, 2, 1, 3});
  const Expr moved =
      c.transpose(c.call("take", {rows, from}, {{"axis", 1}, {"batch_dims", 1}}), {0, 2, 1, 3});
  const auto before = [&](const Expr& ends) {
    return f.expanded(f.expanded(f.of("less", places, f.expanded(ends, 1)), 1), 3);
  };
  return f.where(before(past), both, f.where(before(total), moved, f.number(0, moved)));
}

/// A cache with room for the new tokens keeps its length; whether it has, the greatest number of tokens says
/// where that is known. Else all of the cache counts as filled.
Expr within_cache(const Conversion& c, const Expr& all) {
  const std::optional<std::vector<int64_t>> most = c.numbers(6);
  const Dim before = c.type(3).shape().at(2), own = tensor_type(all).shape().at(2);
  if (!most || most->size() != 1 || before.is_any() || own.is_any()) return all;
  const int64_t length = std::max(before.value(), most->at(0));
  return length < own.value() ? Formulas(c).sliced(all, 2, 0, length) : all;
}

Values group_query_attention(Conversion& c) {
  const Formulas f(c);
  refuse(c, {"sliding_window_cache", "smooth_softmax", "qk_output"});
  for (const size_t input : {11, 12, 13, 14, 15})
    if (c.has(input)) throw c.not_supported("its input " + std::to_string(input) + " and what it says");
  const int64_t heads = heads_of(c, "num_heads"), shared = heads_of(c, "kv_num_heads");
  HeadsAttention how;
  if (c.has(1)) {
    how.query = split_heads(c, c[0], heads);
    how.key = split_heads(c, c[1], shared), how.value = split_heads(c, c[2], shared);
  } else {
    const Expr packed = split_heads(c, c[0], heads + 2 * shared);
    how.query = f.sliced(packed, 1, 0, heads);
    how.key = f.sliced(packed, 1, heads, heads + shared);
    how.value = f.sliced(packed, 1, heads + shared, heads + 2 * shared);
  }
  const Expr places = f.positions(how.query, 2);
  // (batch) of int64: how many tokens there are, and how many were there before these.
  const Expr total = f.plus(f.cast(c.reshape(c[5], {-1}), kInt64), 1);
  const Dim length = tensor_type(how.query).shape().at(2);
  const bool has_past = c.has(3) && !(c.type(3).shape().at(2) == Dim(0));
  const Expr own = length.is_any()
                       ? f.cast(f.taken(c.call("shape_of", {how.query}, {{"dtype", kInt64}}), 0, 2), kInt64)
                       : c.scalar(static_cast<double>(length.value()), kInt64);
  const Expr past = has_past ? f.sub(total, own) : f.of("zeros_like", total);
  const Expr absolute = f.add(f.expanded(past, 1), places);  // (batch, queries)
  if (c.integer("do_rotary", 0) != 0) {
    const Expr at = c.has(9) ? c[9] : absolute;
    const auto angles = [&](size_t input) { return c.call("take", {c[input], at}, {{"axis", 0}}); };
    const bool interleaved = c.integer("rotary_interleaved", 0) != 0;
    how.query = rotated(c, how.query, angles(7), angles(8), interleaved);
    how.key = rotated(c, how.key, angles(7), angles(8), interleaved);
  }
  if (has_past) {
    how.key = within_cache(c, appended(c, c[3], how.key, past, total));
    how.value = within_cache(c, appended(c, c[4], how.value, past, total));
  }
  const Expr keys = f.positions(how.key, 2), queries = f.expanded(f.expanded(absolute, 1), 3);
  Expr allowed = f.of("less", keys, f.expanded(total, 1, 3));
  if (c.integer("causal", 1) != 0) allowed = f.of("logical_and", allowed, f.of("less_equal", keys, queries));
  if (const int64_t window = c.integer("local_window_size", -1); window > 0)
    allowed = f.of("logical_and", allowed,
                   f.of("less", f.sub(queries, keys), c.scalar(static_cast<double>(window), kInt64)));
  how.bias = bias_of(c, allowed, f.dtype_of(how.query));
  how.hides_all = true;
  if (c.has(10)) how.bias = f.add(how.bias, c[10]);
  how.scale = c.number("scale", 0);
  how.softcap = c.number("softcap", 0);
  return {join_heads(c, attention_of(c, how).result), how.key, how.value};
}

// ---- RotaryEmbedding

Values rotary(Conversion& c) {
  const Formulas f(c);
  refuse(c, {"is_packed_batching"});
  if (c.number("scale", 1) != 1) throw c.not_supported("rotary embeddings with `scale`");
  const bool flat = c.rank(0) == 3;
  const int64_t half = known(c, c.type(2).shape().at(1), "caches of angles");
  int64_t heads = c.integer("num_heads", 0);
  if (half < 1) throw c.error("its caches of angles are empty");
  if (flat && heads == 0) heads = known(c, c.type(0).shape().at(2), "heads") / (2 * half);
  const Expr data = flat ? split_heads(c, c[0], heads) : c[0];
  Expr places = c[1];  // the first one, or all
  if (c.rank(1) == 1) places = f.expanded(f.add(f.cast(places, kInt64), f.positions(data, 2)), 0);
  const auto angles = [&](size_t input) { return c.call("take", {c[input], places}, {{"axis", 0}}); };
  const Expr turned = rotated(c, data, angles(2), angles(3), c.integer("interleaved", 0) != 0);
  return {flat ? join_heads(c, turned) : turned};
}

}  // namespace

Values attention_of_projection(Conversion& c, const Expr& all, const ProjectionInputs& at) {
  const Formulas f(c);
  refuse(c, {"do_rotary", "past_present_share_buffer"});
  const int64_t heads = heads_of(c, "num_heads"),
                width = known(c, tensor_type(all).shape().at(2), "projections");
  const std::vector<int64_t> sizes =
      c.integers_of("qkv_hidden_sizes").value_or(std::vector<int64_t>(3, width / 3));
  if (sizes.size() != 3 || sizes.at(0) + sizes.at(1) + sizes.at(2) != width)
    throw c.error("its queries, keys and values are not " + std::to_string(width) + " elements together");
  int64_t begin = 0;
  const auto part = [&](size_t i) {
    begin += sizes.at(i);
    return split_heads(c, f.sliced(all, 2, begin - sizes.at(i), begin), heads);
  };
  HeadsAttention how;
  how.query = part(0), how.key = part(1), how.value = part(2);
  if (c.has(at.past)) {
    how.key = f.joined({f.taken(c[at.past], 0, 0), how.key}, 2);
    how.value = f.joined({f.taken(c[at.past], 0, 1), how.value}, 2);
  }
  const DType type = f.dtype_of(how.query);
  if (c.has(at.mask)) how.bias = padding_bias(c, at.mask, how.key, type);
  if (c.has(at.bias)) how.bias = sum_of(c, how.bias, c[at.bias]);
  if (c.integer("unidirectional", 0) != 0)
    how.bias = sum_of(c, how.bias, causal_bias(c, how.query, how.key, type, 0));
  how.scale = c.number("scale", 0);
  Values results{join_heads(c, attention_of(c, how).result)};
  if (c.wants(1)) results.emplace_back(f.joined({f.expanded(how.key, 0), f.expanded(how.value, 0)}, 0));
  return results;
}

const std::vector<Operator>& microsoft_attention() {
  static const std::vector<Operator> all = {
      {"com.microsoft", "Attention", {1}, &self_attention},
      {"com.microsoft", "GroupQueryAttention", {1}, &group_query_attention},
      {"com.microsoft", "MultiHeadAttention", {1}, &multi_head_attention},
      {"com.microsoft", "RotaryEmbedding", {1}, &rotary},
  };
  return all;
}

}  // namespace baton::onnx
