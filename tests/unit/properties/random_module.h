#pragma once
// Random programs for property tests.
#include <cstdint>
#include <string>

namespace baton::properties {

/// A well-typed program as Relay text: 4 to 20 operators over small tensors (convolutions, dense layers, what
/// stands around them), with shared values, several results, and sometimes a let, a branch, or a second
/// function. The same seed gives the same text. Parameters whose name begins with `c` are intended to be
/// bound to constants.
std::string random_module(uint64_t seed);

}  // namespace baton::properties
