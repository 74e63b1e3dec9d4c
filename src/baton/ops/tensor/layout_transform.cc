#include <cctype>
#include <map>

#include "baton/ir/layout.h"
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/shared/reindex.h"

namespace baton {

struct LayoutTransformAttrs {
  std::string src_layout = {}, dst_layout = {};
};

template <>
const AttrSchema& attr_schema<LayoutTransformAttrs>() {
  using A = LayoutTransformAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.LayoutTransformAttrs",
                     {{"src_layout", &A::src_layout, "the layout of the data", kNoDefault},
                      {"dst_layout", &A::dst_layout, "the layout of the result", kNoDefault}});
  return schema;
}

struct AutoSchedulerLayoutTransformAttrs {
  std::string src_layout = {}, dst_layout = {};
};

struct MetaScheduleLayoutTransformAttrs {
  AttrValue index_map = {};
};

template <>
const AttrSchema& attr_schema<AutoSchedulerLayoutTransformAttrs>() {
  using A = AutoSchedulerLayoutTransformAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.AutoSchedulerLayoutTransformAttrs",
      {{"src_layout", &A::src_layout, "layout with the extent of each axis before its letter", kNoDefault},
       {"dst_layout", &A::dst_layout, "such a layout", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<MetaScheduleLayoutTransformAttrs>() {
  using A = MetaScheduleLayoutTransformAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.MetaScheduleLayoutTransformAttrs",
                     {{"index_map", &A::index_map, "where each index goes", kNoDefault}});
  return schema;
}

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
  // Where a split does not divide, the result has padding elements: zeros.
  const std::vector<Dim> reached = convert_shape(c.out().shape(), dst, src);
  Halide::Expr inside = Halide::Internal::const_true();
  for (int axis = 0; axis < src.rank(); ++axis) {
    const Dim extent = data.dim(axis);
    if (reached[axis] == extent) continue;
    if (!reached[axis].is_any() && !extent.is_any() && reached[axis].value() <= extent.value()) continue;
    inside = inside && from[axis] < as_expr(extent);
    from[axis] = min(from[axis], as_expr(extent - 1));
  }
  Halide::Func moved = c.stage("layout_transform");
  moved(i.reversed()) =
      is_const_one(inside) ? data(from) : select(inside, data(from), constant_of(data.dtype(), 0));
  c.result(moved);
}

// The numbers of "1N4h8w": the extents of the axes.
RelationStatus auto_scheduler_relation(RelationContext& ctx, const AutoSchedulerLayoutTransformAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  std::vector<Dim> shape;
  int64_t number = -1;
  for (const char c : attrs.dst_layout) {
    if (c >= '0' && c <= '9' && number < (int64_t{1} << 50)) {
      number = std::max<int64_t>(number, 0) * 10 + (c - '0');
    } else if (number > 0) {
      shape.push_back(number);
      number = -1;
    } else {
      return fail_attr(ctx, "dst_layout", "\"" + attrs.dst_layout + "\"",
                       "each axis needs its extent before its letter");
    }
  }
  if (shape.empty() || number >= 0)
    return fail_attr(ctx, "dst_layout", "\"" + attrs.dst_layout + "\"",
                     "each axis is an extent and a letter");
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

// "1N4C2c": the letters and extents of the axes, outermost first.
std::vector<std::pair<char, int64_t>> numbered_axes(const std::string& layout) {
  std::vector<std::pair<char, int64_t>> axes;
  int64_t number = 0;
  for (const char c : layout) {
    if (c >= '0' && c <= '9') {
      number = number * 10 + (c - '0');
    } else {
      axes.emplace_back(static_cast<char>(std::toupper(c)), number);
      number = 0;
    }
  }
  return axes;
}

// The parts of a letter are its digits, the outermost first: from those of the result to those of the data.
void auto_scheduler_compute(Compute& c, const AutoSchedulerLayoutTransformAttrs& attrs) {
  const auto from = numbered_axes(attrs.src_layout), to = numbered_axes(attrs.dst_layout);
  if (from.size() != static_cast<size_t>(c.in(0).rank()))
    throw NotSupported("src_layout \"" + attrs.src_layout + "\" has not the rank of the data");
  std::map<char, int64_t> left;  // of the digits of `from`
  for (const auto& [letter, extent] : from) left.emplace(letter, 1).first->second *= extent;
  reindex_compute(c, "layout_transform", [&](const Index& i) {
    std::map<char, Halide::Expr> position;
    for (size_t k = 0; k < to.size(); ++k) {
      Halide::Expr& at = position[to[k].first];
      at = at.defined() ? at * as_int(to[k].second) + i[k] : i[k];
    }
    Index at;
    for (size_t k = 0; k < from.size(); ++k) {
      const auto& [letter, extent] = from[k];
      if (!position.contains(letter))
        throw NotSupported("dst_layout \"" + attrs.dst_layout + "\" lacks an axis of src_layout");
      left[letter] /= extent;
      at.push_back(inside_axis(position[letter] / as_int(left[letter]) % as_int(extent),
                               c.in(0).dim(static_cast<int>(k))));
    }
    return at;
  });
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

const OpDef& op_auto_scheduler_layout_transform() {
  static const OpDef def = OpSpec<AutoSchedulerLayoutTransformAttrs>{
      .name = "auto_scheduler_layout_transform",
      .doc = "The data in a layout that a scheduler chose.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kInjective,
      .relation = auto_scheduler_relation,
      .compute = auto_scheduler_compute,
      .test_shapes = {"(1, 8)f32, src_layout=\"1N8c\", dst_layout=\"1N2C4c\""},
  };
  return def;
}

const OpDef& op_meta_schedule_layout_transform() {
  static const OpDef def = OpSpec<MetaScheduleLayoutTransformAttrs>{
      .name = "meta_schedule_layout_transform",
      .doc = "The data in a layout given as an index map, which only TVM has.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kInjective,
      .relation =
          [](RelationContext& ctx, const MetaScheduleLayoutTransformAttrs& a) {
            return ctx.tensor(0) ? fail_attr(ctx, "index_map", attr_text(a.index_map),
                                             "index maps of TIR are not known here")
                                 : kDefer;
          },
  };
  return def;
}

}  // namespace baton
