#pragma once
// Memory for kernels under test: it begins after, or ends at, a page that may not be touched, and what
// alignment leaves free is checked for writes.
#include "baton/support/base/ndarray.h"

namespace baton::fuzz {

/// Which end of a buffer is exactly at a forbidden page. At the other one, alignment may leave some bytes.
enum class GuardAt { kBegin, kEnd };

/// An uninitialised tensor (bytes of 0xff: NaNs) between forbidden pages, 64-byte aligned as kernels require.
NDArray guarded_array(const Shape& shape, DType dtype, GuardAt at);
/// The same with the contents of `array`.
NDArray guarded_copy(const NDArray& array, GuardAt at);

/// Makes a guarded array unwritable: a kernel's inputs.
void protect(const NDArray& array);

/// Whether the free bytes next to the data are as they were.
bool is_intact(const NDArray& array);

/// Scratch memory for kernels by Halide's JIT from now on: guarded, filled with 0xff, readable for 128 bytes
/// before and after as the runtime's is.
void guard_scratch();
/// The number of blocks since the last call that were written outside of their bounds.
int take_scratch_damage();

}  // namespace baton::fuzz
