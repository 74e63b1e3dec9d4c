// Sparse tensors, einsum, Fourier transforms, rarer layouts.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "baton/ir/rules/shape_rule.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/rules/gradient_rules.h"
#include "baton/ops/shared/reindex.h"
#include "baton/ops/tensor/reshape_relation.h"
#include "baton/ops/tensor/shape_attrs.h"
#include "baton/ops/tensor/sparse_compute.h"
#include "baton/ops/tensor/tensor_relations.h"

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
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.SparseToDenseAttrs",
                     {{"output_shape", &A::output_shape, "the shape of the result", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<EinsumAttrs>() {
  using A = EinsumAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.EinsumAttrs",
      {{"equation", &A::equation, "subscripts of the inputs and of the result: ij,jk->ik", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<StftAttrs>() {
  using A = StftAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.StftAttrs", {{"n_fft", &A::n_fft, "length of a transform"},
                                {"hop_length", &A::hop_length, "distance of the windows"},
                                {"win_length", &A::win_length, "length of the window"},
                                {"normalized", &A::normalized, "whether results are divided by sqrt(n_fft)"},
                                {"onesided", &A::onesided, "whether the conjugate half is left out"}});
  return schema;
}

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
  if (!check_rank(ctx, *indices, 2, 0) || !check_rank(ctx, *before, 1, 1) || !check_rank(ctx, *after, 1, 2))
    return kFailed;
  const Dim rank = after->shape()[0];
  return ctx.assign_result(
      tuple_type({tensor_type(std::vector<Dim>{indices->shape()[0], rank}, indices->dtype()),
                  tensor_type(std::vector<Dim>{rank}, after->dtype())}));
}

// Subscripts of one operand, or nothing when they are no letters.
bool is_subscript(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

RelationStatus einsum_relation(RelationContext& ctx, const EinsumAttrs& attrs) {
  bool failed = false;
  const auto fields = tensor_fields(ctx, 0, &failed);
  if (fields.empty()) return failed ? kFailed : kDefer;
  std::string equation = attrs.equation;
  std::erase(equation, ' ');
  const auto bad = [&](const std::string& why) {
    return fail_attr(ctx, "equation", "\"" + attrs.equation + "\"", why);
  };
  const size_t arrow = equation.find("->");
  std::vector<std::string> operands(1);
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',')
      operands.emplace_back();
    else
      operands.back() += c;
  }
  if (operands.size() != fields.size())
    return bad("it has subscripts for " + std::to_string(operands.size()) + " tensors, and there are " +
               std::to_string(fields.size()));
  std::map<char, Dim> extents;
  std::map<char, int> uses;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!is_subscript(operands[i])) return bad("subscripts are letters");
    if (operands[i].size() != static_cast<size_t>(fields[i]->rank()))
      return bad("tensor " + std::to_string(i) + " is " + type_text(Type(fields[i])));
    for (size_t k = 0; k < operands[i].size(); ++k) {
      const Dim extent = fields[i]->shape()[k];
      ++uses[operands[i][k]];
      const auto [at, fresh] = extents.emplace(operands[i][k], extent);
      if (fresh || at->second == extent || extent == Dim(1) || extent.is_any()) continue;
      if (at->second != Dim(1) && !at->second.is_any())
        return bad(std::string("axis ") + operands[i][k] + " is " + std::to_string(at->second.value()) +
                   " and " + std::to_string(extent.value()));
      at->second = extent;
    }
  }
  std::string result;
  if (arrow != std::string::npos)
    result = equation.substr(arrow + 2);
  else
    for (const auto& [letter, count] : uses)
      if (count == 1) result += letter;
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
  if (data->rank() < 1 || data->rank() > 2)
    return fail_arg(ctx, 0, "a signal or a batch of them is needed, got " + type_text(ctx.input(0)));
  if (!check_least(ctx, "n_fft", {&attrs.n_fft, 1}, 1) ||
      !check_least(ctx, "hop_length", {&attrs.hop_length, 1}, 1))
    return kFailed;
  std::vector<Dim> shape(data->shape().begin(), data->shape().end() - 1);
  const Dim length = data->shape().back();
  if (!length.is_any() && length.value() < attrs.n_fft)
    return fail_attr(ctx, "n_fft", std::to_string(attrs.n_fft),
                     "the signal has only " + std::to_string(length.value()) + " elements");
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
      return fail_attr(ctx, "dst_layout", "\"" + attrs.dst_layout + "\"",
                       "each axis needs its extent before its letter");
    }
  }
  if (shape.empty() || number >= 0)
    return fail_attr(ctx, "dst_layout", "\"" + attrs.dst_layout + "\"",
                     "each axis is an extent and a letter");
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

RelationStatus reverse_reshape_relation(RelationContext& ctx, const ReshapeAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  for (const int64_t code : attrs.newshape)
    if (code == -4)
      return fail_attr(ctx, "newshape", attr_text(AttrValue(attrs.newshape)),
                       "-4 has no meaning from right to left");
  std::string why;
  const std::vector<Dim> from(data->shape().rbegin(), data->shape().rend());
  auto shape = reshaped(from, Ints(attrs.newshape.rbegin(), attrs.newshape.rend()), attrs.allowzero, &why);
  if (!shape) return fail_attr(ctx, "newshape", attr_text(AttrValue(attrs.newshape)), why);
  std::reverse(shape->begin(), shape->end());
  return ctx.assign_result(tensor_type(std::move(*shape), data->dtype()));
}

struct Subscripts {
  std::vector<std::string> operands;
  std::string result;
};

Subscripts subscripts_of(std::string equation) {
  std::erase(equation, ' ');
  const size_t arrow = equation.find("->");
  Subscripts subscripts{{""}, ""};
  std::map<char, int> uses;
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',')
      subscripts.operands.emplace_back();
    else
      subscripts.operands.back() += c, ++uses[c];
  }
  if (arrow != std::string::npos)
    subscripts.result = equation.substr(arrow + 2);
  else
    for (const auto& [letter, count] : uses)
      if (count == 1) subscripts.result += letter;
  return subscripts;
}

// The product of all operands, summed over the letters that the result lacks.
void einsum_compute(Compute& c, const EinsumAttrs& attrs) {
  const Subscripts subscripts = subscripts_of(attrs.equation);
  const Halide::Type type = sum_type(c.out().dtype());
  std::map<char, int64_t> extents;
  for (size_t k = 0; k < subscripts.operands.size(); ++k)
    for (size_t axis = 0; axis < subscripts.operands[k].size(); ++axis) {
      int64_t& extent = extents.emplace(subscripts.operands[k][axis], 1).first->second;
      extent = std::max(extent, c.in(static_cast<int>(k)).extent(static_cast<int>(axis)));
    }
  const Axes i(c.out().rank());
  std::map<char, Halide::Expr> at;
  for (int axis = 0; axis < i.rank(); ++axis) at[subscripts.result[axis]] = i[axis];
  std::vector<int64_t> summed;
  for (const auto& [letter, extent] : extents)
    if (!at.contains(letter)) summed.push_back(extent);
  const Domain r(summed);
  int next = 0;
  for (const auto& [letter, extent] : extents)
    if (!at.contains(letter)) at[letter] = r[next++];
  Halide::Expr product;
  for (size_t k = 0; k < subscripts.operands.size(); ++k) {
    const Tensor& operand = c.in(static_cast<int>(k));
    Index index;
    for (size_t axis = 0; axis < subscripts.operands[k].size(); ++axis)
      index.push_back(operand.extent(static_cast<int>(axis)) == 1 ? Halide::Expr(0)
                                                                  : at.at(subscripts.operands[k][axis]));
    const Halide::Expr value = cast(type, operand(index));
    product = product.defined() ? product * value : value;
  }
  Halide::Func sum = c.stage("sum"), result = c.stage("einsum");
  if (summed.empty()) {
    sum(i.reversed()) = product;
  } else {
    sum(i.reversed()) = cast(type, 0);
    sum(i.reversed()) += product;
  }
  result(i.reversed()) = cast_to(c.out().dtype(), sum(i.reversed()));
  c.result(result);
}

// result[..., f, w, :] = sum over n of data[..., w * hop + n] * window[n] * exp(-2 pi i f n / n_fft).
void stft_compute(Compute& c, const StftAttrs& attrs) {
  const Tensor &data = c.in(0), &window = c.in(1);
  const Axes i(c.out().rank());
  const int taps = as_int(std::min(attrs.win_length > 0 ? attrs.win_length : attrs.n_fft, window.extent(0)));
  const Domain r({taps});
  const Halide::Type type = sum_type(c.out().dtype());
  Index at;
  for (int axis = 0; axis + 1 < data.rank(); ++axis) at.push_back(i[axis]);
  at.push_back(inside_axis(i[-2] * as_int(attrs.hop_length) + r[0], data.extent(-1)));
  // The turn is reduced to one circle in integers, so that angles stay exact.
  const Halide::Expr turn = cast(type, (i[-3] * r[0]) % as_int(attrs.n_fft)) *
                            cast(type, Halide::Expr(2 * M_PI / static_cast<double>(attrs.n_fft)));
  const Halide::Expr value = cast(type, data(at)) * cast(type, window(Index{r[0]}));
  Halide::Func sum = c.stage("sum"), result = c.stage("stft");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) += value * select(i[-1] == 0, cos(turn), -sin(turn));
  const double scale = attrs.normalized ? 1 / std::sqrt(static_cast<double>(attrs.n_fft)) : 1;
  result(i.reversed()) = cast_to(c.out().dtype(), sum(i.reversed()) * cast(type, Halide::Expr(scale)));
  c.result(result);
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
                               c.in(0).extent(static_cast<int>(k))));
    }
    return at;
  });
}

// How many rows of a sparse matrix have no value.
int64_t empty_rows(const NDArray& indices, const NDArray& dense_shape) {
  const std::vector<int64_t> all = integers_of(indices), extents = integers_of(dense_shape);
  if (extents.empty() || extents[0] < 0 || extents[0] > INT32_MAX)
    throw NotSupported("sparse_fill_empty_rows needs a shape with rows");
  std::vector<bool> filled(extents[0], false);
  for (size_t k = 0; k < all.size(); k += indices.shape()[1])
    if (all[k] >= 0 && all[k] < extents[0]) filled[all[k]] = true;
  return std::count(filled.begin(), filled.end(), false);
}

std::vector<std::vector<int64_t>> filled_shapes(const Attrs&, const std::vector<NDArray>& inputs) {
  const int64_t count = inputs[0].shape()[0] + empty_rows(inputs[0], inputs[2]);
  return {{count, inputs[0].shape()[1]}, {count}, {integers_of(inputs[2])[0]}};
}

}  // namespace

const OpDef& op_sparse_to_dense() {
  static const OpDef def = OpSpec<SparseToDenseAttrs>{
      .name = "sparse_to_dense",
      .doc = "A tensor with values at some indices and default_value elsewhere.",
      .inputs = {{"sparse_indices", "indices of the values, one a row"},
                 {"sparse_values", "the values"},
                 {"default_value", "scalar"}},
      .relation = sparse_to_dense_relation,
      .compute = [](Compute& c, const SparseToDenseAttrs&) { sparse_to_dense_compute(c); },
      .cost = moving_cost,
      .test_shapes = {"(2, 2)i32{0, 1, 2, 3}, (2)f32, ()f32={0}, output_shape=[3, 4]"},
  };
  return def;
}

const OpDef& op_sparse_fill_empty_rows() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "sparse_fill_empty_rows",
      .doc = "Sparse values with one more in each row that has none.",
      .inputs = {{"sparse_indices", "indices of the values, one a row"},
                 {"sparse_values", "the values"},
                 {"dense_shape", "vector of extents"},
                 {"default_value", "scalar"}},
      .relation = sparse_fill_empty_rows_relation,
      .compute = [](Compute& c, const NoAttrs&) { sparse_fill_empty_rows_compute(c); },
      .data_dependent = true,
      .python = "transform",
      .rules = op_rules(ShapeRule{filled_shapes}, ResultCount{3}),
      .test_shapes = {"(3, 2)i64{0, 1, 2, 0, 2, 3}, (3)f32, (2)i64{4, 5}, ()f32{0.5}"},
  };
  return def;
}

const OpDef& op_sparse_reshape() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "sparse_reshape",
      .doc = "The indices of sparse values in another shape.",
      .inputs = {{"sparse_indices", "indices, one a row"},
                 {"prev_shape", "vector of extents"},
                 {"new_shape", "vector of extents; -1 is inferred"}},
      .fuse = Fuse::kInjective,
      .relation = sparse_reshape_relation,
      .compute = [](Compute& c, const NoAttrs&) { sparse_reshape_compute(c); },
      .python = "transform",
      .rules = op_rules(ResultCount{2}),
      .test_shapes = {"(3, 2)i64{0, 1, 2, 0, 2, 3}, (2)i64{4, 6}, (3)i64{2, 2, -1}"},
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
      .compute = einsum_compute,
      .python = "tensor",
      .test_shapes = {"[(2, 3)f32], equation=\"ij->ji\"", "[(2, 3)f32, (3, 4)f32], equation=\"ij,jk->ik\""},
  };
  return def;
}

const OpDef& op_stft() {
  static const OpDef def = OpSpec<StftAttrs>{
      .name = "stft",
      .doc = "The Fourier transforms of windows along a signal.",
      .inputs = {{"data", "signals"}, {"window", "the window"}},
      .relation = stft_relation,
      .compute = stft_compute,
      .data_dependent = true,
      .declares_attrs = false,
      .test_shapes = {"(2, 12)f32, (4)f32, n_fft=4, hop_length=2, win_length=4, onesided=True"},
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
      .test_shapes = {"(1, 8, 3, 5)f32, src_layout=NCHW, dst_layout=NCHW4c"},
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

const OpDef& op_contrib_reverse_reshape() {
  static const OpDef def = OpSpec<ReshapeAttrs>{
      .name = "contrib_reverse_reshape",
      .doc = "reshape with the codes read from right to left.",
      .inputs = {{"data", "tensor"}},
      .fuse = Fuse::kInjective,
      .relation = reverse_reshape_relation,
      .compute = [](Compute& c, const ReshapeAttrs&) { reshape_compute(c, "reverse_reshape"); },
      .reshape_only = true,
      .python = "transform.reverse_reshape(data, newshape)",
      .rules = op_rules(reshape_gradient()),
      .test_shapes = {"(2, 3, 4)f32, newshape=[0, -3]"},
  };
  return def;
}

}  // namespace baton
