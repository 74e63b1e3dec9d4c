#pragma once
#include <cstddef>

#include "baton/support/function_ref.h"

namespace baton {

/// Calls `make(i)` for each i below `count`, by so many threads. The first exception is thrown when all have
/// ended.
void side_by_side(size_t count, int threads, FunctionRef<void(size_t)> make);

}  // namespace baton
