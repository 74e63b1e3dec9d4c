#pragma once
#include <cstddef>

namespace baton {

/// The operand whose elements the operator's compute widens to the type of the result, and the template of
/// its kernels takes as bfloat16: a weight that NarrowWeights may store so.
struct NarrowWeight {
  size_t operand = 1;
};

}  // namespace baton
