#include "baton/ops/nn/dense_attrs.h"

namespace baton {

template <>
const AttrSchema& attr_schema<DenseAttrs>() {
  static const AttrSchema schema = make_schema<DenseAttrs>(
      "relay.attrs.DenseAttrs",
      {{"units", &DenseAttrs::units, "number of output features; None: read from the weight", kNoDefault},
       {"out_dtype", &DenseAttrs::out_dtype, "element type of the result; void: as the data"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<DensePackAttrs>() {
  using A = DensePackAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.DensePackAttrs",
      {{"units", &A::units, "number of output features; None: read from the weight", kNoDefault},
       {"out_dtype", &A::out_dtype, "element type of the result; void: as the data"},
       {"weight_layout", &A::weight_layout, "the layout of the weight, such as NC16n"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<BatchMatmulAttrs>() {
  using A = BatchMatmulAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.BatchMatmulAttrs",
                     {{"out_dtype", &A::out_dtype, "element type of the result; void: as the data"},
                      {"transpose_a", &A::transpose_a, "the first operand is stored (b, k, m)"},
                      {"transpose_b", &A::transpose_b, "the second operand is stored (b, n, k)"}});
  return schema;
}

}  // namespace baton
