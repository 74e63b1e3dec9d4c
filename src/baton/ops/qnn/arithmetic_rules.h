#pragma once
// What quantised arithmetic, conversions and functions are in integer operators.
#include "baton/ir/rules/legalize_rule.h"

namespace baton {

LegalizeRule quantize_rule();
LegalizeRule dequantize_rule();
LegalizeRule requantize_rule();
/// `op` is "add" or "subtract".
LegalizeRule quantized_sum_rule(const char* op);
LegalizeRule quantized_mul_rule();
LegalizeRule quantized_concatenate_rule();
LegalizeRule quantized_leaky_relu_rule();
/// A function of one tensor: looked up in a table where its 256 values are known, else computed in float32.
LegalizeRule quantized_function_rule(Expr (*in_float32)(const Expr& x), double (*value)(double x));

}  // namespace baton
