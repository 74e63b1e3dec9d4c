#include "baton/ops/shared/sort_compute.h"

#include <bit>

#include "baton/ops/domain.h"
#include "baton/ops/ieee.h"

namespace baton {

namespace {

namespace hi = Halide::Internal;

/// `x` as an unsigned integer that sorts as `x` does. All NaNs are one key behind all numbers, and zeros of
/// both signs are one, so that their positions decide.
Halide::Expr key_of(const Halide::Expr& x, bool ascending) {
  const Halide::Type word = x.type().is_bool() ? Halide::UInt(8) : Halide::UInt(x.type().bits());
  Halide::Expr key;
  if (x.type().is_bool()) {
    key = cast(word, x);
  } else if (x.type().is_uint()) {
    key = x;
  } else {
    const Halide::Expr sign = hi::make_const(word, uint64_t{1} << (word.bits() - 1));
    const Halide::Expr bits = reinterpret(word, x);
    if (x.type().is_int()) {
      key = bits ^ sign;
    } else {
      const Halide::Expr zero = hi::make_zero(x.type());
      key = select(x == zero, sign, x != x, word.max(), (bits & sign) != 0, ~bits, bits ^ sign);
    }
  }
  return ascending ? key : ~key;
}

/// Bits of a key that one pass sorts by: a pass clears and sums a counter for each value of a digit, so that
/// short rows have few.
int digit_bits(const Dim& extent, int key_bits) {
  constexpr int64_t kShort = 128, kLong = 1 << 15;
  if (extent.is_symbolic()) return 8;
  const int bits = extent.value() <= kShort ? 4 : extent.value() <= kLong ? 8 : 11;
  return std::min(bits, key_bits);
}

}  // namespace

// By digits, the lowest first: each pass counts how often each digit is there, which gives the place of its
// first element, and puts one element after the other behind those of its digit that were before it. That is
// stable, takes the same time for any data, and has no comparison. Counters and elements of a pass are one
// Func, along the sorted axis: an update of Halide writes one place, and an element's place is its counter,
// which is counted up right after.
Halide::Func sorted_pairs(Compute& c, const Halide::Func& values, const std::vector<Dim>& shape, int axis,
                          bool ascending) {
  const int rank = static_cast<int>(shape.size()), dim = rank - 1 - axis;
  const Axes i(rank);
  const std::vector<Halide::Var> out = i.reversed();
  const Halide::Expr n = as_expr(shape[static_cast<size_t>(axis)]);
  const auto at = [&](const Halide::Expr& position) {
    std::vector<Halide::Expr> all(out.begin(), out.end());
    all[static_cast<size_t>(dim)] = position;
    return all;
  };
  const Halide::Expr last = simplify(max(n, 1)) - 1;
  const auto inside = [&](const Halide::Expr& position) { return unsafe_promise_clamped(position, 0, last); };

  Halide::Func keys = c.stage("keys");
  keys(out) = key_of(values(at(clamp(Halide::Expr(out[static_cast<size_t>(dim)]), 0, last))), ascending);
  const Halide::Type word = keys.types()[0];
  const int bits = digit_bits(shape[static_cast<size_t>(axis)], word.bits()), digits = 1 << bits,
            passes = (word.bits() + bits - 1) / bits;
  const auto digit = [&](const Halide::Expr& key, int pass) {
    // Through a narrow type, whose bounds Halide knows.
    const Halide::Type narrow = Halide::UInt(bits <= 8 ? 8 : 16);
    const Halide::Expr value = cast(narrow, key >> hi::make_const(word, pass * bits));
    return cast<int32_t>(bits == narrow.bits() ? value : value & hi::make_const(narrow, digits - 1));
  };

  Halide::Func before;  // the keys and where they stood, behind the counters, after the passes so far
  for (int pass = 0; pass < passes; ++pass) {
    const auto key_at = [&](const Halide::Expr& position) {
      return pass == 0 ? Halide::Expr(keys(at(position))) : Halide::Expr(before(at(digits + position))[0]);
    };
    const auto place_at = [&](const Halide::Expr& position) {
      return pass == 0 ? position : Halide::Expr(before(at(digits + position))[1]);
    };
    Halide::Func counts = c.stage("counts"), first = c.stage("first"), sorted = c.stage("by_digit");
    counts(out) = 0;
    const Halide::RDom r(0, n, "r");
    counts(at(digit(key_at(r), pass))) += 1;
    first(out) = 0;
    const Halide::RDom d(1, digits - 1, "d");
    first(at(d)) = first(at(d - 1)) + counts(at(d - 1));
    sorted(out) = Halide::Tuple(Halide::undef(word), Halide::undef(Halide::Int(32)));
    const Halide::RDom start(0, digits, "s");
    sorted(at(start)) = Halide::Tuple(Halide::undef(word), first(at(start)));
    const Halide::RDom e(0, 2, 0, n, "e");  // the element, and then its counter
    const Halide::Expr key = key_at(e.y), mine = digit(key, pass), counter = sorted(at(mine))[1];
    sorted(at(select(e.x == 0, digits + inside(counter), mine))) =
        Halide::Tuple(key, select(e.x == 0, place_at(e.y), counter + 1));
    sorted.update(1).unroll(e.x);
    before = sorted;
  }
  Halide::Func pairs = c.stage("sorted");
  const Halide::Expr place = inside(before(at(digits + Halide::Expr(out[static_cast<size_t>(dim)])))[1]);
  pairs(out) = Halide::Tuple(values(at(place)), place);
  return pairs;
}

Halide::Func sorted_pairs(Compute& c, const Tensor& data, int axis, bool ascending) {
  return sorted_pairs(c, data.func(), data.dims(), axis, ascending);
}

}  // namespace baton
