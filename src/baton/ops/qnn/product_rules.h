#pragma once
// What the quantised products are in integers. With zero points a and b,
//   sum (x - a) (w - b)  =  sum x w  -  b sum x  -  a sum w  +  a b n
// where only the first term needs multiplications, and the third and fourth are constants of the program.
#include "baton/ir/rules/legalize_rule.h"

namespace baton {

LegalizeRule quantized_conv2d_rule();
LegalizeRule quantized_conv2d_transpose_rule();
LegalizeRule quantized_dense_rule();
LegalizeRule quantized_batch_matmul_rule();

}  // namespace baton
