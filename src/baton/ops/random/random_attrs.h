#pragma once
// Attributes of the random generators. Names, order and defaults are Relay's.
#include <cstdint>
#include <vector>

#include "baton/ir/attrs.h"

namespace baton {

struct ThreefryGenerateAttrs {
  std::vector<int64_t> out_shape = {};
};
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

template <>
const AttrSchema& attr_schema<ThreefryGenerateAttrs>();
template <>
const AttrSchema& attr_schema<UniformAttrs>();
template <>
const AttrSchema& attr_schema<NormalAttrs>();
template <>
const AttrSchema& attr_schema<MultinomialAttrs>();

}  // namespace baton
