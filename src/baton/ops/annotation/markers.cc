// Marks around values. They compute nothing: the result has the type of the input.
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"

namespace baton {

struct CompilerAttrs {
  std::string compiler = {};
};
struct CastHintAttrs {
  DType dtype = {};
};
struct SimulatedQuantizeAttrs {
  int64_t axis = -1;
};

template <>
const AttrSchema& attr_schema<CompilerAttrs>() {
  using A = CompilerAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.CompilerAttrs",
      {{"compiler", &A::compiler, "the compiler that builds what lies between begin and end", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<CastHintAttrs>() {
  using A = CastHintAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.CastHintAttrs",
      {{"dtype", &A::dtype, "the element type that the value is cast to", kNoDefault}});
  return schema;
}

const OpDef& op_annotation_compiler_begin() {
  static const OpDef def = OpSpec<CompilerAttrs>{
      .name = "annotation.compiler_begin",
      .doc = "The value enters a region for another compiler.",
      .inputs = {{"data", "the value"}},
      .relation = [](RelationContext& ctx, const CompilerAttrs&) { return identity_relation(ctx); },
      .declares_attrs = false,
  };
  return def;
}

const OpDef& op_annotation_compiler_end() {
  static const OpDef def = OpSpec<CompilerAttrs>{
      .name = "annotation.compiler_end",
      .doc = "The value leaves a region for another compiler.",
      .inputs = {{"data", "the value"}},
      .relation = [](RelationContext& ctx, const CompilerAttrs&) { return identity_relation(ctx); },
      .declares_attrs = false,
  };
  return def;
}

const OpDef& op_annotation_cast_hint() {
  static const OpDef def = OpSpec<CastHintAttrs>{
      .name = "annotation.cast_hint",
      .doc = "Quantisation may cast the value here.",
      .inputs = {{"data", "tensor"}},
      .relation = [](RelationContext& ctx, const CastHintAttrs&) { return identity_relation(ctx); },
      .declares_attrs = false,
  };
  return def;
}

const OpDef& op_annotation_bitpack_start() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "annotation.bitpack_start",
      .doc = "Bit packing begins here.",
      .inputs = {{"data", "the value"}},
      .relation = [](RelationContext& ctx, const NoAttrs&) { return identity_relation(ctx); },
  };
  return def;
}

const OpDef& op_annotation_bitpack_end() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "annotation.bitpack_end",
      .doc = "Bit packing ends here.",
      .inputs = {{"data", "the value"}},
      .relation = [](RelationContext& ctx, const NoAttrs&) { return identity_relation(ctx); },
  };
  return def;
}

const OpDef& op_annotation_checkpoint() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "annotation.checkpoint",
      .doc = "The gradient computes the value again instead of keeping it.",
      .inputs = {{"data", "the value"}},
      .relation = [](RelationContext& ctx, const NoAttrs&) { return identity_relation(ctx); },
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
