// Reductions over some axes.
#include <algorithm>
#include <numeric>

#include "baton/ir/rules/algebra.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/rules/layout_rules.h"
#include "baton/ops/tensor/tensor_attrs.h"
#include "baton/ops/tensor/tensor_relations.h"

namespace baton {

/// sum, mean, max, min, prod, all, any.
struct ReduceAttrs {
  std::optional<Ints> axis = {};  ///< None or []: all
  bool keepdims = false;
  bool exclude = false;  ///< reduces the axes that are not named
};

/// argmax and argmin.
struct ArgReduceAttrs {
  std::optional<Ints> axis = {};
  bool keepdims = false;
  bool select_last_index = false;
  bool exclude = false;
};

struct VarianceAttrs {
  std::optional<Ints> axis = {};
  bool keepdims = false;
  bool exclude = false;
  bool unbiased = false;
};

template <>
const AttrSchema& attr_schema<ReduceAttrs>() {
  using A = ReduceAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ReduceAttrs", {{"axis", &A::axis, "the axes to reduce; None or []: all"},
                                  {"keepdims", &A::keepdims, "whether reduced axes stay, with extent 1"},
                                  {"exclude", &A::exclude, "whether `axis` names the axes to keep instead"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ArgReduceAttrs>() {
  using A = ArgReduceAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ArgReduceAttrs",
      {{"axis", &A::axis, "the axes to reduce; None or []: all"},
       {"keepdims", &A::keepdims, "whether reduced axes stay, with extent 1"},
       {"select_last_index", &A::select_last_index, "whether the last of equal values counts, not the first"},
       {"exclude", &A::exclude, "whether `axis` names the axes to keep instead"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<VarianceAttrs>() {
  using A = VarianceAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.VarianceAttrs", {{"axis", &A::axis, "the axes that are reduced; None: all"},
                                    {"keepdims", &A::keepdims, "whether they stay with extent 1"},
                                    {"exclude", &A::exclude, "whether the other axes are reduced"},
                                    {"unbiased", &A::unbiased, "whether the sum is divided by n - 1"}});
  return schema;
}

namespace {

// The reduced axes. Nullopt when one is out of range: `bad` is that one.
std::optional<std::vector<bool>> reduced_axes(const std::optional<Ints>& named, bool exclude, int rank,
                                              int64_t* bad) {
  if (!named || named->empty()) return std::vector<bool>(rank, true);
  std::vector<bool> reduced(rank, exclude);
  for (const int64_t axis : *named) {
    if (axis < -rank || axis >= rank) {
      if (bad) *bad = axis;
      return std::nullopt;
    }
    reduced[axis < 0 ? axis + rank : axis] = !exclude;
  }
  return reduced;
}

RelationStatus reduce_relation(RelationContext& ctx, const std::optional<Ints>& axis, bool exclude,
                               bool keepdims, DType dtype) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  int64_t bad = 0;
  const auto reduced = reduced_axes(axis, exclude, data->rank(), &bad);
  if (!reduced) {
    checked_axis(ctx, bad, data->rank());
    return kFailed;
  }
  std::vector<Dim> shape;
  for (int k = 0; k < data->rank(); ++k) {
    if (!(*reduced)[k])
      shape.push_back(data->shape()[k]);
    else if (keepdims)
      shape.push_back(1);
  }
  return ctx.assign_result(tensor_type(std::move(shape), dtype.is_void() ? data->dtype() : dtype));
}

// The elements reduced into result element `i`: the reduced axes iterate over `domain`, the last one
// innermost.
struct Reduction {
  Reduction(const Compute& c, const std::optional<Ints>& axis, bool exclude, bool keepdims)
      : i(c.out().rank()) {
    const Tensor& data = c.in(0);
    const std::vector<bool> reduced = *reduced_axes(axis, exclude, data.rank(), nullptr);
    std::vector<Halide::Range> ranges;
    for (int k = data.rank(); k-- > 0;)
      if (reduced[k]) ranges.emplace_back(0, data.size(k));
    any = !ranges.empty();
    if (any) domain = Halide::RDom(ranges, "r");
    at.resize(data.rank());
    Halide::Expr position = 0;
    for (int k = 0, next = 0, left = static_cast<int>(ranges.size()); k < data.rank(); ++k) {
      if (reduced[k]) {
        at[k] = domain[--left];
        position = position * data.size(k) + at[k];
        count = count * data.dim(k);
        if (keepdims) ++next;
      } else {
        at[k] = i[next++];
      }
    }
    flat = position;
  }
  Axes i;
  bool any = false;  // whether any axis is reduced at all: Halide has no empty domain
  Halide::RDom domain;
  Index at;
  Halide::Expr flat;  // the position among the reduced elements, row-major
  Dim count = 1;
};

using Combine = Halide::Expr (*)(const Halide::Expr&, const Halide::Expr&);

using Start = Halide::Expr (*)(Halide::Type);

// Left fold f(...f(f(start, x0), x1)..., xn) in `type`; returns the Func before any last step.
Halide::Func fold(Compute& c, const Reduction& r, const char* stage, Halide::Type type, Start start,
                  Combine combine) {
  Halide::Func folded = c.stage(stage);
  const Halide::Expr value = cast(type, c.in(0)(r.at));
  if (!r.any) {
    folded(r.i.reversed()) = combine(start(type), value);
  } else {
    folded(r.i.reversed()) = start(type);
    folded(r.i.reversed()) = combine(folded(r.i.reversed()), value);
  }
  return folded;
}

// The largest or smallest element: stage `stage` is of its key.
Halide::Func fold_extremum(Compute& c, const Reduction& r, const char* stage, OrderKey order) {
  const Halide::Type out = halide_type(c.out().dtype()), type = sum_type(c.out().dtype());
  Halide::Func key = c.stage(stage), result = c.stage("out");
  const Halide::Expr value = order.of(cast(type, c.in(0)(r.at)));
  if (r.any) {
    key(r.i.reversed()) = order.start(type);
    key(r.i.reversed()) = order.better(key(r.i.reversed()), value);
  } else {
    key(r.i.reversed()) = value;
  }
  result(r.i.reversed()) = cast(out, OrderKey::value(key(r.i.reversed()), type));
  return result;
}

Halide::Expr zero_of(Halide::Type type) { return cast(type, 0); }

Halide::Expr one_of(Halide::Type type) { return cast(type, 1); }

OpDef reduce_op(const char* name, const char* doc, OpRules rules, std::vector<const char*> test_shapes) {
  OpDef def = OpSpec<ReduceAttrs>{
      .name = name,
      .doc = doc,
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kCommReduce,
      .relation =
          [](RelationContext& ctx, const ReduceAttrs& a) {
            return reduce_relation(ctx, a.axis, a.exclude, a.keepdims, {});
          },
  };
  def.python = "reduce";
  def.rules = std::move(rules);
  if (test_shapes.empty())
    test_shapes = {"(2, 3, 4)f32, axis=[1]", "(3, 5)f32, keepdims=True", "(1)f32, axis=[0]",
                   "(2, 3, 4)i32[-9, 9], axis=[0, 2], exclude=True"};
  def.test_shapes = std::move(test_shapes);
  return def;
}

// Sums and products of integers are modulo 2^bits; Halide takes overflow of int32 and int64 as undefined.
OpDef fold_op(const char* name, const char* doc, Start start, Combine combine, OpRules rules = {},
              std::vector<const char*> test_shapes = {}) {
  OpDef def = reduce_op(name, doc, std::move(rules), std::move(test_shapes));
  def.compute = [=](Compute& c, const Attrs& attrs) {
    const auto& a = attrs_as<ReduceAttrs>(attrs);
    const Reduction r(c, a.axis, a.exclude, a.keepdims);
    const Halide::Type out = halide_type(c.out().dtype());
    Halide::Type type = sum_type(c.out().dtype());
    if (type.is_int() && type.bits() >= 32) type = type.with_code(Halide::Type::UInt);
    Halide::Func folded = fold(c, r, name, type, start, combine);
    if (type != out) {
      Halide::Func narrow = c.stage(std::string(name) + "_cast");
      narrow(r.i.reversed()) = cast(out, folded(r.i.reversed()));
      folded = narrow;
    } else if (r.any) {
      folded = copy_stage(c, folded);
    }
    c.result(folded);
  };
  return def;
}

OpDef extremum_op(const char* name, const char* doc, OrderKey order, OpRules rules) {
  OpDef def = reduce_op(name, doc, std::move(rules),
                        {"(2, 3, 4)f32, axis=[1]", "(3, 5)f32, keepdims=True", "(1)f32, axis=[0]",
                         "(2, 3, 4)i32[-9, 9], axis=[0, 2], exclude=True", "(3, 40)f64, axis=[1]"});
  def.compute = [=](Compute& c, const Attrs& attrs) {
    const auto& a = attrs_as<ReduceAttrs>(attrs);
    c.result(fold_extremum(c, Reduction(c, a.axis, a.exclude, a.keepdims), name, order));
  };
  return def;
}

template <bool kLargest>
void arg_compute(Compute& c, const ArgReduceAttrs& a) {
  const Reduction r(c, a.axis, a.exclude, a.keepdims);
  const Halide::Type type = halide_type(c.in(0).dtype());
  const auto i = r.i.reversed();
  const auto position_stage = [&] { return c.stage(kLargest ? "argmax" : "argmin"); };
  if (!r.any) {
    Halide::Func position = position_stage();
    position(i) = 0;
    c.result(position);
    return;
  }
  Halide::Func best = c.stage("best"), position = position_stage();
  best(i) = Halide::Tuple(Halide::Expr(0), kLargest ? lowest(type) : highest(type));
  const Halide::Expr value = c.in(0)(r.at), old = best(i)[1], at = best(i)[0];
  // The first NaN is both the largest and the smallest, as in numpy.
  const bool real = type.is_float();
  Halide::Expr better = kLargest ? value > old : value < old, same = value == old;
  if (real) {
    better = better || (value != value && old == old);
    same = same || (value != value && old != old);
  }
  // A schedule may change the visiting order: ties are broken by position, not by order.
  const Halide::Expr wins = better || (same && (a.select_last_index ? r.flat > at : r.flat < at));
  best(i) = Halide::Tuple(select(wins, r.flat, at), select(wins, value, old));
  position(i) = best(i)[0];
  c.result(position);
}

void variance_compute(Compute& c, const std::optional<Ints>& axis, bool exclude, bool keepdims,
                      bool unbiased) {
  const Reduction r(c, axis, exclude, keepdims);
  const Halide::Type type = sum_type(c.out().dtype());
  // The mean of a symbolic extent is that of one element along each axis that it does not share with the
  // data.
  const Tensor& mean = c.in(1);
  Index of_mean = broadcast_index(mean, r.at);
  for (int k = 0; k < mean.rank(); ++k)
    if (mean.dim(k).is_symbolic() && mean.dim(k) != c.in(0).dim(k - mean.rank())) of_mean[k] = 0;
  const Halide::Expr off = cast(type, c.in(0)(r.at)) - cast(type, mean(of_mean));
  const Halide::Expr count = cast(type, real_of(unbiased ? r.count - 1 : r.count));
  Halide::Func squares = c.stage("squares"), variance = c.stage("variance");
  if (r.any) {
    squares(r.i.reversed()) = cast(type, 0);
    squares(r.i.reversed()) += off * off;
  } else {
    squares(r.i.reversed()) = off * off;
  }
  variance(r.i.reversed()) = cast_to(c.out().dtype(), divide_toward_zero(squares(r.i.reversed()), count));
  c.result(variance);
}

// The axes that are reduced, ascending.
std::vector<int64_t> summed_axes(const CallNode& call) {
  using namespace gradients;
  const int rank = tensor_arg(call, 0).rank();
  std::vector<int64_t> named = ints_attr(call, "axis");
  std::vector<int64_t> all(static_cast<size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  if (named.empty()) return all;
  for (int64_t& axis : named) axis = front_axis(axis, rank);
  const bool exclude = bool_attr(call, "exclude");
  std::erase_if(all, [&](int64_t axis) {
    return (std::find(named.begin(), named.end(), axis) != named.end()) == exclude;
  });
  return all;
}

// `value` with the reduced axes reinserted as unit axes.
Expr with_summed_axes(const CallNode& call, Expr value, const std::vector<int64_t>& axes) {
  using namespace gradients;
  if (bool_attr(call, "keepdims")) return value;
  for (const int64_t axis : axes) value = op("expand_dims", {value}, {{"axis", axis}});
  return value;
}

// The number of elements reduced into one of the result.
double summed_elements(const CallNode& call, const std::vector<int64_t>& axes) {
  using namespace gradients;
  double elements = 1;
  for (const int64_t axis : axes) {
    const Dim extent = tensor_arg(call, 0).shape()[static_cast<size_t>(axis)];
    if (extent.is_any())
      refuse(call, "needs to know the extents of the axes it reduces, got " +
                       type_text(call.args()[0]->checked_type()));
    elements *= static_cast<double>(extent.value());
  }
  return elements;
}

GradientRule sum_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    return Adjoints{
        op("broadcast_to_like", {with_summed_axes(*call, g, summed_axes(*call)), call->args()[0]})};
  }};
}

GradientRule mean_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const Expr& x = call->args()[0];
    const std::vector<int64_t> axes = summed_axes(*call);
    const Expr share = scalar_like(1.0 / summed_elements(*call, axes), x);
    return Adjoints{op("broadcast_to_like", {mul(with_summed_axes(*call, g, axes), share), x})};
  }};
}

// sum((x - m)^2) / n: 2 (x - m) / n for x, and the same summed up, negative, for m.
GradientRule variance_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const Expr &x = call->args()[0], &mean = call->args()[1];
    const std::vector<int64_t> axes = summed_axes(*call);
    const double n = summed_elements(*call, axes) - (bool_attr(*call, "unbiased") ? 1 : 0);
    const Expr data = mul(mul(with_summed_axes(*call, g, axes), scalar_like(2 / n, x)), sub(x, mean));
    return Adjoints{data, neg(collapse(data, mean))};
  }};
}

GradientRule max_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const Expr& x = call->args()[0];
    const std::vector<int64_t> axes = summed_axes(*call);
    const Expr largest = op("broadcast_to_like", {with_summed_axes(*call, Expr(call), axes), x});
    const Expr chosen = op("cast_like", {op("equal", {largest, x}), g});
    const Expr many = op("sum", {chosen}, {{"axis", AttrValue(axes)}, {"keepdims", true}});
    return Adjoints{div(mul(chosen, with_summed_axes(*call, g, axes)), many)};
  }};
}

}  // namespace

const OpDef& op_sum() {
  static const OpDef def = fold_op(
      "sum", "The sum.", zero_of, [](const Halide::Expr& a, const Halide::Expr& b) { return a + b; },
      op_rules(sum_gradient(), MixedPrecision::kNever, reduce_layout_flow(), reduce_layout_rule(),
               AnchorRule{"reduce"}));
  return def;
}

const OpDef& op_prod() {
  static const OpDef def = fold_op(
      "prod", "The product.", one_of, [](const Halide::Expr& a, const Halide::Expr& b) { return a * b; },
      op_rules(reduce_layout_flow(), reduce_layout_rule(), AnchorRule{"reduce"}));
  return def;
}

const OpDef& op_max() {
  static const OpDef def =
      extremum_op("max", "The largest value; NaN where there is one.", OrderKey{true},
                  op_rules(max_gradient(), MixedPrecision::kFollow, FakeQuantizationRule{fake_quantized_same},
                           reduce_layout_flow(), reduce_layout_rule(), AnchorRule{"reduce"}));
  return def;
}

const OpDef& op_min() {
  static const OpDef def =
      extremum_op("min", "The smallest value; NaN where there is one.", OrderKey{false},
                  op_rules(MixedPrecision::kFollow, FakeQuantizationRule{fake_quantized_same},
                           reduce_layout_flow(), reduce_layout_rule(), AnchorRule{"reduce"}));
  return def;
}

const OpDef& op_all() {
  static const OpDef def = fold_op("all", "Whether all elements hold.", one_of,
                                   [](const Halide::Expr& a, const Halide::Expr& b) { return a & b; },
                                   op_rules(reduce_layout_flow()),
                                   {"(4)bool, axis=[0]", "(2, 3, 4)bool, axis=[-1, 0], keepdims=True"});
  return def;
}

const OpDef& op_any() {
  static const OpDef def = fold_op("any", "Whether some element holds.", zero_of,
                                   [](const Halide::Expr& a, const Halide::Expr& b) { return a | b; }, {},
                                   {"(4)bool, axis=[0]", "(2, 3, 4)bool, axis=[-1, 0], keepdims=True"});
  return def;
}

const OpDef& op_mean() {
  static const OpDef def = OpSpec<ReduceAttrs>{
      .name = "mean",
      .doc = "The sum over the number of elements; of integers rounded toward zero.",
      .inputs = {{"data", "tensor of numbers"}},
      .fuse = Fuse::kCommReduce,
      .relation =
          [](RelationContext& ctx, const ReduceAttrs& a) {
            return reduce_relation(ctx, a.axis, a.exclude, a.keepdims, {});
          },
      .compute =
          [](Compute& c, const ReduceAttrs& a) {
            const Reduction r(c, a.axis, a.exclude, a.keepdims);
            const Halide::Type type = sum_type(c.out().dtype());
            const Halide::Func total =
                fold(c, r, "sum", type, zero_of,
                     [](const Halide::Expr& a, const Halide::Expr& b) { return a + b; });
            const Halide::Expr sum = total(r.i.reversed()), count = cast(type, as_expr(r.count));
            Halide::Func mean = c.stage("mean");
            mean(r.i.reversed()) = cast_to(c.out().dtype(), divide_toward_zero(sum, count));
            c.result(mean);
          },
      .python = "reduce",
      .rules = op_rules(mean_gradient(), MixedPrecision::kNever,
                        FakeQuantizationRule{fake_quantized_through_int32, /*without_end=*/false},
                        reduce_layout_flow(), reduce_layout_rule(), AnchorRule{"reduce"}),
      .test_shapes = {"(3, 4)f32", "(2, 3, 4)f32, axis=[-1], keepdims=True", "(3, 5)i32[-9, 9], axis=[0]"},
  };
  return def;
}

const OpDef& op_argmax() {
  static const OpDef def = OpSpec<ArgReduceAttrs>{
      .name = "argmax",
      .doc = "The position of the largest value, the first one of equals.",
      .inputs = {{"data", "tensor of numbers"}},
      .fuse = Fuse::kCommReduce,
      .relation =
          [](RelationContext& ctx, const ArgReduceAttrs& a) {
            return reduce_relation(ctx, a.axis, a.exclude, a.keepdims, DType::int_(32));
          },
      .compute = arg_compute<true>,
      .python = "reduce.argmax(data, axis=None, keepdims=False, exclude=False, select_last_index=False)",
      .rules = op_rules(MixedPrecision::kFollow, reduce_layout_flow(), OrderOnly{}, AnchorRule{"reduce"}),
      .test_shapes = {"(2, 3, 4)f32, axis=[1]", "(3, 4)i32[-9, 9], axis=[1], select_last_index=True",
                      "(1)f32, keepdims=True"},
  };
  return def;
}

const OpDef& op_argmin() {
  static const OpDef def = OpSpec<ArgReduceAttrs>{
      .name = "argmin",
      .doc = "The position of the smallest value, the first one of equals.",
      .inputs = {{"data", "tensor of numbers"}},
      .fuse = Fuse::kCommReduce,
      .relation =
          [](RelationContext& ctx, const ArgReduceAttrs& a) {
            return reduce_relation(ctx, a.axis, a.exclude, a.keepdims, DType::int_(32));
          },
      .compute = arg_compute<false>,
      .python = "reduce.argmin(data, axis=None, keepdims=False, exclude=False, select_last_index=False)",
      .rules = op_rules(MixedPrecision::kFollow, reduce_layout_flow(), OrderOnly{}, AnchorRule{"reduce"}),
      .test_shapes = {"(2, 3, 4)f32, axis=[0, 2]", "(3, 4)i32[-9, 9], axis=[1], select_last_index=True",
                      "(1)f32, keepdims=True"},
  };
  return def;
}

const OpDef& op_variance() {
  static const OpDef def = OpSpec<VarianceAttrs>{
      .name = "variance",
      .doc = "The mean squared distance from the mean.",
      .inputs = {{"data", "tensor"}, {"mean", "the mean, with the reduced axes of extent 1"}},
      .fuse = Fuse::kCommReduce,
      .relation =
          [](RelationContext& ctx, const VarianceAttrs& a) {
            const TensorTypeNode *data = ctx.tensor(0), *mean = ctx.tensor(1);
            if (!data || !mean) return kDefer;
            if (!check_broadcasts(ctx, *mean, data->shape(), 1, "a mean for each element")) return kFailed;
            return reduce_relation(ctx, a.axis, a.exclude, a.keepdims, DType());
          },
      .compute =
          [](Compute& c, const VarianceAttrs& a) {
            variance_compute(c, a.axis, a.exclude, a.keepdims, a.unbiased);
          },
      .rules =
          op_rules(variance_gradient(), MixedPrecision::kNever, variance_layout_flow(), AnchorRule{"reduce"}),
      .test_shapes = {"(3, 4)f32, (3, 4)f32, axis=[1]", "(3, 4)f32, (1, 1)f32, keepdims=True, unbiased=True"},
  };
  return def;
}

}  // namespace baton
