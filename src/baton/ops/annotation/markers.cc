// Annotations on values. They are identities: the result has the type of the input.
#include "baton/ir/attrs.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_build.h"

namespace baton {

struct CompilerAttrs {
  std::string compiler = {};
};

struct QuantizeAnnotationAttrs {
  int64_t axis = -1;
  int64_t kind = 1;  ///< what is rounded: 1 an input, 2 a weight, 3 an activation
  bool sign = true;
  std::string rounding = "round";
};

struct CastHintAttrs {
  DType dtype = {};
};

template <>
const AttrSchema& attr_schema<CompilerAttrs>() {
  using A = CompilerAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.CompilerAttrs",
      {{"compiler", &A::compiler, "the compiler that builds what lies between begin and end", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<CastHintAttrs>() {
  using A = CastHintAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.CastHintAttrs",
                     {{"dtype", &A::dtype, "the element type that the value is cast to", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<QuantizeAnnotationAttrs>() {
  using A = QuantizeAnnotationAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.QuantizeAnnotationAttrs",
                     {{"axis", &A::axis, "axis of the channels"},
                      {"kind", &A::kind, "what is rounded: 1 an input, 2 a weight, 3 an activation"},
                      {"sign", &A::sign, "whether one bit is the sign"},
                      {"rounding", &A::rounding, "how halves are rounded"}});
  return schema;
}

namespace {

// The scale and the bounds are float32 scalars: an incomplete input type is unified with that.
RelationStatus simulated_quantize_relation(RelationContext& ctx, const QuantizeAnnotationAttrs&) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  for (size_t i = 1; i < 4; ++i)
    if (ctx.assign(i, scalar_type(DType::float_(32))) == kFailed) return kFailed;
  return identity_relation(ctx);
}

// The value itself, each field of a tuple.
void identity_compute(Compute& c) {
  std::vector<Halide::Func> results;
  for (int k = 0; k < c.num_inputs(); ++k) {
    const Axes i(c.in(k).rank());
    results.push_back(c.stage("value" + std::to_string(k)));
    results.back()(i.reversed()) = c.in(k)(i.exprs());
  }
  c.results(std::move(results));
}

}  // namespace

const OpDef& op_annotation_compiler_begin() {
  static const OpDef def = OpSpec<CompilerAttrs>{
      .name = "annotation.compiler_begin",
      .doc = "The value enters a region for another compiler.",
      .inputs = {{"data", "the value"}},
      .relation = [](RelationContext& ctx, const CompilerAttrs&) { return identity_relation(ctx); },
      .compute = [](Compute& c, const CompilerAttrs&) { identity_compute(c); },
      .declares_attrs = false,
      .rules = op_rules(same_layout_flow()),
      .test_shapes = {"(2, 3)f32, compiler=test"},
  };
  return def;
}

const OpDef& op_annotation_compiler_end() {
  static const OpDef def = OpSpec<CompilerAttrs>{
      .name = "annotation.compiler_end",
      .doc = "The value leaves a region for another compiler.",
      .inputs = {{"data", "the value"}},
      .relation = [](RelationContext& ctx, const CompilerAttrs&) { return identity_relation(ctx); },
      .compute = [](Compute& c, const CompilerAttrs&) { identity_compute(c); },
      .declares_attrs = false,
      .rules = op_rules(same_layout_flow()),
      .test_shapes = {"(2, 3)f32, compiler=test"},
  };
  return def;
}

const OpDef& op_annotation_cast_hint() {
  static const OpDef def = OpSpec<CastHintAttrs>{
      .name = "annotation.cast_hint",
      .doc = "Quantisation may cast the value here.",
      .inputs = {{"data", "tensor"}},
      .relation = [](RelationContext& ctx, const CastHintAttrs&) { return identity_relation(ctx); },
      .compute = [](Compute& c, const CastHintAttrs&) { identity_compute(c); },
      .declares_attrs = false,
      .rules = op_rules(same_layout_flow(), QuantizationRule{QuantizationRule::Does::kHint}),
      .test_shapes = {"(2, 3)f32, dtype=int8"},
  };
  return def;
}

const OpDef& op_annotation_bitpack_start() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "annotation.bitpack_start",
      .doc = "Bit packing begins here.",
      .inputs = {{"data", "the value"}},
      .relation = [](RelationContext& ctx, const NoAttrs&) { return identity_relation(ctx); },
      .compute = [](Compute& c, const NoAttrs&) { identity_compute(c); },
      .rules = op_rules(same_layout_flow()),
      .test_shapes = {"(2, 3)f32"},
  };
  return def;
}

const OpDef& op_annotation_bitpack_end() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "annotation.bitpack_end",
      .doc = "Bit packing ends here.",
      .inputs = {{"data", "the value"}},
      .relation = [](RelationContext& ctx, const NoAttrs&) { return identity_relation(ctx); },
      .compute = [](Compute& c, const NoAttrs&) { identity_compute(c); },
      .rules = op_rules(same_layout_flow()),
      .test_shapes = {"(2, 3)f32"},
  };
  return def;
}

const OpDef& op_annotation_checkpoint() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "annotation.checkpoint",
      .doc = "The gradient computes the value again instead of keeping it.",
      .inputs = {{"data", "the value"}},
      .relation = [](RelationContext& ctx, const NoAttrs&) { return identity_relation(ctx); },
      .compute = [](Compute& c, const NoAttrs&) { identity_compute(c); },
      .rules = op_rules(copy_gradient(), same_layout_flow()),
      .test_shapes = {"(2, 3)f32"},
  };
  return def;
}

const OpDef& op_relay_op_annotation_simulated_quantize() {
  static const OpDef def = OpSpec<QuantizeAnnotationAttrs>{
      .name = "relay.op.annotation.simulated_quantize",
      .doc = "The data rounded as quantisation would: to multiples of a scale, between two bounds.",
      .inputs = {{"data", "tensor"}, {"dom_scale", "scalar"}, {"clip_min", "scalar"}, {"clip_max", "scalar"}},
      .fuse = Fuse::kElementwise,
      .relation = simulated_quantize_relation,
      .rules = op_rules(QuantizationRule{QuantizationRule::Does::kRound}),
  };
  return def;
}

const OpDef& op_annotation_with_funcid() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "annotation.with_funcid",
      .doc = "Names a function for partial evaluation.",
      .inputs = {{"func", "function"}},
      .relation = [](RelationContext& ctx, const NoAttrs&) { return identity_relation(ctx); },
  };
  return def;
}

}  // namespace baton
