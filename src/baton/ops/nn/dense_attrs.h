#pragma once
// Attributes of the matrix products. Names, order and defaults are Relay's.
#include <cstdint>
#include <optional>
#include <string>

#include "baton/ir/attrs.h"

namespace baton {

struct DenseAttrs {
  std::optional<int64_t> units = {};  ///< None: read from the weight
  DType out_dtype = {};               ///< void: as the data
};

/// nn.contrib_dense_pack.
struct DensePackAttrs {
  std::optional<int64_t> units = {};
  DType out_dtype = {};
  std::string weight_layout = "NC";  ///< such as NC16n: the weight is stored (units / 16, k, 16)
};

struct BatchMatmulAttrs {
  DType out_dtype = {};  ///< void: as the data
  bool transpose_a = false;
  bool transpose_b = false;  ///< Python's relay.nn.batch_matmul passes True
};

template <>
const AttrSchema& attr_schema<DenseAttrs>();
template <>
const AttrSchema& attr_schema<DensePackAttrs>();
template <>
const AttrSchema& attr_schema<BatchMatmulAttrs>();

}  // namespace baton
