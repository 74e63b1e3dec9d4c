#include "baton/ir/rules/scale_rule.h"

namespace baton {

std::optional<int> vector_axis(const TensorTypeNode& type, const TensorTypeNode& full, int axis, int block) {
  const int shift = full.rank() - type.rank();
  if (shift < 0 || axis < shift) return std::nullopt;
  for (int i = 0; i < type.rank(); ++i) {
    const int at = i + shift;
    const Dim wanted = at == axis || at == block ? full.shape()[at] : Dim(1);
    if (!(type.shape()[i] == wanted) || wanted.is_any()) return std::nullopt;
  }
  return axis - shift;
}

}  // namespace baton
