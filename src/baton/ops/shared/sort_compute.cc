#include "baton/ops/shared/sort_compute.h"

#include <algorithm>

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

/// Sorts each row along an axis by keys, one row after the other, so that what a row needs stays in the
/// nearest cache.
class RowSort {
 public:
  RowSort(Compute& c, const Halide::Func& values, const std::vector<Dim>& shape, int axis)
      : c_(c),
        values_(values),
        extent_(shape[static_cast<size_t>(axis)]),
        axes_(static_cast<int>(shape.size())),
        out_(axes_.reversed()),
        dim_(shape.size() - 1 - static_cast<size_t>(axis)),
        n_(as_expr(extent_)),
        last_(simplify(max(n_, 1)) - 1) {
    loops_.emplace_back(out_[dim_]);
    for (size_t d = 0; d < out_.size(); ++d)
      if (d != dim_) loops_.emplace_back(out_[d]);
  }

  Halide::Func pairs(bool ascending) {
    const size_t first = c_.stages().size();
    Halide::Func keys = c_.stage("keys");
    keys(out_) = key_of(values_(at(clamp(here(), 0, last_))), ascending);
    keys.reorder(loops_);
    const bool is_short = !extent_.is_symbolic() && extent_.value() <= kMostRanked;
    const Halide::Expr place = is_short ? by_rank(keys) : by_digits(keys);
    const size_t end = c_.stages().size();
    Halide::Func pairs = c_.stage("sorted");
    pairs(out_) = Halide::Tuple(values_(at(place)), place);
    pairs.reorder(loops_);
    c_.compute_within({first, end}, pairs, out_.size() > 1 ? loops_[1].var : Halide::Var::outermost());
    return pairs;
  }

 private:
  static constexpr int64_t kMostRanked = 192;

  Halide::Expr here() const { return out_[dim_]; }
  std::vector<Halide::Expr> at(const Halide::Expr& position) const {
    std::vector<Halide::Expr> all(out_.begin(), out_.end());
    all[dim_] = position;
    return all;
  }
  Halide::Expr inside(const Halide::Expr& position) const {
    return unsafe_promise_clamped(position, 0, last_);
  }

  /// Of short rows: an element's place is the number of those that sort before it, counted for a vector of
  /// elements at a time. The result: which element is here.
  Halide::Expr by_rank(const Halide::Func& keys) {
    Halide::Func rank = c_.stage("rank"), placed = c_.stage("placed");
    rank(out_) = 0;
    const Halide::RDom r(0, n_, "r");
    const Halide::Expr other = keys(at(r)), mine = keys(at(here()));
    rank(out_) += cast<int32_t>(select(r < here(), !(mine < other), other < mine));
    rank.reorder(loops_);
    rank.update(0).reorder(loops_);
    placed(out_) = Halide::undef(Halide::Int(32));
    placed.reorder(loops_);
    const Halide::RDom e(0, n_, "e");
    placed(at(inside(rank(at(e))))) = e;
    return clamp(placed(at(here())), 0, last_);  // a result may have more elements than there are
  }

  /// By digits, the lowest first: each pass counts how often each digit is there, which gives the place of
  /// its first element, and puts one element after the other behind those of its digit that were before it.
  /// That is stable, takes the same time for any data, and has no comparison. Counters and elements of a pass
  /// are one Func, along the sorted axis: an update of Halide writes one place, and an element's place is its
  /// counter, which is counted up right after.
  Halide::Expr by_digits(const Halide::Func& keys) {
    const Halide::Type word = keys.types()[0];
    // A pass clears and sums a counter for each value of a digit.
    constexpr int64_t kLong = 8192;
    const int bits = std::min(extent_.is_symbolic() || extent_.value() <= kLong ? 8 : 11, word.bits()),
              digits = 1 << bits;
    const auto digit = [&](const Halide::Expr& key, int pass) {
      // Through a narrow type, whose bounds Halide knows.
      const Halide::Type narrow = Halide::UInt(bits <= 8 ? 8 : 16);
      const Halide::Expr value = cast(narrow, key >> hi::make_const(word, pass * bits));
      return cast<int32_t>(bits == narrow.bits() ? value : value & hi::make_const(narrow, digits - 1));
    };
    // An element is its key above its place, in one number where both fit into one: half as many loads and
    // stores.
    const bool packed = word.bits() <= 32;
    const Halide::Type element = packed ? Halide::UInt(64) : word;
    const auto as_counter = [&](const Halide::Expr& count) {
      return packed ? Halide::Tuple(cast(element, cast<uint32_t>(count)))
                    : Halide::Tuple(Halide::undef(word), count);
    };
    const auto number_at = [&](const Halide::Func& f, const Halide::Expr& position) {
      return packed ? cast<int32_t>(Halide::Expr(f(at(position)))) : Halide::Expr(f(at(position))[1]);
    };
    Halide::Func before;  // the elements behind the counters, after the passes so far
    for (int pass = 0; pass * bits < word.bits(); ++pass) {
      const auto key_at = [&](const Halide::Expr& position) {
        if (pass == 0) return Halide::Expr(keys(at(position)));
        return packed ? cast(word, Halide::Expr(before(at(digits + position))) >> 32)
                      : Halide::Expr(before(at(digits + position))[0]);
      };
      const auto element_at = [&](const Halide::Expr& position) {
        if (pass > 0 && packed) return Halide::Tuple(Halide::Expr(before(at(digits + position))));
        const Halide::Expr key = key_at(position),
                           place = pass == 0 ? position : number_at(before, digits + position);
        return packed ? Halide::Tuple(cast(element, key) << 32 | cast(element, cast<uint32_t>(place)))
                      : Halide::Tuple(key, place);
      };
      Halide::Func counts = c_.stage("counts"), sorted = c_.stage("by_digit");
      counts(out_) = 0;
      counts.reorder(loops_);
      const Halide::RDom r(0, n_, "r"), d(1, digits - 1, "d");
      counts(at(digit(key_at(r), pass))) += 1;
      sorted(out_) = packed ? Halide::Tuple(Halide::undef(element))
                            : Halide::Tuple(Halide::undef(word), Halide::undef(Halide::Int(32)));
      sorted.reorder(loops_);
      sorted(at(0)) = as_counter(0);
      sorted(at(d)) = as_counter(number_at(sorted, d - 1) + counts(at(d - 1)));
      const Halide::RDom e(0, 2, 0, n_, "e");  // the element, and then its counter
      const Halide::Expr mine = digit(key_at(e.y), pass), counter = number_at(sorted, mine);
      const Halide::Tuple value = element_at(e.y), next = as_counter(counter + 1);
      std::vector<Halide::Expr> written;
      for (size_t i = 0; i < value.size(); ++i)
        written.push_back(select(e.x == 0, value[i], packed ? next[i] : i == 0 ? value[0] : next[1]));
      sorted(at(select(e.x == 0, digits + inside(counter), mine))) = Halide::Tuple(written);
      sorted.update(2).unroll(e.x);
      before = sorted;
    }
    return clamp(number_at(before, digits + here()), 0, last_);  // a result may have more elements
  }

  Compute& c_;
  const Halide::Func values_;
  const Dim extent_;
  const Axes axes_;
  const std::vector<Halide::Var> out_;
  const size_t dim_;  ///< of the Funcs
  const Halide::Expr n_, last_;
  std::vector<Halide::VarOrRVar> loops_;  ///< the sorted axis innermost
};

}  // namespace

Halide::Func sorted_pairs(Compute& c, const Halide::Func& values, const std::vector<Dim>& shape, int axis,
                          bool ascending) {
  return RowSort(c, values, shape, axis).pairs(ascending);
}

Halide::Func sorted_pairs(Compute& c, const Tensor& data, int axis, bool ascending) {
  return sorted_pairs(c, data.func(), data.dims(), axis, ascending);
}

}  // namespace baton
