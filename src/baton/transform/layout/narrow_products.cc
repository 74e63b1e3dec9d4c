#include "baton/transform/layout/narrow_products.h"

#include <algorithm>
#include <optional>
#include <span>

#include "baton/ir/build.h"
#include "baton/ir/rules/layer_kind.h"
#include "baton/pass/rewriter.h"
#include "baton/schedule/conv_algorithm.h"

namespace baton {

namespace {

const DType kByte = DType::uint_(8), kSignedByte = DType::int_(8), kWord = DType::int_(16);

/// The most that two weights of one sign may sum to: 255 times as much fits into int16.
constexpr int kMostInPair = 128;

/// Whether sums of two products of any uint8 and neighbours along axis 1 fit into int16.
bool pairs_fit(const NDArray& weight) {
  const auto& shape = weight.shape();
  int64_t inner = 1;
  for (size_t axis = 2; axis < shape.size(); ++axis) inner *= shape[axis];
  const std::span<const int8_t> value = weight.as<int8_t>();
  for (int64_t o = 0; o < shape[0]; ++o)
    for (int64_t i = 0; i + 1 < shape[1]; i += 2) {
      const auto first = value.subspan((o * shape[1] + i) * inner, 2 * inner);
      for (int64_t k = 0; k < inner; ++k) {
        const int a = first[k], b = first[k + inner];
        if (std::max(a, 0) + std::max(b, 0) > kMostInPair || std::min(a, 0) + std::min(b, 0) < -kMostInPair)
          return false;
      }
    }
  return true;
}

/// `weight` in int8; nothing where a value does not fit.
std::optional<NDArray> in_int8(const NDArray& weight) {
  const int64_t count = weight.size();
  NDArray narrow = NDArray::empty(weight.shape(), kSignedByte);
  const std::span<const int16_t> from = weight.as<int16_t>();
  for (int64_t i = 0; i < count; ++i) {
    if (from[i] < INT8_MIN || from[i] > INT8_MAX) return std::nullopt;
    narrow.as<int8_t>()[i] = static_cast<int8_t>(from[i]);
  }
  return narrow;
}

/// The number that `expr` is, an int16 scalar; nothing for another expression.
std::optional<int> int16_scalar(const Expr& expr) {
  const auto* constant = as<ConstantNode>(expr);
  if (!constant || constant->value().ndim() != 0 || constant->value().dtype() != kWord) return std::nullopt;
  return constant->value().as<int16_t>()[0];
}

/// A tensor of bytes, widened to int16, less its zero point.
struct WidenedBytes {
  Expr bytes;
  OriginSet origins;  ///< of the nodes that widen it
  DType dtype;
  int zero = 0;
};

/// `now` is `original` rewritten. Nothing where it is something else.
std::optional<WidenedBytes> widened_bytes(const Expr& original, const Expr& now) {
  const CallNode *less = call_of(original, "subtract"), *new_less = call_of(now, "subtract");
  const auto zero = less && new_less ? int16_scalar(new_less->args()[1]) : std::optional<int>(0);
  if (!zero) return std::nullopt;
  const CallNode* cast = call_of(less ? less->args()[0] : original, "cast");
  const CallNode* new_cast = call_of(new_less ? new_less->args()[0] : now, "cast");
  if (!cast || !new_cast || !cast->checked_type()) return std::nullopt;
  const TensorTypeNode* from = tensor_type_of(cast->args()[0]);
  const auto* to = as_type<TensorTypeNode>(cast->checked_type());
  if (!from || !to || to->dtype() != kWord || (from->dtype() != kByte && from->dtype() != kSignedByte))
    return std::nullopt;
  OriginSet origins = new_cast->origins();
  if (new_less) origins = origins.merge(new_less->origins());
  return WidenedBytes{new_cast->args()[0], origins, from->dtype(), *zero};
}

Expr int16_constant(int value) {
  NDArray number = NDArray::empty({}, kWord);
  number.as<int16_t>()[0] = static_cast<int16_t>(value);
  return constant(std::move(number));
}

/// In uint8, with the zero point that goes with it.
WidenedBytes in_uint8(WidenedBytes data) {
  if (data.dtype == kByte) return data;
  const Expr wide = call_op("cast", {data.bytes}, {{"dtype", kWord}});
  const Expr moved = call_op("add", {wide, int16_constant(128)});
  return {call_op("cast", {moved}, {{"dtype", kByte}}), data.origins, kByte, data.zero + 128};
}

/// `zero` times the sum of each filter, of the shape `result` has at its axis of channels.
Expr zero_terms(const NDArray& weight, int zero, bool convolution) {
  const int64_t channels = weight.shape()[0], each = weight.size() / channels;
  const std::span<const int8_t> values = weight.as<int8_t>();
  NDArray terms = convolution ? NDArray::empty({channels, 1, 1}, DType::int_(32))
                              : NDArray::empty({channels}, DType::int_(32));
  for (int64_t o = 0; o < channels; ++o) {
    int64_t sum = 0;
    for (int64_t k = 0; k < each; ++k) sum += values[o * each + k];
    terms.as<int32_t>()[o] = static_cast<int32_t>(sum * zero);
  }
  return constant(std::move(terms));
}

/// Top, left, bottom, right.
std::vector<int64_t> sides(const std::vector<int64_t>& padding) {
  if (padding.size() == 4) return padding;
  if (padding.size() == 2) return {padding[0], padding[1], padding[0], padding[1]};
  return std::vector<int64_t>(4, padding.at(0));
}

class ProductNarrower final : public Rewriter {
 public:
  explicit ProductNarrower(const DeviceSheet& sheet) : sheet_(sheet) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto *call = as<CallNode>(original), *now = as<CallNode>(rebuilt);
    const LayerKind* kind = call && call->op() ? call->op()->rules.get<LayerKind>() : nullptr;
    if (!kind || *kind == LayerKind::kConvolutionTransposed) return rebuilt;
    const bool convolution = *kind == LayerKind::kConvolution2D;
    if (convolution && !is_plain(*call)) return rebuilt;
    const auto* result = as_type<TensorTypeNode>(call->checked_type());
    const auto* weight = as<ConstantNode>(now->args()[1]);
    if (!result || result->dtype() != DType::int_(32) || !weight || weight->value().dtype() != kWord ||
        weight->value().size() == 0)
      return rebuilt;
    const auto narrow = in_int8(weight->value());
    const auto data = widened_bytes(call->args()[0], now->args()[0]);
    if (!narrow || !data || byte_products(kByte, *narrow, sheet_) == ByteProducts::kNone) return rebuilt;
    // It computes what the nodes stood for that widen its data, too.
    const NodeInfo info(now->origins().merge(data->origins), now->span());
    const WidenedBytes bytes = in_uint8(*data);
    if (bytes.zero < 0 || bytes.zero > UINT8_MAX) return rebuilt;
    Attrs attrs = now->attrs();
    Expr operand = bytes.bytes;
    if (bytes.zero != 0 && convolution) {
      const std::vector<int64_t> padding = sides(ints_attr(*call, "padding"));
      if (padding != std::vector<int64_t>(4, 0)) {
        operand = padded(operand, padding, bytes.zero);
        attrs = with_fields(attrs, {{"padding", std::vector<int64_t>(4, 0)}});
      }
    }
    const Expr filters = make_constant(*narrow, NodeInfo(weight->origins(), weight->span()));
    const Expr product = make_call(now->callee(), {operand, filters}, attrs, info);
    if (bytes.zero == 0) return product;
    return call_op("subtract", {product, zero_terms(*narrow, bytes.zero, convolution)});
  }

  static bool is_plain(const CallNode& conv) {
    const std::string out = text_attr(conv, "out_layout");
    return int_attr(conv, "groups") == 1 && text_attr(conv, "data_layout") == "NCHW" &&
           text_attr(conv, "kernel_layout") == "OIHW" && (out.empty() || out == "NCHW");
  }

  static Expr padded(const Expr& data, const std::vector<int64_t>& sides, int zero) {
    NDArray number = NDArray::empty({}, kByte);
    number.as<uint8_t>()[0] = static_cast<uint8_t>(zero);
    const AttrList width{std::vector<int64_t>{0, 0}, std::vector<int64_t>{0, 0},
                         std::vector<int64_t>{sides[0], sides[2]}, std::vector<int64_t>{sides[1], sides[3]}};
    return call_op("nn.pad", {data, constant(std::move(number))}, {{"pad_width", width}});
  }

  const DeviceSheet& sheet_;
};

}  // namespace

ByteProducts byte_products(DType data, const NDArray& weight, const DeviceSheet& sheet) {
  if (data != kByte || weight.dtype() != kSignedByte || weight.ndim() < 2) return ByteProducts::kNone;
  if (sums_four_bytes(sheet)) return ByteProducts::kFours;
  return pairs_fit(weight) ? ByteProducts::kPairs : ByteProducts::kNone;
}

Function narrow_products(const Function& function, const DeviceSheet& sheet) {
  return as_ref<FunctionNode>(ProductNarrower(sheet).run(function));
}

}  // namespace baton
