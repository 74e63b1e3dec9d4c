// Sorting and searching.
#include <bit>
#include <cmath>

#include "baton/ir/inspect.h"
#include "baton/ir/rules/algebra.h"
#include "baton/ir/rules/layout_flow_rules.h"
#include "baton/ir/rules/read_rule.h"
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/shared/sort_compute.h"
#include "baton/ops/tensor/dynamic_forms.h"

namespace baton {

struct ArgsortAttrs {
  int64_t axis = -1;
  bool is_ascend = true;
  DType dtype = {};
};
struct SearchSortedAttrs {
  bool right = false;
  DType dtype = DType::int_(32);
};

template <>
const AttrSchema& attr_schema<ArgsortAttrs>() {
  using A = ArgsortAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ArgsortAttrs", {{"axis", &A::axis, "the axis that is sorted"},
                                   {"is_ascend", &A::is_ascend, "whether the smallest comes first"},
                                   {"dtype", &A::dtype, "element type of the indices"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<SearchSortedAttrs>() {
  using A = SearchSortedAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.SearchSortedAttrs",
                     {{"right", &A::right, "whether equal elements stand left of the place that is found"},
                      {"dtype", &A::dtype, "element type of the indices"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<TopkAttrs>() {
  using A = TopkAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.TopkAttrs", {{"k", &A::k, "how many elements; less than 1: all", kNoDefault},
                                {"axis", &A::axis, "the axis that is searched"},
                                {"ret_type", &A::ret_type, "both, values or indices"},
                                {"is_ascend", &A::is_ascend, "whether the smallest count"},
                                {"dtype", &A::dtype, "element type of the indices"}});
  return schema;
}

RelationStatus topk_result(RelationContext& ctx, const TopkAttrs& attrs, Dim count) {
  const TensorTypeNode* data = ctx.tensor(0);
  const auto axis = checked_axis(ctx, attrs.axis, data->rank());
  if (!axis) return kFailed;
  std::vector<Dim> shape = data->shape();
  if (count.is_any() || count.value() >= 1) shape[*axis] = count;
  const Type values = tensor_type(shape, data->dtype());
  const Type indices = tensor_type(shape, attrs.dtype.is_void() ? DType::int_(32) : attrs.dtype);
  if (attrs.ret_type == "both") return ctx.assign_result(tuple_type({values, indices}));
  if (attrs.ret_type == "values") return ctx.assign_result(values);
  if (attrs.ret_type == "indices") return ctx.assign_result(indices);
  return fail_attr(ctx, "ret_type", "\"" + attrs.ret_type + "\"",
                   "it must be \"both\", \"values\" or \"indices\"");
}

namespace {

RelationStatus topk_relation(RelationContext& ctx, const TopkAttrs& attrs) {
  if (!ctx.tensor(0)) return kDefer;
  return topk_result(ctx, attrs, attrs.k ? Dim(*attrs.k) : Dim::any());
}

RelationStatus argsort_relation(RelationContext& ctx, const ArgsortAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!checked_axis(ctx, attrs.axis, data->rank())) return kFailed;
  return ctx.assign_result(tensor_type(data->shape(), attrs.dtype.is_void() ? DType::int_(32) : attrs.dtype));
}

RelationStatus sort_relation(RelationContext& ctx, const ArgsortAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  return checked_axis(ctx, attrs.axis, data->rank()) ? identity_relation(ctx) : kFailed;
}

// The sequence is a vector, or has the axes of the values but the last.
RelationStatus searchsorted_relation(RelationContext& ctx, const SearchSortedAttrs& attrs) {
  const TensorTypeNode *sequence = ctx.tensor(0), *values = ctx.tensor(1);
  if (!sequence || !values) return kDefer;
  if (sequence->rank() < 1)
    return fail_arg(ctx, 0, "a sequence of rank >= 1 is needed, got " + type_text(ctx.input(0)));
  if (sequence->rank() > 1) {
    if (!check_rank(ctx, *values, sequence->rank(), 1)) return kFailed;
    for (int k = 0; k + 1 < sequence->rank(); ++k) {
      const Dim a = sequence->shape()[k], b = values->shape()[k];
      if (!may_equal(a, b))
        return fail_arg(ctx, 1,
                        "axis " + std::to_string(k) + " is " + extent_text(b) + ", and of the sequence " +
                            extent_text(a));
    }
  }
  return ctx.assign_result(tensor_type(values->shape(), attrs.dtype));
}

// One of the two values of a sorted tensor: 0 the elements, 1 where they stood.
Halide::Func part_of(Compute& c, const Halide::Func& sorted, int value, DType dtype, const char* name) {
  const Axes i(sorted.dimensions());
  Halide::Func part = c.stage(name);
  part(i.reversed()) = cast_to(dtype, sorted(i.reversed())[value]);
  return part;
}

void argsort_compute(Compute& c, const ArgsortAttrs& attrs) {
  const Halide::Func sorted =
      sorted_pairs(c, c.in(0), from_front(attrs.axis, c.in(0).rank()), attrs.is_ascend);
  c.result(part_of(c, sorted, 1, c.out().dtype(), "argsort"));
}

void sort_compute(Compute& c, const ArgsortAttrs& attrs) {
  const Halide::Func sorted =
      sorted_pairs(c, c.in(0), from_front(attrs.axis, c.in(0).rank()), attrs.is_ascend);
  c.result(part_of(c, sorted, 0, c.out().dtype(), "sort"));
}

// The number of sequence elements before a value, by binary search, highest bit first.
void searchsorted_compute(Compute& c, const SearchSortedAttrs& attrs) {
  const Tensor &sequence = c.in(0), &values = c.in(1);
  const Axes i(values.rank());
  const Dim extent = sequence.dim(-1);
  const Halide::Expr count = as_expr(extent),
                     bits = extent.is_symbolic()
                                ? max(32 - count_leading_zeros(count), 1)
                                : Halide::Expr(std::max<int>(
                                      std::bit_width(static_cast<uint32_t>(extent.value())), 1));
  const Halide::RDom r(0, bits, "r");
  c.needs_elements(extent);
  const Halide::Expr value = values(i.exprs());
  Halide::Func position = c.stage("position"), result = c.stage("searchsorted");
  position(i.reversed()) = 0;
  const Halide::Expr before = position(i.reversed()), next = before + (Halide::Expr(1) << (bits - 1 - r));
  Index at = i.exprs();
  if (sequence.rank() == 1)
    at.clear();
  else
    at.pop_back();
  at.push_back(inside_axis(next - 1, extent));
  const Halide::Expr element = sequence(at);
  const Halide::Expr wanted = cast(element.type(), value);
  const Halide::Expr smaller = attrs.right ? !sorts_before(wanted, element) : sorts_before(element, wanted);
  position(i.reversed()) = select(next <= count && smaller, next, before);
  result(i.reversed()) = cast_to(c.out().dtype(), position(i.reversed()));
  c.result(result);
}

/// A search by halves looks at some elements of the sequence.
double searchsorted_reads(const CostQuery& q, size_t input, double) {
  if (input > 0) return q.input_elements(input);
  const auto& shape = q.inputs[0]->shape();
  const double length =
      shape.empty() || shape.back().is_any() ? 1 : static_cast<double>(shape.back().value());
  return q.input_elements(1) * std::ceil(std::log2(length + 1));
}

}  // namespace

void topk_compute(Compute& c, const TopkAttrs& attrs) {
  const Halide::Func sorted =
      sorted_pairs(c, c.in(0), from_front(attrs.axis, c.in(0).rank()), attrs.is_ascend);
  std::vector<Halide::Func> results;
  if (attrs.ret_type != "indices") results.push_back(part_of(c, sorted, 0, c.out(0).dtype(), "values"));
  if (attrs.ret_type != "values")
    results.push_back(part_of(c, sorted, 1, c.out(c.num_outputs() - 1).dtype(), "indices"));
  c.results(std::move(results));
}

const OpDef& op_argsort() {
  static const OpDef def = OpSpec<ArgsortAttrs>{
      .name = "argsort",
      .doc = "The positions of the elements in sorted order.",
      .inputs = {{"data", "tensor"}},
      .relation = argsort_relation,
      .compute = argsort_compute,
      .python = "algorithm.argsort(data, axis=-1, is_ascend=1, dtype='int32')",
      .rules = op_rules(OrderOnly{}),
      .test_shapes = {"(7)f32, dtype=float32", "(3, 5)f32, axis=0, is_ascend=False, dtype=int32"},
  };
  return def;
}

const OpDef& op_sort() {
  static const OpDef def = OpSpec<ArgsortAttrs>{
      .name = "sort",
      .doc = "The elements in sorted order.",
      .inputs = {{"data", "tensor"}},
      .relation = sort_relation,
      .compute = sort_compute,
      .python = "algorithm.sort(data, axis=-1, is_ascend=1)",
      .test_shapes = {"(3, 5)f32", "(7)i32, is_ascend=False"},
  };
  return def;
}

const OpDef& op_topk() {
  static const OpDef def = OpSpec<TopkAttrs>{
      .name = "topk",
      .doc = "The largest (or smallest) elements along an axis, their positions, or both.",
      .inputs = {{"data", "tensor"}},
      .relation = topk_relation,
      .compute = topk_compute,
      .rules = op_rules(axis_layout_flow(), FakeQuantizationRule{fake_quantized_topk, /*without_end=*/false},
                        ResultCount{.of = [](const CallNode& call) -> std::optional<int64_t> {
                          if (text_attr(call, "ret_type") == "both") return 2;
                          return std::nullopt;
                        }}),
      .test_shapes = {"(3, 5)f32, k=5, axis=1, is_ascend=True, dtype=int64",
                      "(3, 5)f32, k=3, axis=1, ret_type=indices, dtype=int64"},
  };
  return def;
}

const OpDef& op_searchsorted() {
  static const OpDef def = OpSpec<SearchSortedAttrs>{
      .name = "searchsorted",
      .doc = "Where values would stand in a sorted sequence.",
      .inputs = {{"sorted_sequence", "tensor, sorted along its last axis"}, {"values", "tensor"}},
      .relation = searchsorted_relation,
      .compute = searchsorted_compute,
      .python = "algorithm",
      .rules = op_rules(ReadRule{searchsorted_reads}),
      .test_shapes = {"(4)f32{1, 3, 5, 7}, (4)f32{0, 3, 4, 9}"},
  };
  return def;
}

}  // namespace baton
