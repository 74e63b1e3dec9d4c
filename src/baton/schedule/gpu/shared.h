#pragma once
// Which matrix products threads compute from operands in shared memory.
#include <cstdint>

namespace baton {

/// Whether tiles of the template "gpu_shared" divide a product of `rows` x `columns` sums of `terms` terms.
bool has_shared_tiles(int64_t rows, int64_t columns, int64_t terms);

}  // namespace baton
