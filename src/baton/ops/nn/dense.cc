// nn.dense and the form of it whose weight is packed.
#include "baton/ir/op_names.h"
#include "baton/ir/rules/brief.h"
#include "baton/ir/rules/layer_kind.h"
#include "baton/ir/rules/layout_flow_rules.h"
#include "baton/ir/rules/narrow_weight.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/nn/matrix_products.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/int8_rules.h"
#include "baton/ops/rules/scale_rules.h"

namespace baton {

/// nn.contrib_dense_pack.
struct DensePackAttrs {
  std::optional<int64_t> units = {};
  DType out_dtype = {};
  std::string weight_layout = "NC";  ///< such as NC16n: the weight is stored (units / 16, k, 16)
};

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

namespace {

int64_t known_extent(const CallNode& call, size_t arg, int axis) {
  using namespace gradients;
  const TensorTypeNode& type = tensor_arg(call, arg);
  const Dim extent = type.shape()[front_axis(axis, type.rank())];
  if (extent.is_any())
    refuse(call,
           "needs to know the width of its matrices, got " + type_text(call.args()[arg]->checked_type()));
  return extent.value();
}

// `value` as a matrix: all axes but the last become one.
Expr as_matrix(const CallNode& call, const Expr& value, size_t like) {
  using namespace gradients;
  if (tensor_arg(call, 0).rank() == 2) return value;
  const int64_t width = like == 0 ? known_extent(call, 0, -1) : known_extent(call, 1, 0);
  return op("reshape", {value}, {{"newshape", AttrValue(std::vector<int64_t>{-1, width})}});
}

// Stages "right" (the weight), "dense" (the sum) and "out": data of any rank times a weight stored (units,
// k).
void dense_compute(Compute& c, const DenseAttrs&) {
  const Axes i(c.out().rank());
  const Halide::Type type = halide_type(c.out().dtype());
  const Halide::RDom r(0, c.in(1).size(1), "r");
  Index row = i.exprs();
  row.back() = r.x;
  const Halide::Var n("n"), k("k");
  Halide::Func right = c.stage("right"), dense = c.stage("dense");
  right(n, k) = cast(type, c.in(1)(n, k));
  dense(i.reversed()) = cast(type, 0);
  dense(i.reversed()) += cast(type, c.in(0)(row)) * right(i[-1], r.x);
  c.result(copy_stage(c, dense));
}

/// All axes but the last; none where there is one row alone.
std::optional<AxisRange> rows_of_product(const CallNode& call) {
  const auto* result = as_type<TensorTypeNode>(call.checked_type());
  if (!result || !result->is_known() || result->rank() < 3) return std::nullopt;
  return AxisRange{0, result->rank() - 2};
}

/// The features of a packed weight: all of its blocks, unless `units` ends within the last one.
Dim packed_units(const TensorTypeNode& weight, const std::optional<int64_t>& units) {
  const Dim blocks = weight.shape()[0], block = weight.shape()[2], all = times(blocks, block);
  if (!units || all.is_any()) return all;
  const bool in_last = *units <= all.value() && *units > all.value() - block.value();
  return in_last ? Dim(*units) : all;
}

GradientRule dense_gradient() {
  return {[](const Call& call, const Expr& g) { return dense_adjoints(*call, g); }};
}

/// The terms of a sum that lie next to each other in a weight (ceil(N / n), K, n), (.., K / k, n, k) or
/// (.., K / 4, n, 2, 2).
int neighbours_in(const Tensor& weight) {
  return weight.rank() == 5 ? 4 : weight.rank() == 4 ? as_int(weight.extent(3)) : 1;
}

// nn.contrib_dense_pack: stages "left" (the data), "dense" (the sum) and "out". Neighbours are an axis of the
// sum of their own, innermost.
void dense_pack_compute(Compute& c, const DensePackAttrs&) {
  const Tensor &data = c.in(0), &weight = c.in(1);
  const int block = as_int(weight.extent(2)), together = neighbours_in(weight);
  const bool pairs = weight.rank() == 5;
  const Halide::Type type = halide_type(c.out().dtype());
  std::vector<Halide::Range> ranges;
  if (weight.rank() > 3) ranges.emplace_back(0, pairs ? 2 : together);
  ranges.emplace_back(0, as_int(weight.extent(1)));
  const Halide::RDom r(ranges, "r");
  const Halide::Expr step = r[weight.rank() > 3 ? 1 : 0];
  const Halide::Var o("o"), ob("ob"), x("x"), k("k"), q("q");
  const Axes rows(data.rank() - 1, "y");
  const std::vector<Halide::Var> y = rows.reversed();
  const auto in_rows = [&](std::vector<Halide::Var> inner) {
    inner.insert(inner.end(), y.begin(), y.end());
    return inner;
  };
  const auto at_rows = [&](Index inner) {
    inner.insert(inner.end(), y.begin(), y.end());
    return inner;
  };
  Index term_of_row = rows.exprs();
  term_of_row.emplace_back(k);
  // Blocks are a separate axis, so that schedules need not undo a division.
  Halide::Func left = c.stage("left"), dense = c.stage("dense"), out = c.stage("out");
  left(in_rows({k})) = data(term_of_row);
  dense(in_rows({o, ob})) = cast(type, 0);
  if (pairs) {
    // No stage: computed where it is read.
    const Halide::Type half = Halide::Int(16);
    const Halide::RDom p(0, 2, "p");
    Halide::Func sums(dense.name() + "_pairs");
    std::vector<Halide::Var> step_of_row = in_rows({q, o, ob});
    step_of_row.push_back(k);
    sums(step_of_row) = cast(half, 0);
    sums(step_of_row) =
        saturating_add(sums(step_of_row), cast(half, weight(ob, k, o, q, p.x)) *
                                              cast(half, left(at_rows({k * together + q * 2 + p.x}))));
    Index now = at_rows({r[0], o, ob});
    now.push_back(step);
    dense(in_rows({o, ob})) += cast(type, sums(now));
  } else {
    Index term{ob, step, o};
    if (together > 1) term.push_back(r[0]);
    const Halide::Expr at = together > 1 ? step * together + r[0] : step;
    dense(in_rows({o, ob})) += cast(type, weight(term)) * cast(type, left(at_rows({at})));
  }
  out(in_rows({x})) = dense(at_rows({x % block, x / block}));
  c.result(out);
}

}  // namespace

RelationStatus dense_relation(RelationContext& ctx, const DenseAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (data->rank() < 1)
    return fail_arg(ctx, 0, "data of rank >= 1 is needed, got " + type_text(ctx.input(0)));
  const TensorTypeNode* weight = ctx.tensor(1);
  if (!weight && !attrs.units) return kDefer;
  if (weight && !check_rank(ctx, *weight, 2, 1)) return kFailed;
  const Dim k = data->shape().back();
  const Dim units = attrs.units ? Dim(*attrs.units) : weight->shape()[0];
  const DType weight_dtype = weight ? weight->dtype() : data->dtype();
  if (ctx.assign(1, tensor_type(std::vector<Dim>{units, k}, weight_dtype)) == kFailed) return kFailed;
  std::vector<Dim> shape = data->shape();
  shape.back() = units;
  return ctx.assign_result(
      tensor_type(std::move(shape), attrs.out_dtype.is_void() ? data->dtype() : attrs.out_dtype));
}

// y = a * b^T, b a matrix: dy * b for a, dy^T * a for b. dense multiplies by the transpose, too.
gradients::Adjoints dense_adjoints(const CallNode& call, const Expr& g) {
  using namespace gradients;
  const Expr &a = call.args()[0], &b = call.args()[1];
  const int64_t width = known_extent(call, 1, 1);
  const auto dense = [&](const Expr& left, const Expr& right) {
    return op(op_names::kDense, {left, right}, {{"units", width}});
  };
  return {collapse(dense(g, transposed(b)), a),
          collapse(dense(transposed(as_matrix(call, g, 1)), transposed(as_matrix(call, a, 0))), b)};
}

const OpDef& op_nn_dense() {
  static const OpDef def = OpSpec<DenseAttrs>{
      .name = "nn.dense",
      .doc = "data times the transposed weight: out[..., j] = sum over k of data[..., k] * weight[j, k].",
      .inputs = {{"data", "tensor of rank >= 1, k innermost"}, {"weight", "matrix (units, k)"}},
      .fuse = Fuse::kOutFusable,
      .relation = dense_relation,
      .compute = dense_compute,
      .cost = dense_cost,
      .python = "nn.dense(data, weight, units=None, out_dtype='')",
      .rules = op_rules(dense_brief(), dense_scale_rule(), dense_gradient(), dense_layout_flow(),
                        int8_dense_rule(), MixedPrecision::kAlways,
                        FakeQuantizationRule{fake_quantized_dense}, product_macs(), AnchorRule{"rows"},
                        NarrowWeight{}, QuantizationRule{QuantizationRule::Does::kLayer}, LayerKind::kDense,
                        JoinableAxes{rows_of_product}),
      .test_shapes = {"(1, 1)f32, (1, 1)f32, units=1", "(3, 7)f64, (5, 7)f64, units=None",
                      "(2, 3, 5)f32, (4, 5)f32, units=None",
                      "(2, 3)i8[-9, 9], (4, 3)i8[-9, 9], units=4, out_dtype=int32"},
  };
  return def;
}

const OpDef& op_nn_contrib_dense_pack() {
  static const OpDef def = OpSpec<DensePackAttrs>{
      .name = "nn.contrib_dense_pack",
      .doc =
          "nn.dense with a packed weight: out[..., b * n + j] = sum over k of data[..., k] * weight[b, k, "
          "j], "
          "n the block. The last block may be filled up: `units` says how many features there are. A weight "
          "of "
          "integers may lie in groups of neighbours along k, NC16n2c: (ceil(units / n), k / 2, n, 2). In "
          "NC16n2c2c, of uint8 data and int8 weights, the products of neighbours are summed in int16, which "
          "saturates.",
      .inputs = {{"data", "tensor of rank >= 2, k innermost"},
                 {"weight", "tensor (ceil(units / n), k, n) or (ceil(units / n), k / c, n, c)"}},
      .fuse = Fuse::kOutFusable,
      .relation =
          [](RelationContext& ctx, const DensePackAttrs& attrs) {
            const TensorTypeNode *data = ctx.tensor(0), *weight = ctx.tensor(1);
            if (!data || !weight) return kDefer;
            const bool grouped = weight->rank() == 4 || weight->rank() == 5;  // the terms of a sum
            if (data->rank() < 2)
              return fail_arg(ctx, 0, "data of rank >= 2 are needed, got " + type_text(ctx.input(0)));
            if (!grouped && !check_rank(ctx, *weight, 3, 1)) return kFailed;
            const Dim k = data->shape().back();
            Dim depth = weight->shape()[1];
            for (int axis = 3; axis < weight->rank(); ++axis) depth = times(depth, weight->shape()[axis]);
            if (!k.is_any() && !depth.is_any() && k != depth)
              return fail_arg(ctx, 1,
                              "data of shape " + shape_text(data->shape()) + " need a weight of depth " +
                                  extent_text(k) + ", got " + type_text(ctx.input(1)));
            const Dim units = packed_units(*weight, attrs.units);
            const DType dtype = attrs.out_dtype.is_void() ? data->dtype() : attrs.out_dtype;
            std::vector<Dim> shape = data->shape();
            shape.back() = units;
            return ctx.assign_result(tensor_type(std::move(shape), dtype));
          },
      .compute = dense_pack_compute,
      .cost = dense_cost,
      .python = "nn.contrib_dense_pack(data, weight, weight_layout='NC', units=None, out_dtype='')",
      .rules = op_rules(dense_brief(), dense_layout_flow(), product_macs(), AnchorRule{"gemm"},
                        NarrowWeight{}, JoinableAxes{rows_of_product}),
      .test_shapes = {"(2, 5)f32, (3, 5, 4)f32, units=12, weight_layout=NC4n",
                      "(2, 3, 5)f32, (3, 5, 4)f32, units=11, weight_layout=NC4n",
                      "(7, 16)f32, (4, 16, 16)f32, units=64, weight_layout=NC16n",
                      "(3, 4)f32, (2, 4, 8)f32, units=11, weight_layout=NC8n",
                      "(5, 6)i16[-9, 9], (2, 3, 8, 2)i16[-9, 9], units=13, weight_layout=NC8n2c, "
                      "out_dtype=int32",
                      "(5, 8)u8[0, 256], (2, 2, 8, 2, 2)i8[-64, 65], units=13, weight_layout=NC8n2c2c, "
                      "out_dtype=int32"},
  };
  return def;
}

}  // namespace baton
