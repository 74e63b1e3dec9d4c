// Operators that join tensors, and split.

#include "baton/ir/inspect.h"
#include "baton/ir/rules/layout_flow_rules.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ir/rules/read_rule.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/rules/layout_rules.h"
#include "baton/ops/shared/spatial.h"
#include "baton/ops/tensor/tensor_attrs.h"
#include "baton/ops/tensor/tensor_relations.h"

namespace baton {

struct SplitAttrs {
  AttrValue indices_or_sections =
      {};  ///< a number of equal parts, or the ascending positions where parts begin
  int64_t axis = 0;
};

struct StackAttrs {
  int64_t axis = 0;
};

template <>
const AttrSchema& attr_schema<SplitAttrs>() {
  using A = SplitAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.SplitAttrs",
      {{"indices_or_sections", &A::indices_or_sections,
        "how many equal parts, or the ascending positions where the second and later parts begin",
        kNoDefault},
       {"axis", &A::axis, "the axis that is split"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ConcatenateAttrs>() {
  using A = ConcatenateAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ConcatenateAttrs", {{"axis", &A::axis, "the axis along which the tensors are joined"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<StackAttrs>() {
  using A = StackAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.StackAttrs", {{"axis", &A::axis, "where the new axis goes"}});
  return schema;
}

RelationStatus concatenate_relation(RelationContext& ctx, const ConcatenateAttrs& attrs) {
  bool failed = false;
  const auto fields = tensor_fields(ctx, 0, &failed);
  if (fields.empty()) return failed ? kFailed : kDefer;
  const int rank = fields[0]->rank();
  if (attrs.axis < -rank || attrs.axis >= rank)
    return fail_attr(ctx, "axis", std::to_string(attrs.axis),
                     "it must lie in " + std::to_string(-rank) + ".." + std::to_string(rank - 1));
  const int axis = static_cast<int>(attrs.axis < 0 ? attrs.axis + rank : attrs.axis);
  for (size_t i = 1; i < fields.size(); ++i) {
    if (fields[i]->rank() != rank)
      return fail_arg(ctx, 0,
                      "the tensors to join have " + std::to_string(rank) + " and " +
                          std::to_string(fields[i]->rank()) + " axes");
    if (fields[i]->dtype() != fields[0]->dtype())
      return fail_arg(ctx, 0,
                      "the tensors to join have element types " + fields[0]->dtype().str() + " and " +
                          fields[i]->dtype().str());
  }
  Dim joined = 0;
  for (const auto* field : fields) joined = joined + field->shape()[axis];
  std::vector<Dim> shape = fields[0]->shape();
  for (int k = 0; k < rank; ++k) {
    if (k == axis) continue;
    bool any = false;
    std::optional<Dim> known;
    for (const auto* field : fields) {
      const Dim dim = field->shape()[k];
      if (dim.is_any() && !dim.is_symbolic())
        any = true;
      else if (!known)
        known = dim;
      else if (!may_equal(*known, dim))
        return fail_arg(ctx, 0,
                        "the tensors to join have " + extent_text(*known) + " and " + extent_text(dim) +
                            " elements along axis " + std::to_string(k) + ", and only axis " +
                            std::to_string(axis) + " may differ");
    }
    // As in Relay: next to a `?`, a known extent is used only when the joined axis is `?` as well.
    shape[k] = known && (!any || joined == Dim::any()) ? *known : Dim::any();
  }
  shape[axis] = joined;
  return ctx.assign_result(tensor_type(std::move(shape), fields[0]->dtype()));
}

namespace {

void concatenate_compute(Compute& c, const ConcatenateAttrs& attrs) {
  const Axes i(c.out().rank());
  const int axis = static_cast<int>(attrs.axis < 0 ? attrs.axis + i.rank() : attrs.axis);
  // Each element comes from the last input that begins at or before it; indices are clamped where another one
  // counts.
  Halide::Expr value;
  Dim begin = 0;
  for (int k = 0; k < c.num_inputs(); ++k) {
    const Dim extent = c.in(k).dim(axis);
    if (extent == 0) continue;
    c.needs_elements(extent);
    Index at = i.exprs();
    at[axis] = clamp(i[axis] - as_expr(begin), 0, as_expr(extent - 1));
    value = value.defined() ? select(i[axis] >= as_expr(begin), c.in(k)(at), value) : c.in(k)(at);
    begin = begin + extent;
  }
  Halide::Func joined = c.stage("concatenate");
  joined(i.reversed()) = value.defined() ? value : constant_of(c.out().dtype(), 0);
  c.result(joined);
}

RelationStatus stack_relation(RelationContext& ctx, const StackAttrs& attrs) {
  bool failed = false;
  const auto fields = tensor_fields(ctx, 0, &failed);
  if (fields.empty()) return failed ? kFailed : kDefer;
  const int rank = fields[0]->rank();
  if (attrs.axis < -rank - 1 || attrs.axis > rank)
    return fail_attr(ctx, "axis", std::to_string(attrs.axis),
                     "it must lie in " + std::to_string(-rank - 1) + ".." + std::to_string(rank));
  const int axis = static_cast<int>(attrs.axis < 0 ? attrs.axis + rank + 1 : attrs.axis);
  for (size_t i = 1; i < fields.size(); ++i) {
    if (fields[i]->rank() != rank || fields[i]->dtype() != fields[0]->dtype())
      return fail_arg(ctx, 0, "the tensors to stack have different types: " + type_text(ctx.input(0)));
    for (int k = 0; k < rank; ++k) {
      const Dim a = fields[0]->shape()[k], b = fields[i]->shape()[k];
      if (k == axis || may_equal(a, b)) continue;  // axis itself is not compared, as in Relay
      return fail_arg(ctx, 0,
                      "the tensors to stack have " + extent_text(a) + " and " + extent_text(b) +
                          " elements along axis " + std::to_string(k));
    }
  }
  std::vector<Dim> shape = fields[0]->shape();
  shape.insert(shape.begin() + axis, static_cast<int64_t>(fields.size()));
  return ctx.assign_result(tensor_type(std::move(shape), fields[0]->dtype()));
}

bool is_shorter(Dim a, Dim b) { return !a.is_any() && !b.is_any() && a.value() < b.value(); }

void stack_compute(Compute& c, const StackAttrs& attrs) {
  const Axes i(c.out().rank());
  const int axis = static_cast<int>(attrs.axis < 0 ? attrs.axis + i.rank() : attrs.axis);
  Halide::Expr value;
  for (int k = 0; k < c.num_inputs(); ++k) {
    Index at = i.exprs();
    at.erase(at.begin() + axis);
    for (int d = 0; d < c.in(k).rank(); ++d)  // a tensor that is shorter than the first: see the relation
      if (is_shorter(c.in(k).dim(d), c.in(0).dim(d))) at[d] = min(at[d], as_expr(c.in(k).dim(d) - 1));
    value = value.defined() ? select(i[axis] == k, c.in(k)(at), value) : c.in(k)(at);
  }
  Halide::Func stacked = c.stage("stack");
  stacked(i.reversed()) = value;
  c.result(stacked);
}

// The start positions of the parts, followed by the extent; nullopt after a report.
std::optional<std::vector<Dim>> part_extents(RelationContext& ctx, const SplitAttrs& attrs, Dim extent) {
  std::vector<Dim> parts;
  if (const int64_t* count = attrs.indices_or_sections.as<int64_t>()) {
    if (*count < 1 || (!extent.is_any() && extent.value() % *count != 0)) {
      fail_attr(ctx, "indices_or_sections", std::to_string(*count),
                extent.is_any() ? "at least one part is needed"
                                : "it does not divide the axis of " + std::to_string(extent.value()));
      return std::nullopt;
    }
    parts.assign(*count, divided(extent, *count));
    return parts;
  }
  const AttrList* list = attrs.indices_or_sections.as<AttrList>();
  int64_t begin = 0;
  bool good = list != nullptr;
  if (list) {
    for (const AttrValue& item : *list) {
      const int64_t* at = item.as<int64_t>();
      good = good && at && *at >= begin && (extent.is_any() || *at <= extent.value());
      if (!good) break;
      parts.push_back(*at - begin);
      begin = *at;
    }
  }
  if (!good || (!extent.is_any() && begin >= extent.value() && !list->empty())) {
    fail_attr(ctx, "indices_or_sections", attr_text(attrs.indices_or_sections),
              "ascending positions inside the axis" +
                  (extent.is_any() ? std::string() : " of " + std::to_string(extent.value())) +
                  " are needed");
    return std::nullopt;
  }
  parts.push_back(extent - begin);
  return parts;
}

RelationStatus split_relation(RelationContext& ctx, const SplitAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto axis = checked_axis(ctx, attrs.axis, data->rank());
  if (!axis) return kFailed;
  const auto parts = part_extents(ctx, attrs, data->shape()[*axis]);
  if (!parts) return kFailed;
  std::vector<Type> fields;
  for (const Dim part : *parts) {
    std::vector<Dim> shape = data->shape();
    shape[*axis] = part;
    fields.push_back(tensor_type(std::move(shape), data->dtype()));
  }
  return ctx.assign_result(tuple_type(std::move(fields)));
}

void split_compute(Compute& c, const SplitAttrs& attrs) {
  const Axes i(c.in(0).rank());
  const int axis = static_cast<int>(attrs.axis < 0 ? attrs.axis + i.rank() : attrs.axis);
  std::vector<Halide::Func> parts;
  Dim begin = 0;
  for (int k = 0; k < c.num_outputs(); ++k) {
    Index at = i.exprs();
    at[axis] = i[axis] + as_expr(begin);
    Halide::Func part = c.stage("part" + std::to_string(k));
    part(i.reversed()) = c.in(0)(at);
    parts.push_back(part);
    begin = begin + c.out(k).shape()[axis];
  }
  c.results(std::move(parts));
}

GradientRule concatenate_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const auto* parts = as_type<TupleTypeNode>(call->args()[0]->checked_type());
    BATON_CHECK(parts && !parts->fields().empty(), "concatenate takes a tuple");
    const int64_t axis = int_attr(*call, "axis");
    std::vector<int64_t> begins;
    int64_t end = 0;
    for (size_t i = 0; i + 1 < parts->fields().size(); ++i) {
      const auto* part = as_type<TensorTypeNode>(parts->fields()[i]);
      const Dim extent = part->shape()[front_axis(axis, part->rank())];
      if (extent.is_any())
        refuse(*call, "needs known extents along its axis, got " + type_text(parts->fields()[i]));
      begins.push_back(end += extent.value());
    }
    return Adjoints{op("split", {g}, {{"indices_or_sections", AttrValue(begins)}, {"axis", axis}})};
  }};
}

GradientRule stack_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const auto* parts = as_type<TupleTypeNode>(call->args()[0]->checked_type());
    BATON_CHECK(parts && !parts->fields().empty(), "stack takes a tuple");
    const int64_t axis = int_attr(*call, "axis");
    const auto count = static_cast<int64_t>(parts->fields().size());
    const Expr split = op("split", {g}, {{"indices_or_sections", count}, {"axis", axis}});
    std::vector<Expr> fields;
    for (int i = 0; i < count; ++i)
      fields.push_back(
          op("squeeze", {get_item(split, i)}, {{"axis", AttrValue(std::vector<int64_t>{axis})}}));
    return Adjoints{tuple(std::move(fields))};
  }};
}

}  // namespace

const OpDef& op_concatenate() {
  static const OpDef def = OpSpec<ConcatenateAttrs>{
      .name = "concatenate",
      .doc = "Tensors joined along one axis.",
      .inputs = {{"data", "tuple of tensors that are equal on all other axes"}},
      .fuse = Fuse::kInjective,
      .relation = concatenate_relation,
      .compute = concatenate_compute,
      .rules = op_rules(reads_in_parts(), concatenate_gradient(), concatenate_layout_flow(),
                        concatenate_layout_rule(), MixedPrecision::kFollow,
                        FakeQuantizationRule{fake_quantized_concatenate, /*without_end=*/false},
                        QuantizationRule{QuantizationRule::Does::kJoin}),
      .test_shapes = {"[(4)f32, (1)f32]", "[(2, 3, 5)f32, (2, 1, 5)f32, (2, 0, 5)f32], axis=1",
                      "[(2, 3)i8, (2, 4)i8], axis=-1"},
  };
  return def;
}

const OpDef& op_stack() {
  static const OpDef def = OpSpec<StackAttrs>{
      .name = "stack",
      .doc = "Tensors of one shape joined along a new axis.",
      .inputs = {{"data", "tuple of tensors"}},
      .fuse = Fuse::kInjective,
      .relation = stack_relation,
      .compute = stack_compute,
      .python = "tensor.stack(data, axis)",
      .rules = op_rules(reads_in_parts(), stack_gradient()),
      .test_shapes = {"[(4)f32, (4)f32]", "[(2, 3)f32, (2, 3)f32, (2, 3)f32], axis=-1"},
  };
  return def;
}

const OpDef& op_split() {
  static const OpDef def = OpSpec<SplitAttrs>{
      .name = "split",
      .doc = "A tensor cut into a tuple of parts along one axis.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kInjective,
      .relation = split_relation,
      .compute = split_compute,
      .python = "transform",
      .rules = op_rules(split_layout_flow(), flow_layout_rule(), MixedPrecision::kFollow,
                        PartOfOperand{[](const CallNode&) { return true; }},
                        FakeQuantizationRule{fake_quantized_split},
                        ResultCount{.of = [](const CallNode& call) -> std::optional<int64_t> {
                          const AttrValue cuts = call.attrs()->get("indices_or_sections");
                          if (const auto* sections = cuts.as<int64_t>()) return *sections;
                          const auto* places = cuts.as<AttrList>();
                          if (!places) throw UsageError("split: it cannot be seen how many parts there are");
                          return static_cast<int64_t>(places->size()) + 1;
                        }}),
      .test_shapes = {"(6, 4)f32, indices_or_sections=[2, 5]", "(6, 4)f32, indices_or_sections=[1], axis=-1"},
  };
  return def;
}

}  // namespace baton
