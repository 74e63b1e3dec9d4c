#pragma once
// Products of int8 for processors that multiply uint8 by int8: with x + 128 in uint8,
//   sum x w  =  sum (x + 128) w  -  128 sum w
// where the last term is a constant of the program.
#include "baton/ir/rules/legalize_rule.h"

namespace baton {

/// Also pads channels to whole vectors.
LegalizeRule int8_conv2d_rule();
LegalizeRule int8_dense_rule();
LegalizeRule int8_batch_matmul_rule();

}  // namespace baton
