#include "baton/frontend/onnx/ops/symbolic_batches.h"

#include <algorithm>

#include "baton/ir/extent.h"

namespace baton::onnx {

namespace {

// Codes of Relay's reshape.
constexpr int64_t kRest = -2, kMerged = -3, kSplit = -4, kInferred = -1;

/// Extents of the batches after broadcasting.
std::vector<Dim> common_batches(const Conversion& c, const std::vector<Dim>& a, const std::vector<Dim>& b) {
  std::vector<Dim> common;
  for (size_t i = 0; i + 2 < a.size(); ++i) {
    const bool is_same = a[i] == b[i] && (!a[i].is_any() || a[i].is_symbolic());
    if (!is_same && a[i] != Dim(1) && b[i] != Dim(1)) {
      if (a[i].is_any() || b[i].is_any())
        throw c.not_supported("products of matrices whose batches are " + extent_text(a[i]) + " and " +
                              extent_text(b[i]) + ", of which one may be 1,");
      throw c.error("its batches do not broadcast");
    }
    common.push_back(a[i] == Dim(1) ? b[i] : a[i]);
  }
  return common;
}

Expr broadcast(const Conversion& c, const Expr& operand, const std::vector<Dim>& batches) {
  const std::vector<Dim>& shape = tensor_type(operand).shape();
  if (std::equal(batches.begin(), batches.end(), shape.begin())) return operand;
  std::vector<Dim> wide = batches;
  wide.insert(wide.end(), shape.end() - 2, shape.end());
  return c.call("dyn.broadcast_to", {operand, c.tensor(KnownIntegers{wide, false, DType::int_(64)})});
}

/// (a, b, m, k) -> (a * b, m, k)
Expr merged(const Conversion& c, Expr operand) {
  while (tensor_type(operand).rank() > 3) operand = c.reshape(operand, {kMerged, kRest});
  return operand;
}

/// (a * b, m, n) -> (a, b, m, n)
Expr split_batches(const Conversion& c, Expr result, const std::vector<Dim>& batches) {
  const bool is_unknown =
      std::ranges::count_if(batches, [](Dim each) { return each.is_any() || each == Dim(0); }) > 1;
  if (is_unknown) {
    std::vector<Dim> shape = batches;
    const std::vector<Dim>& now = tensor_type(result).shape();
    shape.insert(shape.end(), now.end() - 2, now.end());
    return c.call("dyn.reshape", {result, c.tensor(KnownIntegers{shape, false, DType::int_(64)})});
  }
  for (size_t i = batches.size(); i-- > 1;) {
    // What is left of the first axis holds all batches before this one.
    Dim before = 1;
    for (size_t j = 0; j < i; ++j) before = before * batches.at(j);
    result = c.reshape(result, {kSplit, before.is_any() ? kInferred : before.value(),
                                batches.at(i).is_any() ? kInferred : batches.at(i).value(), kRest});
  }
  return result;
}

}  // namespace

bool has_symbolic_batches(const Expr& a, const Expr& b) {
  return tensor_type(a).rank() > 3 && (!tensor_type(a).is_static() || !tensor_type(b).is_static());
}

Expr over_symbolic_batches(const Conversion& c, const Expr& a, const Expr& b,
                           const std::function<Expr(const Expr& a, const Expr& b)>& multiply) {
  const std::vector<Dim> batches = common_batches(c, tensor_type(a).shape(), tensor_type(b).shape());
  const Expr result = multiply(merged(c, broadcast(c, a, batches)), merged(c, broadcast(c, b, batches)));
  return split_batches(c, result, batches);
}

}  // namespace baton::onnx
