#pragma once
// Convolutions that read their data in place instead of a padded copy. For .cc files of schedule only.
#include <Halide.h>

namespace baton {

/// Whether skip_padding can be applied: `pad` is select(outside, 0, data) with a condition of which each part
/// depends on one axis, its third (rows) or another one, and the update definition of `sum` adds a product
/// with one read of it.
bool can_skip_padding(const Halide::Func& pad, const Halide::Func& sum);

/// Steps of `sum` that read padded rows are no longer done, and `pad` is no longer defined there; padded
/// columns remain. A sum of one row of pixels then has branches per row of taps, or a shorter loop.
void skip_padding(Halide::Func pad, Halide::Func sum);

}  // namespace baton
