#pragma once
#include <cstdint>
#include <string>

namespace baton::properties {

/// A well-typed program as Relay text with several dense layers, convolutions or batched products of one
/// value, each followed by operators that can be computed together and by some that cannot, also in lets,
/// branches, clauses and functions. Extents are often equal. The same seed gives the same text.
std::string random_branches(uint64_t seed);

}  // namespace baton::properties
