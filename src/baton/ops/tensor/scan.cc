// Running sums and products.
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include <optional>

namespace baton {

struct ScanopAttrs {
  std::optional<int64_t> axis = {};
  DType dtype = {};
  bool exclusive = false;
};

template <>
const AttrSchema& attr_schema<ScanopAttrs>() {
  using A = ScanopAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.ScanopAttrs",
      {{"axis", &A::axis, "the axis along which is accumulated; None: the flattened data"},
       {"dtype", &A::dtype, "element type of the result; void: as the data"},
       {"exclusive", &A::exclusive, "whether an element itself is left out", kBoxed}});
  return schema;
}

namespace {

RelationStatus scan_relation(RelationContext& ctx, const ScanopAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const DType dtype = attrs.dtype.is_void() ? data->dtype() : attrs.dtype;
  if (!attrs.axis) return ctx.assign_result(tensor_type(std::vector<Dim>{product(data->shape())}, dtype));
  if (!checked_axis(ctx, *attrs.axis, data->rank())) return kFailed;
  return ctx.assign_result(tensor_type(data->shape(), dtype));
}

}  // namespace

const OpDef& op_cumsum() {
  static const OpDef def = OpSpec<ScanopAttrs>{
      .name = "cumsum",
      .doc = "Sums up to each element.",
      .inputs = {{"data", "tensor"}},
      .relation = scan_relation,
      .declares_attrs = false,
  };
  return def;
}

const OpDef& op_cumprod() {
  static const OpDef def = OpSpec<ScanopAttrs>{
      .name = "cumprod",
      .doc = "Products up to each element.",
      .inputs = {{"data", "tensor"}},
      .relation = scan_relation,
      .declares_attrs = false,
  };
  return def;
}

}  // namespace baton
