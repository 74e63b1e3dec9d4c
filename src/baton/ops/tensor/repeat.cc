// Operators that repeat, tile and slice tensors.
#include <algorithm>
#include <cmath>

#include "baton/ir/attr_objects.h"
#include "baton/ir/rules/layout_flow_rules.h"
#include "baton/ir/rules/read_rule.h"
#include "baton/ir/rules/shape_rule.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/shared/reindex.h"
#include "baton/ops/tensor/dynamic_forms.h"

namespace baton {

struct RepeatAttrs {
  int64_t repeats = 1;
  std::optional<int64_t> axis = {};
};

struct SliceLikeAttrs {
  std::optional<Ints> axes = {};
};

struct SlidingWindowAttrs {
  int64_t axis = 0;
  Ints window_shape = {}, strides = {};
};

struct MeshgridAttrs {
  std::string indexing = "ij";
};

struct ArangeAttrs {
  AttrValue start = {}, stop = {}, step = {};
  DType dtype = {};
};

struct ReverseAttrs {
  std::optional<int64_t> axis = {};
};

struct ReverseSequenceAttrs {
  int64_t seq_axis = 1;
  int64_t batch_axis = 0;
};

template <>
const AttrSchema& attr_schema<RepeatAttrs>() {
  using A = RepeatAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.RepeatAttrs",
                     {{"repeats", &A::repeats, "how often each element stands", kNoDefault},
                      {"axis", &A::axis, "the axis along which elements are repeated; None: the first"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<TileAttrs>() {
  using A = TileAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.TileAttrs",
      {{"reps", &A::reps, "how often the data stands along each axis, aligned at the right", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<OneHotAttrs>() {
  using A = OneHotAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.OneHotAttrs", {{"depth", &A::depth, "extent of the new axis"},
                                                 {"axis", &A::axis, "where the new axis stands; -1: last"},
                                                 {"dtype", &A::dtype, "element type of the result"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<SliceLikeAttrs>() {
  using A = SliceLikeAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.SliceLikeAttrs", {{"axes", &A::axes, "the axes that are cut; None: all", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<SlidingWindowAttrs>() {
  using A = SlidingWindowAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.SlidingWindowAttrs",
                     {{"axis", &A::axis, "the first axis that the window moves along", kNoDefault},
                      {"window_shape", &A::window_shape, "extents of the window", kNoDefault},
                      {"strides", &A::strides, "steps of the window", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<MeshgridAttrs>() {
  using A = MeshgridAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.MeshgridAttrs",
                     {{"indexing", &A::indexing, "ij: as matrices; xy: the first two axes exchanged"}});
  return schema;
}

// A bound is an expression; a plain number stands for a constant.
bool set_bound(void* member, const AttrValue& value) {
  AttrValue& bound = *static_cast<AttrValue*>(member);
  if (const int64_t* number = value.as<int64_t>()) {
    bound = expr_attr(scalar(static_cast<double>(*number), DType::int_(32)));
    return true;
  }
  bound = value;
  return value.is_none() || value.object<ExprAttr>();
}

template <>
const AttrSchema& attr_schema<ArangeAttrs>() {
  using A = ArangeAttrs;
  static const AttrSchema schema = [] {
    AttrSchema made = make_schema<A>("relay.attrs.ArangeAttrs",
                                     {{"start", &A::start, "first value", kNoDefault},
                                      {"stop", &A::stop, "the values stay before it", kNoDefault},
                                      {"step", &A::step, "distance", kNoDefault},
                                      {"dtype", &A::dtype, "element type of the result", kNoDefault}});
    static const AttrType bound = [] {
      AttrType type = attr_type<AttrValue>();
      type.set = set_bound;
      return type;
    }();
    for (size_t i : {0, 1, 2}) made.fields[i].type = &bound;
    return made;
  }();
  return schema;
}

template <>
const AttrSchema& attr_schema<ReverseAttrs>() {
  using A = ReverseAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ReverseAttrs", {{"axis", &A::axis, "the axis that is turned round; it must be given"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ReverseSequenceAttrs>() {
  using A = ReverseSequenceAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ReverseSequenceAttrs", {{"seq_axis", &A::seq_axis, "the axis that is turned round"},
                                           {"batch_axis", &A::batch_axis, "the axis of the sequences"}});
  return schema;
}

RelationStatus one_hot_result(RelationContext& ctx, const OneHotAttrs& attrs, Dim depth) {
  const TensorTypeNode* indices = ctx.tensor(0);
  const auto axis = checked_axis(ctx, attrs.axis, indices->rank() + 1);
  if (!axis) return kFailed;
  if (!check_integers(ctx, *indices, 0)) return kFailed;
  const TensorTypeNode* on = ctx.tensor(1);
  if (attrs.dtype.is_void() && !on) return kDefer;
  std::vector<Dim> shape = indices->shape();
  shape.insert(shape.begin() + *axis, depth);
  return ctx.assign_result(tensor_type(std::move(shape), attrs.dtype.is_void() ? on->dtype() : attrs.dtype));
}

namespace {

RelationStatus one_hot_relation(RelationContext& ctx, const OneHotAttrs& attrs) {
  if (!ctx.tensor(0)) return kDefer;
  if (!check_least(ctx, "depth", {&attrs.depth, 1}, 1)) return kFailed;
  return one_hot_result(ctx, attrs, attrs.depth);
}

RelationStatus repeat_relation(RelationContext& ctx, const RepeatAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!check_least(ctx, "repeats", {&attrs.repeats, 1}, 1)) return kFailed;
  const auto axis = checked_axis(ctx, attrs.axis.value_or(0), data->rank());
  if (!axis) return kFailed;
  std::vector<Dim> shape = data->shape();
  shape[*axis] = times(shape[*axis], attrs.repeats);
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus tile_relation(RelationContext& ctx, const TileAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (attrs.reps.empty()) return fail_attr(ctx, "reps", "[]", "a number for at least one axis is needed");
  if (!check_least(ctx, "reps", attrs.reps, 1)) return kFailed;
  std::vector<Dim> shape = data->shape();
  if (attrs.reps.size() > shape.size()) shape.insert(shape.begin(), attrs.reps.size() - shape.size(), Dim(1));
  const size_t lead = shape.size() - attrs.reps.size();
  for (size_t k = 0; k < attrs.reps.size(); ++k) shape[lead + k] = times(shape[lead + k], attrs.reps[k]);
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus slice_like_relation(RelationContext& ctx, const SliceLikeAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *like = ctx.tensor(1);
  if (!data || !like) return kDefer;
  std::vector<Dim> shape = data->shape();
  std::vector<int> axes;
  if (attrs.axes && !attrs.axes->empty()) {
    for (const int64_t each : *attrs.axes) {
      const auto axis = checked_axis(ctx, each, data->rank());
      if (!axis) return kFailed;
      if (*axis >= like->rank())
        return fail_arg(ctx, 1, "it has no axis " + std::to_string(*axis) + ": " + type_text(ctx.input(1)));
      axes.push_back(*axis);
    }
  } else {
    if (like->rank() > data->rank())
      return fail_arg(ctx, 1, "it has more axes than the data: " + type_text(ctx.input(1)));
    for (int k = 0; k < like->rank(); ++k) axes.push_back(k);
  }
  for (const int k : axes) {
    const Dim wanted = like->shape()[k];
    if (!wanted.is_any() && !shape[k].is_any() && wanted.value() > shape[k].value())
      return fail_arg(ctx, 0,
                      "axis " + std::to_string(k) + " has " + std::to_string(shape[k].value()) +
                          " elements, fewer than " + std::to_string(wanted.value()));
    shape[k] = wanted;
  }
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus sliding_window_relation(RelationContext& ctx, const SlidingWindowAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto axis = checked_axis(ctx, attrs.axis, data->rank());
  if (!axis) return kFailed;
  const size_t windows = attrs.window_shape.size();
  if (static_cast<size_t>(data->rank() - *axis) != windows)
    return fail_attr(ctx, "window_shape", attr_text(AttrValue(attrs.window_shape)),
                     "the data has " + std::to_string(data->rank() - *axis) + " axes from axis " +
                         std::to_string(*axis) + " on");
  if (!check_count(ctx, "strides", attrs.strides, windows) ||
      !check_least(ctx, "strides", attrs.strides, 1) ||
      !check_least(ctx, "window_shape", attrs.window_shape, 1))
    return kFailed;
  std::vector<Dim> shape(data->shape().begin(), data->shape().begin() + *axis);
  for (size_t k = 0; k < windows; ++k) {
    const Dim extent = data->shape()[*axis + k];
    if (!extent.is_any() && extent.value() < attrs.window_shape[k])
      return fail_arg(ctx, 0,
                      "the window of " + std::to_string(attrs.window_shape[k]) + " does not fit into " +
                          type_text(ctx.input(0)));
    shape.push_back(extent.is_any() ? floor_div(extent - attrs.window_shape[k], attrs.strides[k]) + 1
                                    : Dim((extent.value() - attrs.window_shape[k]) / attrs.strides[k] + 1));
  }
  for (const int64_t extent : attrs.window_shape) shape.push_back(extent);
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus meshgrid_relation(RelationContext& ctx, const MeshgridAttrs& attrs) {
  bool failed = false;
  const auto fields = tensor_fields(ctx, 0, &failed);
  if (fields.empty()) return failed ? kFailed : kDefer;
  if (attrs.indexing != "ij" && attrs.indexing != "xy")
    return fail_attr(ctx, "indexing", "\"" + attrs.indexing + "\"", "it must be \"ij\" or \"xy\"");
  std::vector<Dim> shape;
  for (const TensorTypeNode* field : fields) {
    if (field->rank() > 1 || field->dtype() != fields[0]->dtype())
      return fail_arg(ctx, 0,
                      "vectors or scalars of one element type are needed, got " + type_text(ctx.input(0)));
    shape.push_back(field->rank() == 1 ? field->shape()[0] : Dim(1));
  }
  if (attrs.indexing == "xy" && shape.size() > 1) std::swap(shape[0], shape[1]);
  return ctx.assign_result(
      tuple_type(std::vector<Type>(fields.size(), tensor_type(shape, fields[0]->dtype()))));
}

// The value of argument `index`, or of the attribute with the same expression.
std::optional<double> bound(RelationContext& ctx, size_t index, const AttrValue& attr) {
  if (const auto value = scalar_value(ctx.arg(index))) return value;
  const auto* object = attr.object<ExprAttr>();
  return object ? scalar_value(object->expr()) : std::nullopt;
}

RelationStatus arange_relation(RelationContext& ctx, const ArangeAttrs& attrs) {
  if (attrs.dtype.is_void()) return fail_attr(ctx, "dtype", "\"\"", "an element type is needed");
  const Type scalar = scalar_type(attrs.dtype);
  for (size_t i = 0; i < 3; ++i)
    if (ctx.assign(i, scalar) == kFailed) return kFailed;
  const auto start = bound(ctx, 0, attrs.start), stop = bound(ctx, 1, attrs.stop),
             step = bound(ctx, 2, attrs.step);
  if (!start || !stop || !step)
    return ctx.assign_result(tensor_type(std::vector<Dim>{Dim::any()}, attrs.dtype));
  if (*step == 0) return fail_arg(ctx, 2, "the step is 0");
  const double count = std::ceil((*stop - *start) / *step);
  if (!(count > 0 && count < 9e15)) return fail_arg(ctx, 1, "there is no value from the start to the stop");
  return ctx.assign_result(tensor_type(std::vector<Dim>{static_cast<int64_t>(count)}, attrs.dtype));
}

RelationStatus reverse_relation(RelationContext& ctx, const ReverseAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!attrs.axis) return fail_attr(ctx, "axis", "None", "an axis is needed");
  return checked_axis(ctx, *attrs.axis, data->rank()) ? identity_relation(ctx) : kFailed;
}

RelationStatus reverse_sequence_relation(RelationContext& ctx, const ReverseSequenceAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *lengths = ctx.tensor(1);
  if (!data || !lengths) return kDefer;
  const auto batch = checked_axis(ctx, attrs.batch_axis, data->rank());
  if (!batch || !checked_axis(ctx, attrs.seq_axis, data->rank()) || !check_rank(ctx, *lengths, 1, 1))
    return kFailed;
  const Dim a = data->shape()[*batch], b = lengths->shape()[0];
  if (!may_equal(a, b))
    return fail_arg(ctx, 1, extent_text(b) + " lengths for " + extent_text(a) + " sequences");
  return identity_relation(ctx);
}

// A negative axis counts from the back; relations have checked it.
int place(int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }

void repeat_compute(Compute& c, const RepeatAttrs& attrs) {
  const int axis = place(attrs.axis.value_or(0), c.in(0).rank());
  reindex_compute(c, "repeat", [&](Index i) {
    i[axis] = i[axis] / as_int(attrs.repeats);
    return i;
  });
}

void tile_compute(Compute& c, const TileAttrs&) {
  const Tensor& data = c.in(0);
  reindex_compute(c, "tile", [&](const Index& i) {
    Index at(i.end() - data.rank(), i.end());
    for (int k = 0; k < data.rank(); ++k) at[k] = at[k] % data.size(k);
    return at;
  });
}

void slice_like_compute(Compute& c, const SliceLikeAttrs&) {
  // Which extents are longer than those of the result is not known of symbolic ones.
  reindex_compute(c, "slice_like", [&](Index i) {
    for (int k = 0; k < c.in(0).rank(); ++k) {
      const Dim from = c.in(0).dim(k), to = c.out().shape()[static_cast<size_t>(k)];
      if (from != to && (from.is_symbolic() || to.is_symbolic()))
        i[k] = clamp(likely(i[k]), 0, as_expr(from - 1)), c.needs_elements(from);
    }
    return i;
  });
}

void sliding_window_compute(Compute& c, const SlidingWindowAttrs& attrs) {
  const int axis = place(attrs.axis, c.in(0).rank()), windows = static_cast<int>(attrs.window_shape.size());
  reindex_compute(c, "sliding_window", [&](const Index& i) {
    Index at(i.begin(), i.begin() + axis);
    for (int k = 0; k < windows; ++k)
      at.push_back(i[axis + k] * as_int(attrs.strides[k]) + i[axis + windows + k]);
    return at;
  });
}

void meshgrid_compute(Compute& c, const MeshgridAttrs& attrs) {
  const Axes i(c.out().rank());
  std::vector<Halide::Func> grids;
  for (int k = 0; k < c.num_inputs(); ++k) {
    const int axis = attrs.indexing == "xy" && c.num_inputs() > 1 && k < 2 ? 1 - k : k;
    Halide::Func grid = c.stage("grid" + std::to_string(k));
    grid(i.reversed()) = c.in(k)(c.in(k).rank() == 1 ? Index{i[axis]} : Index{});
    grids.push_back(grid);
  }
  c.results(std::move(grids));
}

// As many values as the bounds of a run ask for.
std::vector<std::vector<int64_t>> arange_shapes(const Attrs&, const std::vector<NDArray>& inputs) {
  std::vector<double> bounds;
  for (const NDArray& each : inputs) {
    const auto value = scalar_value(Expr(make_constant(each, NodeInfo(OriginSet::none()))));
    if (!value) throw NotSupported("`arange` of bounds of " + each.dtype().str());
    bounds.push_back(*value);
  }
  const double count = std::ceil((bounds[1] - bounds[0]) / bounds[2]);
  if (!(count < 9e15)) throw NotSupported("`arange` with a step of " + std::to_string(bounds[2]));
  return {{std::max<int64_t>(static_cast<int64_t>(count), 0)}};
}

void arange_compute(Compute& c, const ArangeAttrs&) {
  const Axes i(1);
  Halide::Func values = c.stage("arange");
  values(i.reversed()) = c.in(0)(Index{}) + cast_to(c.out().dtype(), i[0]) * c.in(2)(Index{});
  c.result(values);
}

void reverse_compute(Compute& c, const ReverseAttrs& attrs) {
  const int axis = place(*attrs.axis, c.in(0).rank());
  reindex_compute(c, "reverse", [&](Index i) {
    // Clamped, as Halide cannot guard a vector that is read backwards.
    i[axis] = inside_axis(as_expr(c.in(0).dim(axis) - 1) - i[axis], c.in(0).dim(axis));
    return i;
  });
}

void reverse_sequence_compute(Compute& c, const ReverseSequenceAttrs& attrs) {
  const Tensor& data = c.in(0);
  const int axis = place(attrs.seq_axis, data.rank()), batch = place(attrs.batch_axis, data.rank());
  reindex_compute(c, "reverse_sequence", [&](Index i) {
    // A length above the extent means the whole sequence.
    const Halide::Expr given = Halide::cast<int64_t>(c.in(1)(Index{i[batch]}));
    const Halide::Expr extent = Halide::cast<int64_t>(data.size(axis));
    const Halide::Expr length = Halide::cast<int>(clamp(given, Halide::cast<int64_t>(0), extent));
    i[axis] = inside_axis(select(i[axis] < length, length - 1 - i[axis], i[axis]), data.dim(axis));
    return i;
  });
}

}  // namespace

void one_hot_compute(Compute& c, const OneHotAttrs& attrs) {
  const Axes i(c.out().rank());
  const int axis = place(attrs.axis, i.rank());
  Index at = i.exprs();
  at.erase(at.begin() + axis);
  const Halide::Expr hot = Halide::cast<int64_t>(c.in(0)(at)) == Halide::cast<int64_t>(i[axis]);
  Halide::Func filled = c.stage("one_hot");
  filled(i.reversed()) =
      select(hot, cast_to(c.out().dtype(), c.in(1)(Index{})), cast_to(c.out().dtype(), c.in(2)(Index{})));
  c.result(filled);
}

namespace {

GradientRule one_hot_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const Expr &indices = call->args()[0], &on = call->args()[1], &off = call->args()[2];
    const Expr zero = zeros_like(g), is_on = op("equal", {Expr(call), on});
    return Adjoints{zeros_like(indices), op("cast_like", {op("sum", {op("where", {is_on, g, zero})}), on}),
                    op("cast_like", {op("sum", {op("where", {is_on, zero, g})}), off})};
  }};
}

// y[i] = start + i * step
GradientRule arange_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const Expr &start = call->args()[0], &stop = call->args()[1], &step = call->args()[2];
    const DType index = DType::int_(32);
    const Expr length =
        op("take", {op("shape_of", {Expr(call)}), Expr(scalar(0, index))}, {{"axis", int64_t{0}}});
    const Expr numbers =
        op("arange", {Expr(scalar(0, index)), length, Expr(scalar(1, index))}, {{"dtype", index}});
    const Expr weighted = mul(op("cast_like", {numbers, g}), g);
    return Adjoints{op("cast_like", {op("sum", {g}), start}), zeros_like(stop),
                    op("cast_like", {op("sum", {weighted}), step})};
  }};
}

}  // namespace

const OpDef& op_repeat() {
  static const OpDef def = OpSpec<RepeatAttrs>{
      .name = "repeat",
      .doc = "Each element several times along an axis.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kBroadcast,
      .relation = repeat_relation,
      .compute = repeat_compute,
      .python = "transform.repeat(data, repeats, axis)",
      .test_shapes = {"(2, 3)f32, repeats=2, axis=-1"},
  };
  return def;
}

const OpDef& op_tile() {
  static const OpDef def = OpSpec<TileAttrs>{
      .name = "tile",
      .doc = "The data several times along each axis.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kBroadcast,
      .relation = tile_relation,
      .compute = tile_compute,
      .rules = op_rules(MixedPrecision::kFollow),
      .test_shapes = {"()f32, reps=[3]", "(2, 3)f32, reps=[2]"},
  };
  return def;
}

const OpDef& op_one_hot() {
  static const OpDef def = OpSpec<OneHotAttrs>{
      .name = "one_hot",
      .doc = "on_value where the new axis counts to the index, off_value elsewhere.",
      .inputs = {{"indices", "tensor of integers"}, {"on_value", "scalar"}, {"off_value", "scalar"}},
      .fuse = Fuse::kOutFusable,
      .relation = one_hot_relation,
      .compute = one_hot_compute,
      .rules = op_rules(one_hot_gradient()),
      .test_shapes = {"(2, 2)i32[0, 3], ()i32={1}, ()i32={0}, depth=3, dtype=int32",
                      "(3)i32[0, 3], ()f32={1}, ()f32={0}, depth=4, dtype=float32"},
  };
  return def;
}

const OpDef& op_slice_like() {
  static const OpDef def = OpSpec<SliceLikeAttrs>{
      .name = "slice_like",
      .doc = "The data cut to the extents of another tensor.",
      .inputs = {{"data", "tensor"}, {"shape_like", "tensor that gives the extents"}},
      .fuse = Fuse::kInjective,
      .relation = slice_like_relation,
      .compute = slice_like_compute,
      .python = "transform.slice_like(data, shape_like, axes=None)",
      .rules = op_rules(TypeOnlyInput{1}, slice_like_layout_flow()),
      .test_shapes = {"(4, 5)f32, (2, 3)f32, axes=[1]"},
  };
  return def;
}

const OpDef& op_sliding_window() {
  static const OpDef def = OpSpec<SlidingWindowAttrs>{
      .name = "sliding_window",
      .doc = "All windows of the data, as new axes.",
      .inputs = {{"data", "tensor"}},
      .relation = sliding_window_relation,
      .compute = sliding_window_compute,
      .python = "transform",
      .rules = op_rules(reads_by_result()),
      .test_shapes = {"(2, 4, 7)f32, axis=1, window_shape=[2, 3], strides=[1, 2]"},
  };
  return def;
}

const OpDef& op_meshgrid() {
  static const OpDef def = OpSpec<MeshgridAttrs>{
      .name = "meshgrid",
      .doc = "Each vector laid out along its own axis of a grid.",
      .inputs = {{"data", "tuple of vectors and scalars"}},
      .fuse = Fuse::kInjective,
      .relation = meshgrid_relation,
      .compute = meshgrid_compute,
      .python = "transform",
      .rules = op_rules(ResultCount{.of = [](const CallNode& call) -> std::optional<int64_t> {
        const auto* given = as<TupleNode>(call.args()[0]);
        if (!given)
          throw UsageError(
              "meshgrid: it cannot be seen how many results there are: the data is no tuple or list");
        return static_cast<int64_t>(given->fields().size());
      }}),
      .test_shapes = {"[(3)f32, (2)f32], indexing=xy", "[(3)f32, (1)f32, (4)f32], indexing=ij"},
  };
  return def;
}

const OpDef& op_arange() {
  static const OpDef def = OpSpec<ArangeAttrs>{
      .name = "arange",
      .doc = "Values at equal distances.",
      .inputs = {{"start", "scalar"}, {"end", "scalar"}, {"step", "scalar"}},
      .relation = arange_relation,
      .compute = arange_compute,
      .data_dependent = true,
      .rules = op_rules(arange_gradient(), ShapeRule{arange_shapes}, MixedPrecision::kNever),
      .test_shapes =
          {"()i32={1}, ()i32={10}, ()i32={3}, start=()i32{1}, stop=()i32{10}, step=()i32{3}, dtype=int32",
           "()f32={0}, ()f32={1}, ()f32={0.25}, start=()f32{0}, stop=()f32{1}, step=()f32{0.25}, "
           "dtype=float32"},
  };
  return def;
}

const OpDef& op_reverse() {
  static const OpDef def = OpSpec<ReverseAttrs>{
      .name = "reverse",
      .doc = "The data turned round along an axis.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kInjective,
      .relation = reverse_relation,
      .compute = reverse_compute,
      .python = "transform.reverse(data, axis)",
      .test_shapes = {"(4)f32, axis=0"},
  };
  return def;
}

const OpDef& op_reverse_sequence() {
  static const OpDef def = OpSpec<ReverseSequenceAttrs>{
      .name = "reverse_sequence",
      .doc =
          "The beginning of each sequence turned round; a length above the extent means the whole sequence.",
      .inputs = {{"data", "tensor"}, {"seq_lengths", "vector: how many elements of each sequence"}},
      .fuse = Fuse::kInjective,
      .relation = reverse_sequence_relation,
      .compute = reverse_sequence_compute,
      .python = "transform",
      .test_shapes = {"(4, 3)f32, (3)i32{1, 3, 2}, seq_axis=0, batch_axis=1",
                      "(4, 3)f32, (3)i32{5, 0, -1}, seq_axis=0, batch_axis=1"},
  };
  return def;
}

}  // namespace baton
