#pragma once
// What operators cost at least, counted from their types and attributes: an operator's block says it in
// `.cost`, or its fusion class does. Operations by the definition, not by the algorithm (such as Winograd's)
// that computes it.
#include <string_view>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// Of a call, or of a kernel: nothing is counted twice, whatever a schedule recomputes.
struct CostFacts {
  double flops = 0;  ///< floating point or integer operations; a multiply-add counts two
  double bytes = 0;  ///< inputs read once and outputs written once
};

/// A call as its cost sees it. Extents that are not known count as 1.
struct CostQuery {
  const Attrs& attrs;                          ///< null where the operator has none
  std::vector<const TensorTypeNode*> inputs;   ///< tuples flattened
  std::vector<const TensorTypeNode*> outputs;  ///< the same

  double input_elements(size_t input = 0) const;
  double output_elements() const;  ///< of all outputs
  double bytes() const;            ///< of all inputs and outputs
  /// `flops`, and all bytes.
  CostFacts computing(double flops) const { return {flops, bytes()}; }
};

/// Moves data only.
CostFacts moving_cost(const CostQuery& q);

// Sums of products: two operations for each multiplication.
CostFacts conv_cost(const CostQuery& q);  ///< all taps, padding included
CostFacts conv_transpose_cost(const CostQuery& q);
CostFacts conv_weight_gradient_cost(const CostQuery& q);  ///< (gradient, data) -> gradient by the weight
CostFacts dense_cost(const CostQuery& q);                 ///< sums along the last axis of the first input
CostFacts matmul_cost(const CostQuery& q);  ///< the same, or along the axis before (transpose_a)
/// (dense, values, columns, row starts) -> dense: each value meets each row of the result.
CostFacts sparse_product_cost(const CostQuery& q);

// Windows: one operation for each cell of `pool_size`.
CostFacts window_cost(const CostQuery& q);
CostFacts window_gradient_cost(const CostQuery& q);  ///< (gradient, data) -> gradient by the data

/// What counts for `call`, whose types are known.
CostFacts cost_of_call(const CallNode& call);
/// A fused function: the operations of all its calls; the bytes of its parameters and results only.
CostFacts cost_of_function(const FunctionNode& function, const std::vector<CostFacts>& calls);

/// How many multiplications (each with an addition) a call has for relay.analysis.get_total_mac_number:
/// carried by the operators that TVM counts.
struct MacRule {
  int64_t (*count)(const CallNode&);
};
MacRule conv_macs();     ///< nn.conv2d, nn.conv2d_transpose: for each value of the result
MacRule product_macs();  ///< nn.dense, nn.batch_matmul

}  // namespace baton
