// Constant weights in bfloat16, for the precision "bf16": half the bytes of layers that are bound by reading
// them. Products and sums stay float32, as do all other values: kernels widen weights in registers.
//   nn.dense(x, w)  ->  nn.dense(x, bfloat16(w)), rounded to the nearest, ties to even
// Only where the choice of kernels says that it pays (KernelChoice::narrows_weight).
#include <bit>
#include <unordered_map>
#include <unordered_set>

#include "baton/ir/build.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/cost.h"
#include "baton/ir/rules/narrow_weight.h"
#include "baton/ir/visit.h"
#include "baton/pass/build_context.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/schedule/kernel_choice.h"

namespace baton {

namespace {

constexpr DType kFloat32 = DType::float_(32), kBfloat16{DType::Code::kBFloat, 16, 1};

/// To nearest even; NaN stays NaN, and what is too large becomes infinite.
uint16_t rounded(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

bool is_float32(const Type& type) {
  const auto* tensor = as_type<TensorTypeNode>(type);
  return tensor && tensor->dtype() == kFloat32;
}

/// The constant weight of a typed call that may be stored so, or null.
const ConstantNode* weight_of(const CallNode& call) {
  const auto* rule = call.op() ? call.op()->rules.get<NarrowWeight>() : nullptr;
  if (!rule || rule->operand >= call.args().size() || !is_float32(call.checked_type())) return nullptr;
  for (const Expr& arg : call.args())
    if (!is_float32(arg->checked_type())) return nullptr;
  const auto* weight = as<ConstantNode>(call.args()[rule->operand]);
  return weight && weight->value().size() > 0 ? weight : nullptr;
}

/// The bytes of all weights, each counted once.
int64_t bytes_of_weights(const Expr& root) {
  std::unordered_set<const ConstantNode*> seen;
  int64_t bytes = 0;
  post_order(root, [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    const ConstantNode* weight = call ? weight_of(*call) : nullptr;
    if (weight && seen.insert(weight).second) bytes += static_cast<int64_t>(weight->value().bytes());
  });
  return bytes;
}

class WeightNarrower final : public Rewriter {
 public:
  WeightNarrower(const BuildContext& context, const Function& function)
      : sheet_(context.host()),
        choice_(choice_or_default(context.choice)),
        model_bytes_(bytes_of_weights(function)) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(original);
    const ConstantNode* weight = call ? weight_of(*call) : nullptr;
    if (!weight) return rebuilt;
    const int64_t elements = weight->value().size();
    const double products = cost_of_call(*call).flops / 2 / static_cast<double>(elements);
    if (!choice_->narrows_weight({elements, products, model_bytes_}, sheet_)) return rebuilt;
    const auto* now = as<CallNode>(rebuilt);
    std::vector<Expr> args = now->args();
    args[call->op()->rules.get<NarrowWeight>()->operand] = narrow(*weight, original->origins());
    return make_call(now->callee(), std::move(args), now->attrs(), original->info());
  }

  Type type_of_rebuilt(const ExprNode& node) const override { return node.checked_type(); }

  /// Once for all layers that share a weight.
  Expr narrow(const ConstantNode& weight, const OriginSet& layer) {
    Expr& made = made_[&weight];
    if (made) return made;
    const NDArray& value = weight.value();
    NDArray small = NDArray::empty(value.shape(), kBfloat16);
    const auto from = value.as<float>();
    const auto to = small.as<uint16_t>();
    for (size_t i = 0; i < from.size(); ++i) to[i] = rounded(from[i]);
    // A parameter has no origins: its layer is then the cause.
    const OriginSet origins = weight.origins().empty()
                                  ? OriginSet::made_for(layer, "weights are stored as bfloat16")
                                  : weight.origins();
    made = make_constant(small, NodeInfo(origins, weight.span(), tensor_type(value.shape(), kBfloat16)));
    kept_.emplace_back(&weight);
    return made;
  }

  const DeviceSheet& sheet_;
  const std::shared_ptr<const KernelChoice> choice_;
  const int64_t model_bytes_;
  std::unordered_map<const ConstantNode*, Expr> made_;
  std::vector<Expr> kept_;  // keeps the keys of made_ alive
};

}  // namespace

Pass narrow_weights() {
  return function_pass({0, "NarrowWeights", {"InferType"}},
                       [](const Function& function, const IRModule&, const BuildContext& context) {
                         return as_ref<FunctionNode>(WeightNarrower(context, function).run(function));
                       });
}

}  // namespace baton
