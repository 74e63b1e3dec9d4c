#pragma once
// The Threefry generator as Relay's operators use it. A generator is ten 64-bit words: 0-3 the key, 4-5 the
// path of splits that led to it, 6-7 a counter, 8-9 the next bit of the path. The path and the counter are
// what is hashed.
#include <functional>

#include "baton/ops/compute_util.h"
#include "baton/ops/relations.h"

namespace baton {

/// The words of a generator that is input `index`, prepared to give `count` numbers: if its counter has too
/// little room, it extends its path or, at the path's end, takes a new key.
struct Generator {
  std::function<Halide::Expr(int word)> word;  ///< of the ready generator
};

Generator ready_generator(Compute& c, int index, int64_t count);

/// Number `n` (row-major) of the `count` generated 64-bit words.
using Words = std::function<Halide::Expr(const Halide::Expr& n)>;

Words random_words(Compute& c, const Generator& generator, int64_t count);

/// The generator's state after `count` words, counted in whole blocks of four.
Halide::Func next_generator(Compute& c, const Generator& generator, int64_t count);

/// Both halves of a split.
std::vector<Halide::Func> split_generator(Compute& c, int index);

/// The type of a generator.
Type key_type();
/// The result: the next key, and a tensor. Reports a negative extent.
RelationStatus with_key(RelationContext& ctx, const std::vector<int64_t>& out_shape, DType dtype);

/// The number of elements of a tensor with these extents, and the row-major index of `i`.
int64_t product_of(const std::vector<int64_t>& extents);
Halide::Expr flat_index(const Axes& i, const std::vector<int64_t>& shape);

}  // namespace baton
