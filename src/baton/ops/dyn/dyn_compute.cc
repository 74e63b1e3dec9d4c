#include "baton/ops/dyn/dyn_compute.h"

#include <algorithm>

#include "baton/ops/domain.h"
#include "baton/ops/shared/reindex.h"

namespace baton {

void dyn_broadcast_compute(Compute& c) {
  reindex_compute(c, "broadcast_to", [&](const Index& i) { return broadcast_index(c.in(0), i); });
}

void dyn_full_compute(Compute& c) {
  const Axes i(c.out().rank());
  Halide::Func full = c.stage("full");
  full(i.reversed()) = cast_to(c.out().dtype(), c.in(0)(Index{}));
  c.result(full);
}

void dyn_constant_compute(Compute& c, int value) {
  const Axes i(c.out().rank());
  Halide::Func full = c.stage("full");
  full(i.reversed()) = constant_of(c.out().dtype(), value);
  c.result(full);
}

// Where slices begin is read when the kernel runs; how long they are, the result's type says.
void dyn_strided_slice_compute(Compute& c, const StridedSliceAttrs& attrs) {
  const Tensor &data = c.in(0), &begin = c.in(1), &strides = c.in(3);
  reindex_compute(c, "strided_slice", [&](Index i) {
    for (int k = 0; k < std::min<int64_t>(begin.extent(0), data.rank()); ++k) {
      const Halide::Expr given = Halide::cast<int64_t>(begin(Index{k})),
                         extent = Halide::cast<int64_t>(as_int(data.extent(k)));
      const bool steps = attrs.slice_mode != "size" && k < strides.extent(0);
      const Halide::Expr step = steps ? Halide::cast<int64_t>(strides(Index{k})) : Halide::cast<int64_t>(1);
      const Halide::Expr first = clamp(select(given < 0, given + extent, given), Halide::cast<int64_t>(0),
                                       select(step > 0, extent, extent - 1));
      i[k] = inside_axis(first + Halide::cast<int64_t>(i[k]) * step, data.extent(k));
    }
    return i;
  });
}

void dyn_tile_compute(Compute& c) {
  const Tensor& data = c.in(0);
  reindex_compute(c, "tile", [&](const Index& i) {
    Index at(i.end() - data.rank(), i.end());
    for (int k = 0; k < data.rank(); ++k) at[k] = at[k] % as_int(data.extent(k));
    return at;
  });
}

void dyn_pad_compute(Compute& c, const PadAttrs& attrs) {
  const Tensor &data = c.in(0), &widths = c.in(1);
  const Axes i(data.rank());
  Index at = i.exprs();
  Halide::Expr inside = Halide::Internal::const_true();
  for (int k = 0; k < data.rank(); ++k) {
    const int last = as_int(data.extent(k) - 1);
    Halide::Expr index = i[k] - Halide::cast<int>(widths(Index{k, 0}));
    if (attrs.pad_mode == "reflect")
      index = last - Halide::cast<int>(abs(last - Halide::cast<int>(abs(index))));
    else if (attrs.pad_mode == "constant")
      inside = inside && index >= 0 && index <= last;
    at[k] = inside_axis(index, data.extent(k));
  }
  Halide::Func padded = c.stage("pad");
  padded(i.reversed()) =
      is_const_one(inside) ? data(at) : select(inside, data(at), cast_to(data.dtype(), c.in(2)(Index{})));
  c.result(padded);
}

}  // namespace baton
