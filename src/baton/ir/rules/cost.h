#pragma once
// Lower bounds of operator costs, computed from types and attributes by `.cost` of the operator's block or by
// its fusion class. Operations count by the definition, not by the algorithm (such as Winograd's) used.
#include <string_view>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// The cost of a call or a kernel. Nothing is counted twice, even if a schedule recomputes it.
struct CostFacts {
  double flops = 0;  ///< floating point or integer operations; a multiply-add counts two
  double bytes = 0;  ///< inputs read once and outputs written once
};

/// A call as seen by its cost function. Unknown extents count as 1.
struct CostQuery {
  const Attrs& attrs;                          ///< null where the operator has none
  std::vector<const TensorTypeNode*> inputs;   ///< tuples flattened
  std::vector<const TensorTypeNode*> outputs;  ///< tuples flattened

  double input_elements(size_t input = 0) const;
  double output_elements() const;  ///< summed over all outputs
  double bytes() const;            ///< summed over all inputs and outputs
  /// A cost of `flops` and all bytes.
  CostFacts computing(double flops) const { return {flops, bytes()}; }
};

/// The cost of a call that only moves data.
CostFacts moving_cost(const CostQuery& q);

// Sums of products: two operations per multiplication.
CostFacts conv_cost(const CostQuery& q);  ///< all taps, padding included
CostFacts conv_transpose_cost(const CostQuery& q);
CostFacts conv_weight_gradient_cost(const CostQuery& q);  ///< (gradient, data) -> gradient of the weight
CostFacts dense_cost(const CostQuery& q);                 ///< reduces the last axis of the first input
CostFacts matmul_cost(const CostQuery& q);  ///< the same, or the second to last axis (transpose_a)
/// (dense, values, columns, row starts) -> dense: each nonzero is multiplied with each row of the dense
/// operand.
CostFacts sparse_product_cost(const CostQuery& q);

// Window operators: one operation per element of the `pool_size` window.
CostFacts window_cost(const CostQuery& q);
CostFacts window_gradient_cost(const CostQuery& q);  ///< (gradient, data) -> gradient of the data

/// The class of an operator, from its cost rule and its fusion class: "conv", "dense", "pool", "elementwise",
/// "reduce", "move" or "other".
std::string_view cost_class(const OpDef& op);

/// Elements of the operator's result take functions that are no single fast instruction: polynomials
/// (exponentials, logarithms, ...), roots and divisions. Attached to operator blocks. The costs above count
/// them as one operation.
struct Transcendental {
  double functions = 1;  ///< per element of the result
};
/// What one such function takes beside an addition or multiplication, about.
constexpr double kOperationsOfFunction = 16;
/// Functions per element of the result of `op`; 0 without the rule, and for null.
double functions_of(const OpDef* op);

/// The cost of a typed `call`.
CostFacts cost_of_call(const CallNode& call);
/// The cost of a fused function: the operations of all its calls, but only the bytes of its parameters and
/// results.
CostFacts cost_of_function(const FunctionNode& function, const std::vector<CostFacts>& calls);

/// The number of multiply-accumulates of a call for relay.analysis.get_total_mac_number; attached to the
/// operators that TVM counts, and to the forms that AlterOpLayout gives them.
struct MacRule {
  int64_t (*count)(const CallNode&);
};
MacRule conv_macs();  ///< convolutions and transposed ones over height and width: per element of the result
MacRule product_macs();  ///< nn.dense, nn.batch_matmul, nn.contrib_dense_pack

}  // namespace baton
