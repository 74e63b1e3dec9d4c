#pragma once
// How much of its operands an operator reads: a lookup reads some rows of its table, a slice a part of its
// data, a convolution of one pixel with a stride of two a quarter of its image. Attached to operator blocks
// where the fusion class does not say it.
#include <cstddef>

#include "baton/ir/rules/cost.h"

namespace baton {

/// Without one: a pointwise or injective operator reads at most one element of each operand for each result;
/// a reduction reads what the results asked for sum up; convolutions and pools read the positions of their
/// windows; all others read all. Nothing is read of an operand of which only the type counts (LikeRule,
/// ValueOfType, TypeOnlyInput).
struct ReadRule {
  /// Elements of `input` that are read when `results` elements of all outputs are asked for; at most all.
  double (*elements)(const CostQuery& q, size_t input, double results);
};

/// Only the type of this operand counts.
struct TypeOnlyInput {
  size_t input;
};

ReadRule reads_all();        ///< of operators that are injective by name only, and sum
ReadRule reads_in_parts();   ///< each result is an element of one operand: concatenations
ReadRule reads_by_result();  ///< at most one element for each result
/// For operators that interpolate between `method` neighbours along D, H and W of `layout`; other operands by
/// result.
ReadRule reads_neighbours();
/// Interpolations at places that the other operands give, which are read whole.
ReadRule reads_places();

/// The query of a typed call.
CostQuery cost_query(const CallNode& call);
/// What a call reads and writes by itself.
double bytes_moved(const CallNode& call);
/// What a fused function reads of its parameters, as far as its results need them, and its results. Nothing
/// is counted twice.
double bytes_moved(const FunctionNode& function);
/// All bytes of the operands and results of a call: what a memory must hold.
double bytes_held(const CallNode& call);

}  // namespace baton
