#pragma once
// Computes of data movement operators.
#include <string>

#include "baton/ops/compute_util.h"

namespace baton {

/// Input 0 with the result's shape, element by element in row-major order.
void reshape_compute(Compute& compute, const std::string& stage);

/// result[i] = input 0 [from(i)].
template <class From>
void reindex_compute(Compute& compute, const std::string& stage, From&& from) {
  const Axes i(compute.out().rank());
  Halide::Func moved = compute.stage(stage);
  moved(i.reversed()) = compute.in(0)(from(i.exprs()));
  compute.result(moved);
}

}  // namespace baton
