#pragma once
#include <cstdint>

namespace baton {

/// A hash of the sources of ops, schedule, codegen and target: the version of the code generator, in the keys
/// of the kernel cache. Computed when Baton is built (cmake/SourceHash.cmake).
extern const uint64_t kSourceHash;

}  // namespace baton
