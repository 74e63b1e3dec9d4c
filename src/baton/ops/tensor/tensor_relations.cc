#include "baton/ops/tensor/tensor_relations.h"

namespace baton {

std::optional<std::vector<Dim>> any_shape(RelationContext& ctx, size_t arg, RelationStatus* status) {
  constexpr int64_t kMaxRank = 1000;
  const TensorTypeNode* shape = ctx.tensor(arg);
  *status = kDefer;
  if (!shape) return std::nullopt;
  *status = kFailed;
  if (!check_rank(ctx, *shape, 1, static_cast<int>(arg))) return std::nullopt;
  const Dim rank = shape->shape()[0];
  if (rank.is_any() || rank.value() > kMaxRank || rank.value() < 0) {
    fail_arg(ctx, static_cast<int>(arg),
             "a vector of known length is needed: it gives the rank of the result");
    return std::nullopt;
  }
  return std::vector<Dim>(static_cast<size_t>(rank.value()), Dim::any());
}

}  // namespace baton
