// Running sums and products.
#include <optional>

#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"

namespace baton {

struct ScanopAttrs {
  std::optional<int64_t> axis = {};
  DType dtype = {};
  std::optional<bool> exclusive = false;
};

template <>
const AttrSchema& attr_schema<ScanopAttrs>() {
  using A = ScanopAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ScanopAttrs",
      {{"axis", &A::axis, "the axis along which is accumulated; None: the flattened data"},
       {"dtype", &A::dtype, "element type of the result; void: as the data"},
       {"exclusive", &A::exclusive, "whether an element itself is left out; None: no", kBoxed}});
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

// An exclusive scan starts with 0 or 1 and leaves out the last element.
template <bool kProduct>
void scan_compute(Compute& c, const ScanopAttrs& attrs) {
  const Tensor& data = c.in(0);
  const Axes i(c.out().rank());
  const int axis = attrs.axis ? from_front(*attrs.axis, data.rank()) : 0;
  const Dim count = c.out().shape()[axis];
  const Halide::Type type = halide_type(c.out().dtype());
  const bool exclusive = attrs.exclusive.value_or(false);
  auto element = [&](Index at) {
    if (exclusive) at[axis] = inside_axis(at[axis] - 1, count);
    if (attrs.axis) return cast(type, data(at));
    Halide::Expr flat = at[0];
    Index split(data.rank());
    for (int k = data.rank(); k-- > 0; flat = flat / data.size(k))
      split[k] = k == 0 ? flat : flat % data.size(k);
    return cast(type, data(split));
  };
  Halide::Func scan = c.stage(kProduct ? "cumprod" : "cumsum");
  const Halide::Expr start = cast(type, kProduct ? 1 : 0);
  scan(i.reversed()) = exclusive ? select(i[axis] == 0, start, element(i.exprs())) : element(i.exprs());
  if (count.is_symbolic() || count.value() > 1) {
    const Halide::RDom r(1, count.is_symbolic() ? max(as_expr(count), 1) - 1 : as_expr(count - 1), "r");
    Index here = i.exprs(), before = i.exprs();
    here[axis] = r;
    before[axis] = r - 1;
    if (kProduct)
      scan(reversed(here)) *= scan(reversed(before));
    else
      scan(reversed(here)) += scan(reversed(before));
  }
  c.result(scan);
}

}  // namespace

const OpDef& op_cumsum() {
  static const OpDef def = OpSpec<ScanopAttrs>{
      .name = "cumsum",
      .doc = "Sums up to each element.",
      .inputs = {{"data", "tensor"}},
      .relation = scan_relation,
      .compute = scan_compute<false>,
      .declares_attrs = false,
      .python = "transform.cumsum(data, axis=None, dtype=None, exclusive=None)",
      .test_shapes = {"(2, 3)f32", "(3, 5)i32[-9, 9], axis=0", "(2, 3, 4)f32, axis=1, exclusive=True",
                      "(2, 3)f32, axis=1, exclusive=None"},
  };
  return def;
}

const OpDef& op_cumprod() {
  static const OpDef def = OpSpec<ScanopAttrs>{
      .name = "cumprod",
      .doc = "Products up to each element.",
      .inputs = {{"data", "tensor"}},
      .relation = scan_relation,
      .compute = scan_compute<true>,
      .declares_attrs = false,
      .python = "transform.cumprod(data, axis=None, dtype=None, exclusive=None)",
      .test_shapes = {"(2, 3)f32, axis=1, exclusive=True", "(2, 3)f32[0.5, 2], axis=0"},
  };
  return def;
}

}  // namespace baton
