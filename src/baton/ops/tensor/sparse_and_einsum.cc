// Sparse tensors, einsum, Fourier transforms, rarer layouts.
#include <algorithm>
#include <map>

#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_rules.h"
#include "baton/ops/tensor/reindex.h"
#include "baton/ops/tensor/shape_attrs.h"
#include "baton/ops/tensor/tensor_relations.h"
#include "baton/ops/tensor/reshape_relation.h"

namespace baton {

struct SparseToDenseAttrs {
  Ints output_shape = {};
};
struct EinsumAttrs {
  std::string equation = {};
};
struct StftAttrs {
  int64_t n_fft = -1, hop_length = -1, win_length = -1;
  bool normalized = false;
  bool onesided = true;
};
struct AutoSchedulerLayoutTransformAttrs {
  std::string src_layout = {}, dst_layout = {};
};
struct MetaScheduleLayoutTransformAttrs {
  AttrValue index_map = {};
};

template <>
const AttrSchema& attr_schema<SparseToDenseAttrs>() {
  using A = SparseToDenseAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.SparseToDenseAttrs",
      {{"output_shape", &A::output_shape, "the shape of the result", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<EinsumAttrs>() {
  using A = EinsumAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.EinsumAttrs",
      {{"equation", &A::equation, "subscripts of the inputs and of the result: ij,jk->ik", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<StftAttrs>() {
  using A = StftAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.StftAttrs",
      {{"n_fft", &A::n_fft, "length of a transform"},
       {"hop_length", &A::hop_length, "distance of the windows"},
       {"win_length", &A::win_length, "length of the window"},
       {"normalized", &A::normalized, "whether results are divided by sqrt(n_fft)"},
       {"onesided", &A::onesided, "whether the conjugate half is left out"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<AutoSchedulerLayoutTransformAttrs>() {
  using A = AutoSchedulerLayoutTransformAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.AutoSchedulerLayoutTransformAttrs",
      {{"src_layout", &A::src_layout, "layout with the extent of each axis before its letter", kNoDefault},
       {"dst_layout", &A::dst_layout, "such a layout", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<MetaScheduleLayoutTransformAttrs>() {
  using A = MetaScheduleLayoutTransformAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.MetaScheduleLayoutTransformAttrs",
      {{"index_map", &A::index_map, "where each index goes", kNoDefault}});
  return schema;
}

namespace {

RelationStatus sparse_to_dense_relation(RelationContext& ctx, const SparseToDenseAttrs& attrs) {
  const TensorTypeNode* values = ctx.tensor(1);
  if (!values) return kDefer;
  if (!check_least(ctx, "output_shape", attrs.output_shape, 0)) return kFailed;
  return ctx.assign_result(tensor_type(attrs.output_shape, values->dtype()));
}

// indices (n, rank), values (n), dense shape (rank): more rows may come, one for each that is empty.
RelationStatus sparse_fill_empty_rows_relation(RelationContext& ctx, const NoAttrs&) {
  const TensorTypeNode *indices = ctx.tensor(0), *values = ctx.tensor(1);
  if (!indices || !values) return kDefer;
  if (!check_rank(ctx, *indices, 2, 0)) return kFailed;
  const DType int64 = DType::int_(64);
  return ctx.assign_result(tuple_type({tensor_type(std::vector<Dim>{Dim::any(), indices->shape()[1]}, int64),
                                       tensor_type(std::vector<Dim>{Dim::any()}, int64),
                                       tensor_type(std::vector<Dim>{Dim::any()}, int64)}));
}

RelationStatus sparse_reshape_relation(RelationContext& ctx, const NoAttrs&) {
  const TensorTypeNode *indices = ctx.tensor(0), *before = ctx.tensor(1), *after = ctx.tensor(2);
  if (!indices || !before || !after) return kDefer;
  if (!check_rank(ctx, *indices, 2, 0) || !check_rank(ctx, *before, 1, 1) || !check_rank(ctx, *after, 1, 2)) return kFailed;
  const Dim rank = after->shape()[0];
  return ctx.assign_result(tuple_type({tensor_type(std::vector<Dim>{indices->shape()[0], rank}, indices->dtype()),
                                       tensor_type(std::vector<Dim>{rank}, after->dtype())}));
}

// Subscripts of one operand, or nothing when they are no letters.
bool is_subscript(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

RelationStatus einsum_relation(RelationContext& ctx, const EinsumAttrs& attrs) {
  bool failed = false;
  const auto fields = tensor_fields(ctx, 0, &failed);
  if (fields.empty()) return failed ? kFailed : kDefer;
  std::string equation = attrs.equation;
  std::erase(equation, ' ');
  const auto bad = [&](const std::string& why) { return fail_attr(ctx, "equation", "\"" + attrs.equation + "\"", why); };
  const size_t arrow = equation.find("->");
  std::vector<std::string> operands(1);
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',') operands.emplace_back();
    else operands.back() += c;
  }
  if (operands.size() != fields.size()) return bad("it has subscripts for " + std::to_string(operands.size()) + " tensors, and there are " + std::to_string(fields.size()));
  std::map<char, Dim> extents;
  std::map<char, int> uses;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!is_subscript(operands[i])) return bad("subscripts are letters");
    if (operands[i].size() != static_cast<size_t>(fields[i]->rank())) return bad("tensor " + std::to_string(i) + " is " + type_text(Type(fields[i])));
    for (size_t k = 0; k < operands[i].size(); ++k) {
      const Dim extent = fields[i]->shape()[k];
      ++uses[operands[i][k]];
      const auto [at, fresh] = extents.emplace(operands[i][k], extent);
      if (fresh || at->second == extent || extent == Dim(1) || extent.is_any()) continue;
      if (at->second != Dim(1) && !at->second.is_any())
        return bad(std::string("axis ") + operands[i][k] + " is " + std::to_string(at->second.value()) + " and " + std::to_string(extent.value()));
      at->second = extent;
    }
  }
  std::string result;
  if (arrow != std::string::npos) result = equation.substr(arrow + 2);
  else for (const auto& [letter, count] : uses) if (count == 1) result += letter;
  std::vector<Dim> shape;
  for (const char c : result) {
    if (!extents.contains(c)) return bad(std::string("the result has a subscript that no tensor has: ") + c);
    shape.push_back(extents.at(c));
  }
  return ctx.assign_result(tensor_type(std::move(shape), fields[0]->dtype()));
}

// (batch, frequencies, windows, 2): real and imaginary part.
RelationStatus stft_relation(RelationContext& ctx, const StftAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (data->rank() < 1 || data->rank() > 2) return fail_arg(ctx, 0, "a signal or a batch of them is needed, got " + type_text(ctx.input(0)));
  if (!check_least(ctx, "n_fft", {&attrs.n_fft, 1}, 1) || !check_least(ctx, "hop_length", {&attrs.hop_length, 1}, 1)) return kFailed;
  std::vector<Dim> shape(data->shape().begin(), data->shape().end() - 1);
  const Dim length = data->shape().back();
  if (!length.is_any() && length.value() < attrs.n_fft)
    return fail_attr(ctx, "n_fft", std::to_string(attrs.n_fft), "the signal has only " + std::to_string(length.value()) + " elements");
  shape.push_back(attrs.onesided ? attrs.n_fft / 2 + 1 : attrs.n_fft);
  shape.push_back(length.is_any() ? length : Dim((length.value() - attrs.n_fft) / attrs.hop_length + 1));
  shape.push_back(2);
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
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
      return fail_attr(ctx, "dst_layout", "\"" + attrs.dst_layout + "\"", "each axis needs its extent before its letter");
    }
  }
  if (shape.empty() || number >= 0) return fail_attr(ctx, "dst_layout", "\"" + attrs.dst_layout + "\"", "each axis is an extent and a letter");
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus reverse_reshape_relation(RelationContext& ctx, const ReshapeAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  for (const int64_t code : attrs.newshape)
    if (code == -4) return fail_attr(ctx, "newshape", attr_text(AttrValue(attrs.newshape)), "-4 has no meaning from right to left");
  std::string why;
  const std::vector<Dim> from(data->shape().rbegin(), data->shape().rend());
  auto shape = reshaped(from, Ints(attrs.newshape.rbegin(), attrs.newshape.rend()), attrs.allowzero, &why);
  if (!shape) return fail_attr(ctx, "newshape", attr_text(AttrValue(attrs.newshape)), why);
  std::reverse(shape->begin(), shape->end());
  return ctx.assign_result(tensor_type(std::move(*shape), data->dtype()));
}


}  // namespace

const OpDef& op_sparse_to_dense() {
  static const OpDef def = OpSpec<SparseToDenseAttrs>{
      .name = "sparse_to_dense",
      .doc = "A tensor with values at some indices and default_value elsewhere.",
      .inputs = {{"sparse_indices", "indices of the values, one a row"}, {"sparse_values", "the values"}, {"default_value", "scalar"}},
      .relation = sparse_to_dense_relation,
  };
  return def;
}

const OpDef& op_sparse_fill_empty_rows() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "sparse_fill_empty_rows",
      .doc = "Sparse values with one more in each row that has none.",
      .inputs = {{"sparse_indices", "indices of the values, one a row"}, {"sparse_values", "the values"}, {"dense_shape", "vector of extents"}, {"default_value", "scalar"}},
      .relation = sparse_fill_empty_rows_relation,
      .data_dependent = true,
  };
  return def;
}

const OpDef& op_sparse_reshape() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "sparse_reshape",
      .doc = "The indices of sparse values in another shape.",
      .inputs = {{"sparse_indices", "indices, one a row"}, {"prev_shape", "vector of extents"}, {"new_shape", "vector of extents; -1 is inferred"}},
      .fuse = Fuse::kInjective,
      .relation = sparse_reshape_relation,
  };
  return def;
}

const OpDef& op_einsum() {
  static const OpDef def = OpSpec<EinsumAttrs>{
      .name = "einsum",
      .doc = "Sums of products by subscripts.",
      .inputs = {{"data", "tuple of tensors"}},
      .fuse = Fuse::kInjective,
      .relation = einsum_relation,
  };
  return def;
}

const OpDef& op_stft() {
  static const OpDef def = OpSpec<StftAttrs>{
      .name = "stft",
      .doc = "The Fourier transforms of windows along a signal.",
      .inputs = {{"data", "signals"}, {"window", "the window"}},
      .relation = stft_relation,
      .data_dependent = true,
      .declares_attrs = false,
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
  };
  return def;
}

const OpDef& op_meta_schedule_layout_transform() {
  static const OpDef def = OpSpec<MetaScheduleLayoutTransformAttrs>{
      .name = "meta_schedule_layout_transform",
      .doc = "The data in a layout given as an index map, which only TVM has.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kInjective,
      .relation = [](RelationContext& ctx, const MetaScheduleLayoutTransformAttrs& a) { return ctx.tensor(0) ? fail_attr(ctx, "index_map", attr_text(a.index_map), "index maps of TIR are not known here") : kDefer; },
  };
  return def;
}

const OpDef& op_contrib_reverse_reshape() {
  static const OpDef def = OpSpec<ReshapeAttrs>{
      .name = "contrib_reverse_reshape",
      .doc = "reshape with the codes read from right to left.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kInjective,
      .relation = reverse_reshape_relation,
      .compute = [](Compute& c, const ReshapeAttrs&) { reshape_compute(c, "reverse_reshape"); },
      .reshape_only = true,
      .rules = op_rules(reshape_gradient()),
  };
  return def;
}

}  // namespace baton
