// The gradients of the 2-D pools by their data. Input 0 is the gradient by the pool's result, input 1 the
// pool's data.
#include "baton/ops/domain.h"
#include "baton/ops/nn/pool/pool_window.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

namespace {

// The data's type; the gradient has the extents of the pool's result.
template <class A>
RelationStatus pool_gradient_relation(RelationContext& ctx, const A& attrs) {
  const TensorTypeNode *grad = ctx.tensor(0), *data = ctx.tensor(1);
  if (!grad || !data) return kDefer;
  const auto layout = checked_layout(ctx, "layout", attrs.layout, "NCHW");
  if (!layout) return kFailed;
  if (layout->is_split('H') || layout->is_split('W'))
    return fail_attr(ctx, "layout", "\"" + attrs.layout + "\"", "H and W must not be split");
  if (!check_in_layout(ctx, *grad, *layout, 0) || !check_in_layout(ctx, *data, *layout, 1) ||
      !check_lists(ctx, {{"pool_size", &attrs.pool_size}, {"strides", &attrs.strides}}, 2))
    return kFailed;
  if (!attrs.dilation.empty() && !check_lists(ctx, {{"dilation", &attrs.dilation}}, 2)) return kFailed;
  const auto padding = padding_sums(ctx, attrs.padding, 2);
  if (!padding) return kFailed;
  std::vector<Dim> pooled = data->shape();
  for (int k = 0; k < 2; ++k) {
    Dim& dim = pooled[layout->find("HW"[k])];
    const auto positions = window_positions(
        ctx, {dim, (*padding)[k], attrs.pool_size[k], attrs.dilation.empty() ? 1 : attrs.dilation[k],
              attrs.strides[k], attrs.ceil_mode});
    if (!positions) return kFailed;
    dim = *positions;
  }
  if (!check_shape(ctx, *grad, pooled, 0, "a gradient for each element of the pool's result")) return kFailed;
  return ctx.assign_result(ctx.input(1));
}

// Input 0: the gradient with respect to the pool's result; input 1: the pool's data. Each window adds its
// gradient to its largest cell, the first one of equals; a window without cells in the data to none.
void max_pool_grad_compute(Compute& c, const PoolWindow& w) {
  const Tensor &grad = c.in(0), &data = c.in(1);
  const int rank = data.rank();
  const Axes i(rank);
  const Domain r(w.size, "c");
  const Cell cell = cell_of(w, data.dims(), i.exprs(), r.exprs());
  const Halide::Type type = halide_type(data.dtype());
  Halide::Expr number = 0;  // of the cell, row-major
  for (size_t k = 0; k < w.size.size(); ++k) number = number * as_int(w.size[k]) + r[static_cast<int>(k)];
  Halide::Func best = c.stage("best");
  best(i.reversed()) = Halide::Tuple(Halide::Expr(-1), lowest(type));
  const Halide::Expr first = best(i.reversed())[0] < 0, old = best(i.reversed())[1], value = data(cell.at),
                     wins = cell.inside && (first || value > old);
  best(i.reversed()) = Halide::Tuple(select(wins, number, best(i.reversed())[0]), select(wins, value, old));

  // The windows of one image and channel are visited in order; images and channels stay pure variables.
  std::vector<Dim> windows;
  for (const int axis : w.axes) windows.push_back(grad.dim(axis));
  const Domain q(windows, "w");
  Index window = i.exprs();
  for (size_t k = 0; k < w.axes.size(); ++k) window[w.axes[k]] = q[static_cast<int>(k)];
  const Halide::Expr found = best(reversed(window))[0] >= 0;
  Halide::Expr chosen = max(best(reversed(window))[0], 0);
  Index cells(w.size.size());
  for (size_t k = w.size.size(); k-- > 0; chosen = chosen / as_int(w.size[k]))
    cells[k] = chosen % as_int(w.size[k]);
  const Index to = cell_of(w, data.dims(), window, cells).at;
  Halide::Func result = c.stage("max_pool_grad");
  result(i.reversed()) = cast(type, 0);
  result(reversed(to)) += select(found, cast(type, grad(window)), cast(type, 0));
  c.result(result);
}

void avg_pool_grad_compute(Compute& c, const PoolWindow& w, bool count_include_pad) {
  const Tensor &grad = c.in(0), &data = c.in(1);
  const Axes i(data.rank());
  std::vector<Dim> extents;
  for (const int axis : w.axes) extents.push_back(grad.dim(axis));
  extents.insert(extents.end(), w.size.begin(), w.size.end());
  Domain r(extents);
  Index window = i.exprs(), cells;
  for (size_t k = 0; k < w.axes.size(); ++k) {
    window[w.axes[k]] = r[static_cast<int>(k)];
    cells.push_back(r[static_cast<int>(w.axes.size() + k)]);
  }
  const Cell cell = cell_of(w, data.dims(), window, cells);
  r.where(cell.inside);
  const Halide::Type type = halide_type(data.dtype());
  const Halide::Expr count = cell_count(w, data.dims(), window, count_include_pad);
  Halide::Func result = c.stage("avg_pool_grad");
  result(i.reversed()) = cast(type, 0);
  result(reversed(cell.at)) += cast(type, grad(window)) / cast(type, count);
  c.result(result);
}

}  // namespace

const OpDef& op_nn_max_pool2d_grad() {
  static const OpDef def = OpSpec<MaxPool2DAttrs>{
      .name = "nn.max_pool2d_grad",
      .doc = "The gradient of nn.max_pool2d by its data.",
      .inputs = {{"data", "gradient by the pool's result"}, {"grad", "the pool's data"}},
      .fuse = Fuse::kOutFusable,
      .relation = pool_gradient_relation<MaxPool2DAttrs>,
      .compute = [](Compute& c,
                    const MaxPool2DAttrs& attrs) { max_pool_grad_compute(c, pool_window(attrs, "HW")); },
      .cost = window_gradient_cost,
      .python =
          "nn.max_pool2d_grad(out_grad, data, pool_size=(1, 1), strides=(1, 1), padding=(0, 0), "
          "layout='NCHW', out_layout='', ceil_mode=False)",
      .test_shapes = {"(1, 2, 2, 2)f32, (1, 2, 4, 4)f32, pool_size=[2, 2], strides=[2, 2], dilation=[]",
                      "(1, 1, 4, 4)f32, (1, 1, 2, 2)f32, pool_size=[1, 1], padding=[1, 1, 1, 1]"},
  };
  return def;
}

// Relay declares MaxPool2DAttrs for it but calls it with AvgPool2DAttrs, which text can only give as
// `meta[...]`.
const OpDef& op_nn_avg_pool2d_grad() {
  static const OpDef def = OpSpec<AvgPool2DAttrs>{
      .name = "nn.avg_pool2d_grad",
      .doc = "The gradient of nn.avg_pool2d by its data.",
      .inputs = {{"data", "gradient by the pool's result"}, {"grad", "the pool's data"}},
      .fuse = Fuse::kOutFusable,
      .relation = pool_gradient_relation<AvgPool2DAttrs>,
      .compute =
          [](Compute& c, const AvgPool2DAttrs& attrs) {
            avg_pool_grad_compute(c, pool_window(attrs, "HW"), attrs.count_include_pad);
          },
      .declares_attrs = false,
      .cost = window_gradient_cost,
      .python =
          "nn.avg_pool2d_grad(out_grad, data, pool_size=(1, 1), strides=(1, 1), padding=(0, 0), "
          "layout='NCHW', out_layout='', ceil_mode=False, count_include_pad=False)",
      .test_shapes = {"(1, 2, 2, 2)f32, (1, 2, 4, 4)f32, pool_size=[2, 2], strides=[2, 2]",
                      "(1, 1, 3, 3)f32, (1, 1, 5, 5)f32, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, "
                      "1], count_include_pad=True"},
  };
  return def;
}

}  // namespace baton
