#pragma once
#include <cstdint>

namespace baton {

/// A hash of the sources of ops, schedule, codegen and target: the code generator's version, part of the keys
/// of the kernel cache. Computed when Baton is built (cmake/SourceHash.cmake).
extern const uint64_t kSourceHash;

}  // namespace baton
