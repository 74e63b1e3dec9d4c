#include "baton/ops/random/random_attrs.h"

namespace baton {

namespace {
constexpr const char* kShapeDoc = "shape of the numbers";
constexpr const char* kTypeDoc = "element type of the numbers: float32 or float64";
}  // namespace

template <>
const AttrSchema& attr_schema<ThreefryGenerateAttrs>() {
  using A = ThreefryGenerateAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.ThreefryGenerateAttrs",
                                                  {{"out_shape", &A::out_shape, kShapeDoc, kNoDefault}});
  return schema;
}

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

}  // namespace baton
