#include "baton/ir/layout.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/shared/reindex.h"
#include "baton/ops/tensor/tensor_attrs.h"

namespace baton {

namespace {

RelationStatus layout_relation(RelationContext& ctx, const LayoutTransformAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto src = Layout::parse(attrs.src_layout), dst = Layout::parse(attrs.dst_layout);
  if (!src) return fail_attr(ctx, "src_layout", "\"" + attrs.src_layout + "\"", "this is no layout");
  if (!dst) return fail_attr(ctx, "dst_layout", "\"" + attrs.dst_layout + "\"", "this is no layout");
  if (!src->convertible(*dst))
    return fail_attr(ctx, "dst_layout", "\"" + attrs.dst_layout + "\"",
                     "it has other axes than \"" + attrs.src_layout + "\"");
  if (!check_rank(ctx, *data, src->rank(), 0)) return kFailed;
  return ctx.assign_result(tensor_type(convert_shape(data->shape(), *src, *dst), data->dtype()));
}

void layout_compute(Compute& c, const LayoutTransformAttrs& attrs) {
  const Layout src = *Layout::parse(attrs.src_layout), dst = *Layout::parse(attrs.dst_layout);
  const Tensor& data = c.in(0);
  const Axes i(dst.rank());
  Index from = convert_index<Halide::Expr>(i.exprs(), dst, src);
  // Where a split does not divide, the result has elements that the data has not: zeros.
  const std::vector<int64_t> reached = convert_shape(c.out().extents(), dst, src);
  Halide::Expr inside = Halide::Internal::const_true();
  for (int axis = 0; axis < src.rank(); ++axis) {
    if (reached[axis] <= data.extent(axis)) continue;
    inside = inside && from[axis] < as_int(data.extent(axis));
    from[axis] = min(from[axis], as_int(data.extent(axis) - 1));
  }
  Halide::Func moved = c.stage("layout_transform");
  moved(i.reversed()) =
      is_const_one(inside) ? data(from) : select(inside, data(from), constant_of(data.dtype(), 0));
  c.result(moved);
}

}  // namespace

const OpDef& op_layout_transform() {
  static const OpDef def = OpSpec<LayoutTransformAttrs>{
      .name = "layout_transform",
      .doc = "The same tensor in another layout, e.g. from NCHW to NCHW16c.",
      .inputs = {{"data", "tensor in src_layout"}},
      .fuse = Fuse::kInjective,
      .relation = layout_relation,
      .compute = layout_compute,
      .python = "transform",
      .test_shapes = {"(1, 8, 3, 5)f32, src_layout=NCHW, dst_layout=NCHW4c",
                      "(1, 2, 2, 3, 4)f32, src_layout=NCHW4c, dst_layout=NHWC"},
  };
  return def;
}

}  // namespace baton
