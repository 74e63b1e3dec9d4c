// Checksums that detect damaged files and caches; not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>

namespace baton {

/// XXH64: several bytes per cycle, so that half a gigabyte of constants is checked in well under 0.1 s.
uint64_t checksum64(const void* data, size_t bytes, uint64_t seed = 0);

}  // namespace baton
