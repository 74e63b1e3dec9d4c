#include "baton/transform/layout/narrow_products.h"

#include <algorithm>
#include <optional>
#include <span>

#include "baton/ir/build.h"
#include "baton/ir/op_names.h"
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

/// What `expr` is widened from: uint8 in int16; null where it is something else.
const CallNode* widened_byte(const Expr& expr) {
  const CallNode* cast = call_of(expr, "cast");
  if (!cast || !cast->checked_type()) return nullptr;
  const TensorTypeNode *from = tensor_type_of(cast->args()[0]), *to = tensor_type_of(expr);
  return from && to && from->dtype() == kByte && to->dtype() == kWord ? cast : nullptr;
}

class ProductNarrower final : public Rewriter {
 public:
  explicit ProductNarrower(const DeviceSheet& sheet) : sheet_(sheet) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto *call = as<CallNode>(original), *now = as<CallNode>(rebuilt);
    const LayerKind* kind = call && call->op() ? call->op()->rules.get<LayerKind>() : nullptr;
    if (!kind || *kind == LayerKind::kConvolutionTransposed) return rebuilt;
    if (*kind == LayerKind::kConvolution2D &&
        (int_attr(*call, "groups") != 1 || text_attr(*call, "data_layout") != "NCHW" ||
         text_attr(*call, "kernel_layout") != "OIHW"))
      return rebuilt;
    const auto* result = as_type<TensorTypeNode>(call->checked_type());
    const CallNode *cast = widened_byte(call->args()[0]), *new_cast = call_of(now->args()[0], "cast");
    const auto* weight = as<ConstantNode>(now->args()[1]);
    if (!result || result->dtype() != DType::int_(32) || !cast || !new_cast || !weight ||
        weight->value().dtype() != kWord)
      return rebuilt;
    const auto narrow = in_int8(weight->value());
    if (!narrow) return rebuilt;
    const Expr constant = make_constant(*narrow, NodeInfo(weight->origins(), weight->span()));
    if (byte_products(cast->args()[0], constant, sheet_) == ByteProducts::kNone) return rebuilt;
    // It computes what the cast stood for, too.
    const NodeInfo info(now->origins().merge(new_cast->origins()), now->span());
    return make_call(now->callee(), {new_cast->args()[0], constant}, now->attrs(), info);
  }

  const DeviceSheet& sheet_;
};

}  // namespace

ByteProducts byte_products(const Expr& data, const Expr& weight, const DeviceSheet& sheet) {
  const auto* constant = as<ConstantNode>(weight);
  const TensorTypeNode* type = tensor_type_of(data);
  if (!constant || !type || type->dtype() != kByte || constant->value().dtype() != kSignedByte ||
      constant->value().shape().size() < 2)
    return ByteProducts::kNone;
  if (sums_four_bytes(sheet)) return ByteProducts::kFours;
  return pairs_fit(constant->value()) ? ByteProducts::kPairs : ByteProducts::kNone;
}

Function narrow_products(const Function& function, const DeviceSheet& sheet) {
  return as_ref<FunctionNode>(ProductNarrower(sheet).run(function));
}

}  // namespace baton
