// Counter-based random numbers: operators take the key, uint64[10], and return the next key with the numbers.
#include <cmath>

#include "baton/ir/attrs.h"
#include "baton/ops/domain.h"
#include "baton/ops/math.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/random/threefry.h"
#include "baton/ops/relations.h"

namespace baton {

struct UniformAttrs {
  std::vector<int64_t> out_shape = {};
  DType out_dtype = {};
};

struct NormalAttrs {
  std::vector<int64_t> out_shape = {};
  DType out_dtype = {};
};

struct MultinomialAttrs {
  int64_t num_samples = 1;
};

namespace {

constexpr const char* kShapeDoc = "shape of the numbers";

constexpr const char* kTypeDoc = "element type of the numbers: float32 or float64";

}  // namespace

template <>
const AttrSchema& attr_schema<UniformAttrs>() {
  using A = UniformAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.UniformAttrs",
      {{"out_shape", &A::out_shape, kShapeDoc, kNoDefault}, {"out_dtype", &A::out_dtype, kTypeDoc}});
  return schema;
}

template <>
const AttrSchema& attr_schema<NormalAttrs>() {
  using A = NormalAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.NormalAttrs",
      {{"out_shape", &A::out_shape, kShapeDoc, kNoDefault}, {"out_dtype", &A::out_dtype, kTypeDoc}});
  return schema;
}

template <>
const AttrSchema& attr_schema<MultinomialAttrs>() {
  using A = MultinomialAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.MultinomialAttrs", {{"num_samples", &A::num_samples, "indices drawn per row"}});
  return schema;
}

namespace {

// uniform and normal: two scalars of the type of the numbers describe the distribution.
RelationStatus distribution_relation(RelationContext& ctx, const std::vector<int64_t>& out_shape,
                                     DType dtype) {
  if (dtype != DType::float_(32) && dtype != DType::float_(64))
    return fail_attr(ctx, "out_dtype", attr_text(AttrValue(dtype)), "it must be float32 or float64");
  for (int arg = 1; arg <= 2; ++arg)
    if (ctx.assign(arg, scalar_type(dtype)) == kFailed) return kFailed;
  return with_key(ctx, out_shape, dtype);
}

RelationStatus multinomial_relation(RelationContext& ctx, const MultinomialAttrs& attrs) {
  if (ctx.assign(0, key_type()) == kFailed) return kFailed;
  const TensorTypeNode* probs = ctx.tensor(1);
  if (!probs) return kDefer;
  if (probs->rank() < 1)
    return fail_arg(ctx, 1, "a tensor of rank >= 1 is needed here, got " + type_text(ctx.input(1)));
  if (!check_least(ctx, "num_samples", {&attrs.num_samples, 1}, 0)) return kFailed;
  std::vector<Dim> shape = probs->shape();
  shape.back() = attrs.num_samples;
  return ctx.assign_result(tuple_type({key_type(), tensor_type(std::move(shape), DType::int_(32))}));
}

// The highest bits of a word (of its lower half for float32) as a number from 0 to below 1.
Halide::Expr unit_number(const Halide::Expr& word, Halide::Type type) {
  if (type.bits() == 64) {
    const Halide::Expr bits = (word >> Halide::Expr(uint64_t{12})) | Halide::Expr(uint64_t{0x3FF} << 52);
    return Halide::reinterpret(type, bits) - cast(type, 1);
  }
  const Halide::Expr bits =
      (Halide::cast<uint32_t>(word) >> Halide::Expr(uint32_t{9})) | Halide::Expr(uint32_t{0x7F} << 23);
  return Halide::reinterpret(type, bits) - cast(type, 1);
}

void uniform_compute(Compute& c, const UniformAttrs& attrs) {
  const int64_t count = product_of(attrs.out_shape);
  const Generator generator = ready_generator(c, 0, count);
  const Words words = random_words(c, generator, count);
  const Axes i(c.out(1).rank());
  const Halide::Expr low = c.in(1)(Index{}), high = c.in(2)(Index{});
  Halide::Func numbers = c.stage("uniform");
  numbers(i.reversed()) =
      unit_number(words(flat_index(i, attrs.out_shape)), halide_type(c.out(1).dtype())) * (high - low) + low;
  c.results({next_generator(c, generator, count), numbers});
}

// Two uniform numbers make one: the length and the angle of a vector, by Box and Muller.
void normal_compute(Compute& c, const NormalAttrs& attrs) {
  const int64_t count = product_of(attrs.out_shape);
  const Generator generator = ready_generator(c, 0, 2 * count);
  const Words words = random_words(c, generator, 2 * count);
  const Halide::Type type = halide_type(c.out(1).dtype());
  const Axes i(c.out(1).rank());
  const Halide::Expr flat = flat_index(i, attrs.out_shape), mean = c.in(1)(Index{}), scale = c.in(2)(Index{});
  const Halide::Expr length =
      sqrt(cast(type, -2) * vector_log(cast(type, 1) - unit_number(words(flat), type)));
  const Halide::Expr angle =
      cast(type, Halide::Expr(2 * M_PI)) * unit_number(words(flat + as_int(count)), type);
  Halide::Func numbers = c.stage("normal");
  numbers(i.reversed()) = length * sin(angle) * scale + mean;
  c.results({next_generator(c, generator, 2 * count), numbers});
}

// A uniform number selects the first index whose cumulative probability (negative ones are 0) exceeds it.
void multinomial_compute(Compute& c, const MultinomialAttrs&) {
  const Tensor& probs = c.in(1);
  const std::vector<int64_t> shape = c.out(1).extents();
  const int64_t count = product_of(shape);
  const int kinds = as_int(probs.extent(-1));
  const Generator generator = ready_generator(c, 0, count);
  const Words words = random_words(c, generator, count);
  const Axes i(probs.rank());
  Halide::Func sums = c.stage("sums"), smaller = c.stage("smaller"), drawn = c.stage("multinomial");
  sums(i.reversed()) = max(Halide::cast<float>(probs(i.exprs())), 0.0f);
  auto sum_at = [&](const Halide::Expr& last) {
    Index at = i.exprs();
    at.back() = last;
    return sums(reversed(at));
  };
  if (kinds > 1) {
    const Halide::RDom later(1, kinds - 1, "s");
    Index here = i.exprs(), before = i.exprs();
    here.back() = later;
    before.back() = later - 1;
    sums(reversed(here)) += sums(reversed(before));
  }
  const Domain r({kinds});
  const Halide::Expr number = unit_number(words(flat_index(i, shape)), Halide::Float(32));
  const Halide::Expr total = sum_at(kinds - 1);
  smaller(i.reversed()) = 0;
  // Without any probability the last index is drawn: a comparison with 0 / 0 is left to code generators.
  smaller(i.reversed()) += select(sum_at(r[0]) / select(total > 0, total, 1.0f) > number, 0, 1);
  drawn(i.reversed()) = cast_to(c.out(1).dtype(), inside_axis(smaller(i.reversed()), kinds));
  c.results({next_generator(c, generator, count), drawn});
}

}  // namespace

const OpDef& op_random_uniform() {
  static const OpDef def = OpSpec<UniformAttrs>{
      .name = "random.uniform",
      .doc = "The next key and numbers that are uniform between low and high.",
      .inputs = {{"key", "uint64 tensor of 10"}, {"low", "scalar"}, {"high", "scalar"}},
      .relation =
          [](RelationContext& ctx, const UniformAttrs& attrs) {
            return distribution_relation(ctx, attrs.out_shape, attrs.out_dtype);
          },
      .compute = uniform_compute,
      .rules = op_rules(ResultCount{2}),
      .test_shapes =
          {"(10)u64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, ()f64={0}, ()f64={1}, out_shape=[4], out_dtype=float64"},
  };
  return def;
}

const OpDef& op_random_normal() {
  static const OpDef def = OpSpec<NormalAttrs>{
      .name = "random.normal",
      .doc = "The next key and numbers of the normal distribution with that mean and standard deviation.",
      .inputs = {{"key", "uint64 tensor of 10"}, {"mean", "scalar"}, {"scale", "scalar"}},
      .relation =
          [](RelationContext& ctx, const NormalAttrs& attrs) {
            return distribution_relation(ctx, attrs.out_shape, attrs.out_dtype);
          },
      .compute = normal_compute,
      .rules = op_rules(ResultCount{2}),
      .test_shapes =
          {"(10)u64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, ()f32={1}, ()f32={0.5}, out_shape=[4], out_dtype=float32"},
  };
  return def;
}

const OpDef& op_random_multinomial() {
  static const OpDef def = OpSpec<MultinomialAttrs>{
      .name = "random.multinomial",
      .doc = "The next key and, for each row of probabilities, indices drawn with them.",
      .inputs = {{"key", "uint64 tensor of 10"}, {"probs", "tensor, probabilities along its last axis"}},
      .relation = multinomial_relation,
      .compute = multinomial_compute,
      .python = "random.multinomial(key, probs, num_samples)",
      .rules = op_rules(ResultCount{2}),
      .test_shapes = {"(10)u64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, (2, 3)f32[0.1, 1], num_samples=4"},
  };
  return def;
}

}  // namespace baton
