// Random numbers from a counter: the key, uint64[10], goes in, and the next key comes out beside the numbers.
#include "baton/ops/op_spec.h"
#include "baton/ops/random/random_attrs.h"
#include "baton/ops/relations.h"

namespace baton {

namespace {

constexpr DType kWord = DType::uint_(64);

Type key_type() { return tensor_type(std::vector<Dim>{10}, kWord); }

// The result: the next key, and a tensor. Reports an extent below 0.
RelationStatus with_key(RelationContext& ctx, const std::vector<int64_t>& out_shape, DType dtype) {
  if (!check_least(ctx, "out_shape", out_shape, 0)) return kFailed;
  if (ctx.assign(0, key_type()) == kFailed) return kFailed;
  return ctx.assign_result(tuple_type({key_type(), tensor_type(out_shape, dtype)}));
}

// uniform and normal: two scalars of the type of the numbers describe the distribution.
RelationStatus distribution_relation(RelationContext& ctx, const std::vector<int64_t>& out_shape, DType dtype) {
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
  if (probs->rank() < 1) return fail_arg(ctx, 1, "a tensor of rank >= 1 is needed here, got " + type_text(ctx.input(1)));
  if (!check_least(ctx, "num_samples", {&attrs.num_samples, 1}, 0)) return kFailed;
  std::vector<Dim> shape = probs->shape();
  shape.back() = attrs.num_samples;
  return ctx.assign_result(tuple_type({key_type(), tensor_type(std::move(shape), DType::int_(32))}));
}

}  // namespace

const OpDef& op_random_threefry_generate() {
  static const OpDef def = OpSpec<ThreefryGenerateAttrs>{
      .name = "random.threefry_generate",
      .doc = "The next key and random 64-bit words, by the Threefry counter-based generator.",
      .inputs = {{"key", "uint64 tensor of 10"}},
      .relation = [](RelationContext& ctx, const ThreefryGenerateAttrs& attrs) { return with_key(ctx, attrs.out_shape, kWord); },
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
  };
  return def;
}

const OpDef& op_random_uniform() {
  static const OpDef def = OpSpec<UniformAttrs>{
      .name = "random.uniform",
      .doc = "The next key and numbers that are uniform between low and high.",
      .inputs = {{"key", "uint64 tensor of 10"}, {"low", "scalar"}, {"high", "scalar"}},
      .relation = [](RelationContext& ctx,
                     const UniformAttrs& attrs) { return distribution_relation(ctx, attrs.out_shape, attrs.out_dtype); },
  };
  return def;
}

const OpDef& op_random_normal() {
  static const OpDef def = OpSpec<NormalAttrs>{
      .name = "random.normal",
      .doc = "The next key and numbers of the normal distribution with that mean and standard deviation.",
      .inputs = {{"key", "uint64 tensor of 10"}, {"mean", "scalar"}, {"scale", "scalar"}},
      .relation = [](RelationContext& ctx,
                     const NormalAttrs& attrs) { return distribution_relation(ctx, attrs.out_shape, attrs.out_dtype); },
  };
  return def;
}

const OpDef& op_random_multinomial() {
  static const OpDef def = OpSpec<MultinomialAttrs>{
      .name = "random.multinomial",
      .doc = "The next key and, for each row of probabilities, indices drawn with them.",
      .inputs = {{"key", "uint64 tensor of 10"}, {"probs", "tensor, probabilities along its last axis"}},
      .relation = multinomial_relation,
  };
  return def;
}

}  // namespace baton
