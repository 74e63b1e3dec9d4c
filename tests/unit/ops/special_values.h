#pragma once
// Floats that are no ordinary numbers, for operators on the calls of their blocks' `.test_shapes`.
#include <vector>

#include "ops/test_shapes.h"

namespace baton::test {

/// The inputs of `each`, a call; those of floats (not scalars, nor weights of convolutions) with NaN,
/// infinities, zeros of both signs, denormal and ordinary numbers, in each input in another order. None is so
/// large that a sum of them depends on its order.
std::vector<NDArray> special_inputs(const TestCase& each);
/// The same for devices: without denormal numbers, which CUDA's library takes for zeros, and not for
/// conversions to integers, which saturate there.
std::vector<NDArray> device_inputs(const TestCase& each);

}  // namespace baton::test
