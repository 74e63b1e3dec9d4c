#include "baton/ops/random/threefry.h"

#include "baton/ir/attrs.h"
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"

namespace baton {

struct ThreefryGenerateAttrs {
  std::vector<int64_t> out_shape = {};
};

template <>
const AttrSchema& attr_schema<ThreefryGenerateAttrs>() {
  using A = ThreefryGenerateAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.ThreefryGenerateAttrs",
                     {{"out_shape", &A::out_shape, "shape of the numbers", kNoDefault}});
  return schema;
}

namespace {

using Word = std::function<Halide::Expr(int)>;

constexpr uint64_t kParity = 0x1BD11BDAA9FC1A22, kTopBit = uint64_t{1} << 63;

constexpr int kRounds = 20;

constexpr int kRotations[8][2] = {{14, 16}, {52, 57}, {23, 40}, {5, 37},
                                  {25, 33}, {46, 12}, {58, 22}, {32, 32}};

Halide::Type word_type() { return Halide::UInt(64); }

Halide::Expr constant(uint64_t value) { return Halide::Expr(value); }

// hash(b) has four values: the hash of the four words counter(b, 0..3) under the key.
//
// One round is one step of an update. Every fourth begins by adding the key, which is extended by the parity
// of its words. Two things differ from the published Threefry, as they do in Relay: words are mixed as (a, b)
// -> (a + b, (a + 2 b) ^ rotated b), and the key is not added after the last round.
Halide::Func hash_blocks(Compute& c, const std::string& name, const Word& key,
                         const std::function<Halide::Expr(Halide::Expr, int)>& counter) {
  const Halide::Var b("b"), k("k");
  Halide::Func schedule = c.stage(name + "_key"), hash = c.stage(name);
  Halide::Expr word = constant(kParity) ^ key(0) ^ key(1) ^ key(2) ^ key(3);
  for (int i = 4; i-- > 0;) word = select(k == i, key(i), word);
  schedule(k) = word;
  hash(b) = Halide::Tuple(counter(b, 0), counter(b, 1), counter(b, 2), counter(b, 3));
  const Halide::RDom r(0, kRounds, "round");
  const Halide::Expr group = r / 4;
  std::vector<Halide::Expr> x(4), mixed(4);
  for (int i = 0; i < 4; ++i) {
    Halide::Expr part = schedule((group + i) % 5);
    if (i == 3) part = part + cast(word_type(), group);
    x[i] = hash(b)[i] + select(r % 4 == 0, part, constant(0));
  }
  for (int pair = 0; pair < 2; ++pair) {
    Halide::Expr turn = kRotations[7][pair];
    for (int i = 7; i-- > 0;) turn = select(r % 8 == i, kRotations[i][pair], turn);
    const Halide::Expr &first = x[2 * pair], &second = x[2 * pair + 1];
    const Halide::Expr left = cast(word_type(), turn), right = cast(word_type(), 64 - turn);
    mixed[2 * pair] = first + second;
    mixed[2 * pair + 1] = (first + second + second) ^ ((second << left) | (second >> right));
  }
  hash(b) = Halide::Tuple(mixed[0], mixed[3], mixed[2], mixed[1]);
  return hash;
}

// The bit of the path, one position further: it lies in one of two words.
Halide::Expr shifted(const Word& gen, int word) {
  if (word == 8) return gen(8) >> constant(1);
  return select(gen(8) == constant(1), constant(kTopBit), gen(8) == constant(0), gen(9) >> constant(1),
                constant(0));
}

Halide::Expr path_is_full(const Word& gen) { return gen(8) == constant(0) && gen(9) == constant(0); }

Halide::Func ten_words(Compute& c, const std::string& name, const Word& word) {
  const Halide::Var k("k");
  Halide::Func words = c.stage(name);
  Halide::Expr value = word(9);
  for (int i = 9; i-- > 0;) value = select(k == i, word(i), value);
  words(k) = value;
  return words;
}

Word input_words(Compute& c, int index) {
  const Tensor gen = c.in(index);
  return [gen](int word) { return gen(Index{word}); };
}

}  // namespace

Generator ready_generator(Compute& c, int index, int64_t count) {
  const Word gen = input_words(c, index);
  const Halide::Func fresh =
      hash_blocks(c, "new_key", gen, [](const Halide::Expr&, int) { return constant(~uint64_t{0}); });
  const Halide::Expr room = gen(7) < constant(~uint64_t{0} - static_cast<uint64_t>(count)),
                     full = path_is_full(gen);
  const Halide::Func ready = ten_words(c, "generator", [&](int word) {
    Halide::Expr renewed, further;  // with a new key; with a longer path
    if (word < 4)
      renewed = fresh(0)[word], further = gen(word);
    else if (word < 6)
      renewed = constant(0), further = gen(word) | gen(word + 4);
    else if (word < 8)
      renewed = further = constant(0);
    else
      renewed = constant(word == 8 ? kTopBit : 0), further = shifted(gen, word);
    return select(room, gen(word), select(full, renewed, further));
  });
  return {[ready](int word) { return ready(word); }};
}

// A block of four words hashes the path and the counter, each word plus the block's number; the words after
// the last whole block, the path and a counter behind those given.
Words random_words(Compute& c, const Generator& generator, int64_t count) {
  const uint64_t whole = static_cast<uint64_t>(count) / 4;
  const Halide::Func hash = hash_blocks(c, "hash", generator.word, [&](const Halide::Expr& block, int word) {
    const Halide::Expr number = cast(word_type(), block), start = generator.word(4 + word);
    return select(number < constant(whole), start + number, start + constant(word == 3 ? whole * 4 : 0));
  });
  const int blocks = as_int((count + 3) / 4);
  return [hash, blocks](const Halide::Expr& n) {
    const Halide::Expr block = inside_axis(n / 4, blocks), word = n % 4;
    return select(word == 0, hash(block)[0], word == 1, hash(block)[1], word == 2, hash(block)[2],
                  hash(block)[3]);
  };
}

Halide::Func next_generator(Compute& c, const Generator& generator, int64_t count) {
  const uint64_t used = (static_cast<uint64_t>(count) + 3) / 4 * 4;  // whole blocks
  return ten_words(c, "next", [&](int word) {
    if (word == 6) return constant(0);
    if (word == 7) return generator.word(7) + constant(used);
    return generator.word(word);
  });
}

// The left half keeps the path, the right one takes its bit; without a bit left both take a new key and begin
// a path.
std::vector<Halide::Func> split_generator(Compute& c, int index) {
  const Word gen = input_words(c, index);
  const Halide::Func fresh =
      hash_blocks(c, "new_key", gen, [&](const Halide::Expr&, int word) { return gen(4 + word); });
  const Halide::Expr full = path_is_full(gen);
  std::vector<Halide::Func> halves;
  for (const bool right : {false, true}) {
    halves.push_back(ten_words(c, right ? "right" : "left", [&](int word) {
      Halide::Expr renewed = constant(0), further = gen(word);
      if (word < 4) renewed = fresh(0)[word];
      if (word == 4 && right) renewed = constant(kTopBit);
      if (word == 8) renewed = constant(kTopBit >> 1);
      if (word == 4 || word == 5) further = right ? gen(word) | gen(word + 4) : gen(word);
      if (word >= 8) further = shifted(gen, word);
      return select(full, renewed, further);
    }));
  }
  return halves;
}

Type key_type() { return tensor_type(std::vector<Dim>{10}, DType::uint_(64)); }

RelationStatus with_key(RelationContext& ctx, const std::vector<int64_t>& out_shape, DType dtype) {
  if (!check_least(ctx, "out_shape", out_shape, 0)) return kFailed;
  if (ctx.assign(0, key_type()) == kFailed) return kFailed;
  return ctx.assign_result(tuple_type({key_type(), tensor_type(out_shape, dtype)}));
}

int64_t product_of(const std::vector<int64_t>& extents) {
  int64_t count = 1;
  for (const int64_t extent : extents) count *= extent;
  return count;
}

Halide::Expr flat_index(const Axes& i, const std::vector<int64_t>& shape) {
  Halide::Expr flat = 0;
  for (int k = 0; k < i.rank(); ++k) flat = flat * as_int(shape[k]) + i[k];
  return flat;
}

namespace {

void generate_compute(Compute& c, const ThreefryGenerateAttrs& attrs) {
  const int64_t count = product_of(attrs.out_shape);
  const Generator generator = ready_generator(c, 0, count);
  const Words words = random_words(c, generator, count);
  const Axes i(c.out(1).rank());
  Halide::Func numbers = c.stage("threefry_generate");
  numbers(i.reversed()) = words(flat_index(i, attrs.out_shape));
  c.results({next_generator(c, generator, count), numbers});
}

}  // namespace

const OpDef& op_random_threefry_generate() {
  static const OpDef def = OpSpec<ThreefryGenerateAttrs>{
      .name = "random.threefry_generate",
      .doc = "The next key and random 64-bit words, by the Threefry counter-based generator.",
      .inputs = {{"key", "uint64 tensor of 10"}},
      .relation =
          [](RelationContext& ctx, const ThreefryGenerateAttrs& attrs) {
            return with_key(ctx, attrs.out_shape, DType::uint_(64));
          },
      .compute = generate_compute,
      .rules = op_rules(ResultCount{2}),
      .test_shapes = {"(10)u64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, out_shape=[2, 6]"},
  };
  return def;
}

const OpDef& op_random_threefry_split() {
  static const OpDef def = OpSpec<>{
      .name = "random.threefry_split",
      .doc = "Two keys whose numbers are independent of each other.",
      .inputs = {{"key", "uint64 tensor of 10"}},
      .relation =
          [](RelationContext& ctx, const NoAttrs&) {
            if (ctx.assign(0, key_type()) == kFailed) return kFailed;
            return ctx.assign_result(tuple_type({key_type(), key_type()}));
          },
      .compute = [](Compute& c, const NoAttrs&) { c.results(split_generator(c, 0)); },
      .rules = op_rules(ResultCount{2}),
      .test_shapes = {"(10)u64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}"},
  };
  return def;
}

}  // namespace baton
