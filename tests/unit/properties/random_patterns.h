#pragma once
#include <cstdint>
#include <string>

namespace baton::properties {

/// A well-typed program as Relay text that builds values of data types and tuples and takes them apart again:
/// nested patterns with wildcards and variables that nobody reads, clauses that share values with what is
/// around them, branches, lets, closures. Every match is complete. The same seed gives the same text.
std::string random_patterns(uint64_t seed);

}  // namespace baton::properties
