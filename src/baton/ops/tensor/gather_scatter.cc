// Gather and scatter operators.
#include <algorithm>
#include <optional>

#include "baton/ir/rules/read_rule.h"
#include "baton/ir/rules/shape_rule.h"
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/shared/reindex.h"

namespace baton {

struct GatherAttrs {
  std::optional<int64_t> axis = {};
};

struct GatherNDAttrs {
  int64_t batch_dims = 0;
  std::optional<int64_t> index_rank = {};
};

struct ScatterAttrs {
  int64_t axis = 0;
};

struct ScatterAddAttrs {
  int64_t axis = 0;
};

struct ScatterNDAttrs {
  std::string mode = {};
};

template <>
const AttrSchema& attr_schema<GatherAttrs>() {
  using A = GatherAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.GatherAttrs",
                     {{"axis", &A::axis, "the axis along which the indices count; it must be given"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<GatherNDAttrs>() {
  using A = GatherNDAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.GatherNDAttrs",
      {{"batch_dims", &A::batch_dims, "how many leading axes are batches"},
       {"index_rank", &A::index_rank, "how many axes an index counts along; None: what the indices say"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ScatterAttrs>() {
  using A = ScatterAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ScatterAttrs", {{"axis", &A::axis, "the axis along which the indices count", kBoxed}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ScatterAddAttrs>() {
  using A = ScatterAddAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ScatterAddAttrs", {{"axis", &A::axis, "the axis along which the indices count", kBoxed}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ScatterNDAttrs>() {
  using A = ScatterNDAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.ScatterNDAttrs", {{"mode", &A::mode, "update, add, min, ...", kNoDefault}});
  return schema;
}

namespace {

RelationStatus gather_relation(RelationContext& ctx, const GatherAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *indices = ctx.tensor(1);
  if (!data || !indices) return kDefer;
  if (!check_rank(ctx, *indices, data->rank(), 1) || !check_integers(ctx, *indices, 1)) return kFailed;
  if (!attrs.axis) return fail_attr(ctx, "axis", "None", "an axis is needed");
  const auto axis = checked_axis(ctx, *attrs.axis, data->rank());
  if (!axis) return kFailed;
  for (int k = 0; k < data->rank(); ++k) {
    const Dim a = data->shape()[k], b = indices->shape()[k];
    if (k != *axis && !may_equal(a, b))
      return fail_arg(
          ctx, 1,
          "axis " + std::to_string(k) + " is " + extent_text(b) + ", and of the data " + extent_text(a));
  }
  return ctx.assign_result(tensor_type(indices->shape(), data->dtype()));
}

RelationStatus gather_nd_relation(RelationContext& ctx, const GatherNDAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *indices = ctx.tensor(1);
  if (!data || !indices) return kDefer;
  if (indices->rank() < 1 || indices->shape()[0].is_any())
    return fail_arg(ctx, 1, "the first axis of the indices must be known, got " + type_text(ctx.input(1)));
  const int64_t counted = indices->shape()[0].value();
  if (attrs.batch_dims < 0 || attrs.batch_dims > data->rank() || counted < 0 ||
      counted > data->rank() - attrs.batch_dims)
    return fail_arg(ctx, 1,
                    "an index counts along " + std::to_string(counted) + " axes after " +
                        std::to_string(attrs.batch_dims) + " batch axes, and the data has " +
                        std::to_string(data->rank()));
  if (indices->rank() - 1 < attrs.batch_dims)
    return fail_arg(ctx, 1,
                    "indices with " + std::to_string(attrs.batch_dims) + " batch axes are needed, got " +
                        type_text(ctx.input(1)));
  for (int k = 0; k < attrs.batch_dims; ++k)
    if (!check_extent(ctx, *indices, k + 1, data->shape()[k], 1, "a batch axis of the data")) return kFailed;
  std::vector<Dim> shape(indices->shape().begin() + 1, indices->shape().end());
  shape.insert(shape.end(), data->shape().begin() + counted + attrs.batch_dims, data->shape().end());
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus scatter_relation(RelationContext& ctx, int64_t axis) {
  const TensorTypeNode *data = ctx.tensor(0), *indices = ctx.tensor(1), *updates = ctx.tensor(2);
  if (!data || !indices || !updates) return kDefer;
  if (!check_integers(ctx, *indices, 1) || !check_rank(ctx, *indices, data->rank(), 1) ||
      !check_rank(ctx, *updates, data->rank(), 2) || !checked_axis(ctx, axis, data->rank()) ||
      !check_shape(ctx, *updates, indices->shape(), 2, "an update for each index"))
    return kFailed;
  return identity_relation(ctx);
}

// indices (m, y...), updates (y..., rest of the data).
RelationStatus scatter_nd_relation(RelationContext& ctx, const ScatterNDAttrs&) {
  const TensorTypeNode *data = ctx.tensor(0), *indices = ctx.tensor(1), *updates = ctx.tensor(2);
  if (!data || !indices || !updates) return kDefer;
  if (!check_integers(ctx, *indices, 1)) return kFailed;
  if (indices->rank() < 1)
    return fail_arg(ctx, 1, "indices of rank >= 1 are needed, got " + type_text(ctx.input(1)));
  const Dim counted = indices->shape()[0];
  if (!counted.is_any() && (counted.value() < 0 || counted.value() > data->rank()))
    return fail_arg(ctx, 1,
                    "an index counts along " + std::to_string(counted.value()) + " axes, and the data has " +
                        std::to_string(data->rank()));
  if (updates->rank() < indices->rank() - 1)
    return fail_arg(ctx, 2,
                    "updates with the axes of the indices are needed, got " + type_text(ctx.input(2)));
  for (int k = 0; k + 1 < indices->rank(); ++k) {
    const Dim a = indices->shape()[k + 1], b = updates->shape()[k];
    if (may_equal(a, b)) continue;
    if (indices->rank() == 2 && !a.is_any() && !b.is_any() && b.value() > a.value())
      continue;  // rows without an index are not used
    return fail_arg(
        ctx, 2,
        "axis " + std::to_string(k) + " is " + extent_text(b) + ", and of the indices " + extent_text(a));
  }
  // After the axes of the indices, updates have those axes of the data that indices do not count along.
  if (!counted.is_any()) {
    const int own = indices->rank() - 1, rest = static_cast<int>(counted.value());
    if (!check_rank(ctx, *updates, own + data->rank() - rest, 2)) return kFailed;
    for (int k = rest; k < data->rank(); ++k)
      if (!check_extent(ctx, *updates, own + k - rest, data->shape()[k], 2, "updates of whole slices"))
        return kFailed;
  }
  return identity_relation(ctx);
}

// A tuple of the data and, for its first axes, tensors of indices, which are broadcast to one shape.
RelationStatus adv_index_relation(RelationContext& ctx, const NoAttrs&) {
  bool failed = false;
  const auto fields = tensor_fields(ctx, 0, &failed);
  if (fields.empty()) return failed ? kFailed : kDefer;
  const TensorTypeNode& data = *fields[0];
  const int counted = static_cast<int>(fields.size()) - 1;
  if (counted > data.rank())
    return fail_arg(ctx, 0,
                    std::to_string(counted) + " tensors of indices for data with " +
                        std::to_string(data.rank()) + " axes");
  std::vector<Dim> shape;
  for (int i = 1; i <= counted; ++i) {
    const auto both = broadcast_shapes(shape, fields[i]->shape());
    if (!both)
      return fail_arg(ctx, 0,
                      "the tensors of indices cannot be broadcast to one shape: " + type_text(ctx.input(0)));
    shape = *both;
  }
  shape.insert(shape.end(), data.shape().begin() + counted, data.shape().end());
  return ctx.assign_result(tensor_type(std::move(shape), data.dtype()));
}

RelationStatus argwhere_relation(RelationContext& ctx, const NoAttrs&) {
  const TensorTypeNode* condition = ctx.tensor(0);
  if (!condition) return kDefer;
  return ctx.assign_result(tensor_type(std::vector<Dim>{Dim::any(), condition->rank()}, DType::int_(32)));
}

// Indices out of range are clamped: kernels never read out of bounds.
Halide::Expr inside(const Halide::Expr& index, Dim extent) {
  return clamp(Halide::cast<int>(index), 0, as_expr(extent - 1));
}

void gather_compute(Compute& c, const GatherAttrs& attrs) {
  const Tensor& data = c.in(0);
  const int axis = static_cast<int>(*attrs.axis < 0 ? *attrs.axis + data.rank() : *attrs.axis);
  reindex_compute(c, "gather", [&](Index i) {
    i[axis] = inside(c.in(1)(i), data.dim(axis));
    c.needs_elements(data.dim(axis));
    return i;
  });
}

// Result axes: those of the indices but the first, then what is left of the data's.
void gather_nd_compute(Compute& c, const GatherNDAttrs& attrs) {
  const Tensor &data = c.in(0), &indices = c.in(1);
  const int batch = static_cast<int>(attrs.batch_dims), counted = static_cast<int>(indices.extent(0));
  reindex_compute(c, "gather_nd", [&](const Index& i) {
    Index at(i.begin(), i.begin() + batch), which(i.begin(), i.begin() + indices.rank() - 1);
    which.insert(which.begin(), Halide::Expr(0));
    for (int k = 0; k < counted; ++k) {
      which[0] = k;
      at.push_back(inside(indices(which), data.dim(batch + k)));
      c.needs_elements(data.dim(batch + k));
    }
    at.insert(at.end(), i.begin() + indices.rank() - 1, i.end());
    return at;
  });
}

void adv_index_compute(Compute& c, const NoAttrs&) {
  const Tensor& data = c.in(0);
  const int counted = c.num_inputs() - 1;
  reindex_compute(c, "adv_index", [&](const Index& i) {
    const auto rest = i.end() - (data.rank() - counted);
    const Index picked(i.begin(), rest);
    Index at;
    for (int k = 0; k < counted; ++k) {
      at.push_back(inside(broadcast_at(c.in(k + 1), picked), data.dim(k)));
      c.needs_elements(data.dim(k));
    }
    at.insert(at.end(), rest, i.end());
    return at;
  });
}

// Nonzero elements are numbered in order: the number is the row of the result for the element's index.
void argwhere_compute(Compute& c, const NoAttrs&) {
  const Tensor& condition = c.in(0);
  const int rank = condition.rank();
  int64_t count = 1;
  for (const int64_t extent : condition.shape()) count *= extent;
  const auto index_of = [&](Halide::Expr flat) {
    Index at(rank);
    for (int k = rank; k-- > 0; flat = flat / as_int(condition.extent(k)))
      at[k] = k == 0 ? flat : flat % as_int(condition.extent(k));
    return at;
  };
  const auto holds = [&](const Halide::Expr& flat) {
    const Halide::Expr value = condition(index_of(flat));
    return value != cast(value.type(), 0);
  };
  const Axes i(2);
  const Halide::Var flat("flat");
  Halide::Func row = c.stage("row"), found = c.stage("argwhere");
  const int rows = as_int(c.out().extents()[0]);
  row(flat) = select(holds(clamp(flat, 0, as_int(std::max<int64_t>(count, 1) - 1))), 1, 0);
  if (count > 1) {
    const Halide::RDom later(1, as_int(count - 1), "s");
    row(later) += row(later - 1);
  }
  found(i.reversed()) = cast_to(c.out().dtype(), 0);
  Halide::RDom all(0, as_int(count), "r");
  all.where(holds(all) && row(all) <= rows);
  const Index at = index_of(all);
  for (int k = 0; k < rank; ++k) found(k, inside_axis(row(all) - 1, rows)) = cast_to(c.out().dtype(), at[k]);
  c.result(found);
}

std::vector<std::vector<int64_t>> argwhere_shapes(const Attrs&, const std::vector<NDArray>& inputs) {
  const NDArray& condition = inputs[0];
  const size_t bytes = static_cast<size_t>(condition.dtype().bytes());
  const auto* data = static_cast<const unsigned char*>(condition.data());
  int64_t count = 0;
  for (int64_t k = 0; k < condition.size(); ++k, data += bytes) {
    bool any = false;
    for (size_t b = 0; b < bytes; ++b)
      any = any || (condition.dtype().is_float() && b + 1 == bytes ? (data[b] & 0x7f) : data[b]) !=
                       0;  // -0.0 is zero
    count += any;
  }
  return {{count, condition.ndim()}};
}

using Combine = Halide::Expr (*)(Halide::Expr old, Halide::Expr update);

bool fits(Dim part, Dim whole) {
  return part == whole || (!part.is_any() && !whole.is_any() && part.value() <= whole.value());
}

// The data with updates written in order. `at` is the position of update element i; positions out of bounds
// are skipped. `rows`, if given, limits the first axis of the updates.
template <class At>
void scatter_into(Compute& c, const char* name, const Tensor& data, const Tensor& updates, Combine combine,
                  At&& at, std::optional<Dim> rows = {}) {
  const Axes i(data.rank());
  std::vector<Dim> extents = updates.dims();
  if (rows && (rows->is_any() || extents.at(0).is_any() || rows->value() < extents.at(0).value()))
    extents.at(0) = *rows;
  Domain r(extents);
  Index to = at(r.exprs());
  Halide::Expr inside = Halide::Internal::const_true();
  for (int k = 0; k < data.rank(); ++k) {
    const Halide::Expr position = Halide::cast<int>(to[k]);
    if (position.as<Halide::Internal::Variable>() && updates.rank() == data.rank() &&
        fits(updates.dim(k), data.dim(k)))
      continue;
    const Halide::Expr from_start = select(position < 0, position + data.size(k), position);
    inside = inside && from_start >= 0 && from_start < data.size(k);
    to[k] = inside_axis(from_start, data.dim(k));
  }
  r.where(inside);
  Halide::Func out = c.stage(name);
  out(i.reversed()) = data(i.exprs());
  const Halide::Expr old = out(reversed(to));
  out(reversed(to)) = combine(old, cast(old.type(), updates(r.exprs())));
  c.result(out);
}

Halide::Expr take_update(Halide::Expr, Halide::Expr update) { return update; }

Halide::Expr add_update(Halide::Expr old, Halide::Expr update) { return old + update; }

void scatter_axis(Compute& c, const char* name, int64_t axis, Combine combine) {
  scatter_into(c, name, c.in(0), c.in(2), combine, [&](Index i) {
    i[from_front(axis, c.in(0).rank())] = c.in(1)(i);
    return i;
  });
}

void scatter_nd_compute(Compute& c, const ScatterNDAttrs& attrs) {
  Combine combine = nullptr;
  if (attrs.mode == "update")
    combine = take_update;
  else if (attrs.mode == "add")
    combine = add_update;
  else if (attrs.mode == "mul")
    combine = [](Halide::Expr a, Halide::Expr b) { return a * b; };
  else if (attrs.mode == "min")
    combine = [](Halide::Expr a, Halide::Expr b) { return ieee_minimum(a, b); };
  else if (attrs.mode == "max")
    combine = [](Halide::Expr a, Halide::Expr b) { return ieee_maximum(a, b); };
  else
    throw NotSupported("scatter_nd has no mode \"" + attrs.mode + "\"");
  const Tensor& indices = c.in(1);
  const auto place = [&](const Index& i) {
    Index which(i.begin(), i.begin() + indices.rank() - 1), at;
    which.insert(which.begin(), Halide::Expr(0));
    for (int k = 0; k < as_int(indices.extent(0)); ++k) {
      which[0] = k;
      at.push_back(indices(which));
    }
    at.insert(at.end(), i.begin() + indices.rank() - 1, i.end());
    return at;
  };
  const std::optional<Dim> rows = indices.rank() == 2 ? std::optional(indices.dim(1)) : std::nullopt;
  scatter_into(c, "scatter_nd", c.in(0), c.in(2), combine, place, rows);
}

GradientRule gather_nd_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const Expr &data = call->args()[0], &indices = call->args()[1];
    if (int_attr(*call, "batch_dims") != 0) refuse(*call, "with batch_dims is not provided yet");
    return Adjoints{op("scatter_nd", {zeros_like(data), indices, g}, {{"mode", std::string("add")}}),
                    zeros_like(indices)};
  }};
}

/// Each index says where a whole slice of the data is.
double gather_nd_reads(const CostQuery& q, size_t input, double results) {
  return input == 0 ? results : q.input_elements(input) * results / std::max(1.0, q.output_elements());
}

}  // namespace

const OpDef& op_gather() {
  static const OpDef def = OpSpec<GatherAttrs>{
      .name = "gather",
      .doc = "Elements picked along one axis.",
      .inputs = {{"data", "tensor"}, {"indices", "tensor of integers"}},
      .fuse = Fuse::kInjective,
      .relation = gather_relation,
      .compute = gather_compute,
      .test_shapes = {"(2, 2, 3)f32, (2, 2, 5)i32[0, 3], axis=-1"},
  };
  return def;
}

const OpDef& op_gather_nd() {
  static const OpDef def = OpSpec<GatherNDAttrs>{
      .name = "gather_nd",
      .doc = "Slices picked by indices along the first axes; an index is a column of `indices`.",
      .inputs = {{"data", "tensor"}, {"indices", "tensor of integers"}},
      .fuse = Fuse::kInjective,
      .relation = gather_nd_relation,
      .compute = gather_nd_compute,
      .python = "transform",
      .rules = op_rules(ReadRule{gather_nd_reads}, gather_nd_gradient()),
      .test_shapes = {"(4, 3)f32, (2, 3)i32{0, 1, 3, 2, 0, 1}",
                      "(2, 4, 3)f32, (1, 2, 5)i32[0, 4], batch_dims=1"},
  };
  return def;
}

const OpDef& op_scatter() {
  static const OpDef def = OpSpec<ScatterAttrs>{
      .name = "scatter",
      .doc = "The data with updates written along one axis.",
      .inputs = {{"data", "tensor"}, {"indices", "tensor of integers"}, {"updates", "tensor"}},
      .relation = [](RelationContext& ctx,
                     const ScatterAttrs& attrs) { return scatter_relation(ctx, attrs.axis); },
      .compute = [](Compute& c,
                    const ScatterAttrs& attrs) { scatter_axis(c, "scatter", attrs.axis, take_update); },
      .declares_attrs = false,
      .python = "transform.scatter(data, indices, updates, axis)",
      .rules = op_rules(MixedPrecision::kFollow),
      .test_shapes = {"(5)f32, (2)i64{1, -1}, (2)f32, axis=-1",
                      "(3, 4)f32, (2, 4)i64[0, 3], (2, 4)f32, axis=0"},
  };
  return def;
}

const OpDef& op_scatter_add() {
  static const OpDef def = OpSpec<ScatterAddAttrs>{
      .name = "scatter_add",
      .doc = "The data with updates added along one axis.",
      .inputs = {{"data", "tensor"}, {"indices", "tensor of integers"}, {"updates", "tensor"}},
      .relation = [](RelationContext& ctx,
                     const ScatterAddAttrs& attrs) { return scatter_relation(ctx, attrs.axis); },
      .compute = [](Compute& c,
                    const ScatterAddAttrs& attrs) { scatter_axis(c, "scatter_add", attrs.axis, add_update); },
      .declares_attrs = false,
      .python = "transform.scatter_add(data, indices, updates, axis)",
      .test_shapes = {"(5)f32, (2)i64{1, -1}, (2)f32, axis=-1",
                      "(3, 4)f32, (2, 4)i64[0, 3], (2, 4)f32, axis=0"},
  };
  return def;
}

const OpDef& op_scatter_nd() {
  static const OpDef def = OpSpec<ScatterNDAttrs>{
      .name = "scatter_nd",
      .doc = "The data with slices written or added where the columns of `indices` say.",
      .inputs = {{"data", "tensor"}, {"indices", "tensor of integers"}, {"updates", "tensor"}},
      .relation = scatter_nd_relation,
      .compute = scatter_nd_compute,
      .declares_attrs = false,
      .python = "transform.scatter_nd(data, indices, updates, mode='update')",
      .test_shapes = {"(4, 3)f32, (2, 3)i64{0, 1, 3, 2, 0, 1}, (3)f32, mode=add",
                      "(4, 3)f32, (1, 2)i64{2, 0}, (2, 3)f32, mode=update",
                      "(4, 3)f32, (1, 2)i64{2, 2}, (5, 3)f32, mode=add"},
  };
  return def;
}

const OpDef& op_adv_index() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "adv_index",
      .doc = "Elements picked as numpy does with arrays of indices.",
      .inputs = {{"inputs", "tuple: the data, then indices"}},
      .fuse = Fuse::kInjective,
      .relation = adv_index_relation,
      .compute = adv_index_compute,
      .test_shapes = {"[(3, 4)f32, (3)i64{0, 2, 2}]", "[(3, 4)f32, (2, 1)i64{0, 2}, (3)i64{1, 3, 0}]"},
  };
  return def;
}

const OpDef& op_argwhere() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "argwhere",
      .doc = "The indices of the elements that are not zero.",
      .inputs = {{"condition", "tensor"}},
      .relation = argwhere_relation,
      .compute = argwhere_compute,
      .data_dependent = true,
      .python = "transform",
      .rules = op_rules(ShapeRule{argwhere_shapes}, MixedPrecision::kFollow),
      .test_shapes = {"(2, 3)i32{1, 0, 2, 0, 0, 3}"},
  };
  return def;
}

}  // namespace baton
