#include "baton/ops/compute_util.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_rules.h"

namespace baton {

struct MatmulAttrs {
  std::optional<int64_t> units = {};  ///< None: read from the second operand
  DType out_dtype = {};               ///< void: as the first operand
  bool transpose_a = false;
  bool transpose_b = false;
};

template <>
const AttrSchema& attr_schema<MatmulAttrs>() {
  using A = MatmulAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.MatmulAttrs",
                     {{"units", &A::units,
                       "number of columns of the result; None: read from the second operand", kNoDefault},
                      {"out_dtype", &A::out_dtype, "element type of the result; void: as the first operand"},
                      {"transpose_a", &A::transpose_a, "the first operand is stored (..., k, m)"},
                      {"transpose_b", &A::transpose_b, "the second operand is stored (n, k)"}});
  return schema;
}

namespace {

RelationStatus matmul_relation(RelationContext& ctx, const MatmulAttrs& attrs) {
  const TensorTypeNode* a = ctx.tensor(0);
  if (!a) return kDefer;
  const int least = attrs.transpose_a ? 2 : 1;
  if (a->rank() < least)
    return fail_arg(
        ctx, 0,
        "a tensor of rank >= " + std::to_string(least) + " is needed, got " + type_text(ctx.input(0)));
  const TensorTypeNode* b = ctx.tensor(1);
  if (!b && !attrs.units) return kDefer;
  if (attrs.units && !check_least(ctx, "units", {&*attrs.units, 1}, 1)) return kFailed;
  if (b && !check_rank(ctx, *b, 2, 1)) return kFailed;
  std::vector<Dim> shape = a->shape();
  const size_t last = shape.size() - 1;
  if (attrs.transpose_a) std::swap(shape[last], shape[last - 1]);
  const Dim k = shape[last];
  const Dim units = attrs.units ? Dim(*attrs.units) : b->shape()[attrs.transpose_b ? 0 : 1];
  const std::vector<Dim> second = attrs.transpose_b ? std::vector<Dim>{units, k} : std::vector<Dim>{k, units};
  if (ctx.assign(1, tensor_type(second, b ? b->dtype() : a->dtype())) == kFailed) return kFailed;
  shape[last] = units;
  return ctx.assign_result(
      tensor_type(std::move(shape), attrs.out_dtype.is_void() ? a->dtype() : attrs.out_dtype));
}

void matmul_compute(Compute& c, const MatmulAttrs& attrs) {
  const Axes i(c.out().rank());
  const Halide::Type type = halide_type(c.out().dtype());
  const Halide::RDom r(0, as_int(c.in(1).extent(attrs.transpose_b ? 1 : 0)), "r");
  Index a = i.exprs();
  a.back() = r.x;
  if (attrs.transpose_a) std::swap(a[a.size() - 1], a[a.size() - 2]);
  const Index b = attrs.transpose_b ? Index{i[-1], r.x} : Index{r.x, i[-1]};
  Halide::Func matmul = c.stage("matmul");
  matmul(i.reversed()) = cast(type, 0);
  matmul(i.reversed()) += cast(type, c.in(0)(a)) * cast(type, c.in(1)(b));
  c.result(copy_stage(c, matmul));
}

}  // namespace

const OpDef& op_nn_matmul() {
  static const OpDef def = OpSpec<MatmulAttrs>{
      .name = "nn.matmul",
      .doc =
          "Product of matrices: out[..., i, j] = sum over k of a[..., i, k] * b[k, j], with either operand "
          "transposed before.",
      .inputs = {{"tensor_a", "tensor, (..., m, k)"}, {"tensor_b", "matrix (k, n)"}},
      .fuse = Fuse::kOutFusable,
      .relation = matmul_relation,
      .compute = matmul_compute,
      .cost = matmul_cost,
      .python =
          "nn.matmul(tensor_a, tensor_b, units=None, out_dtype='', transpose_a=False, transpose_b=False)",
      .rules = op_rules(matmul_gradient()),
      .test_shapes = {"(3, 5)f32, (5, 7)f32, units=None",
                      "(5, 3)f32, (7, 5)f32, units=None, transpose_a=True, transpose_b=True"},
  };
  return def;
}

}  // namespace baton
