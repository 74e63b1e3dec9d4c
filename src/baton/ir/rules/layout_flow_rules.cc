#include "baton/ir/rules/layout_flow_rules.h"

#include <algorithm>

#include "baton/ir/inspect.h"
#include "baton/ir/rules/layout_parts.h"

namespace baton {

namespace {

using Flow = std::optional<LayoutFlow>;

std::string text_of(const LayoutQuery& q, std::string_view field) {
  const AttrValue value = q.attrs->get(field);
  const auto* text = value.as<std::string>();
  return text ? *text : std::string();
}

bool flag_of(const LayoutQuery& q, std::string_view field) {
  const AttrValue value = q.attrs->get(field);
  const bool* flag = value.as<bool>();
  return flag && *flag;
}

Attrs with_field(const LayoutQuery& q, std::string_view name, const AttrValue& value) {
  return with_field(q.attrs, q.op.name, name, value);
}

/// All layouts are unknown.
LayoutFlow unknown(const LayoutQuery& q) { return {Layouts(q.types.size()), Layouts(q.results.size())}; }

/// Every tensor keeps its original layout; requires a known q.was[0].
LayoutFlow as_before(const LayoutQuery& q) { return {q.was, Layouts(q.results.size(), q.was[0])}; }

char letter_at(const Layout& layout, int64_t axis) {
  return layout.axes()[front_axis(axis, layout.rank())].letter;
}

/// Whether the input's layout has as many axes as the tensor.
bool fits(const LayoutQuery& q, size_t input = 0) {
  return input < q.types.size() && q.was[input] && q.was[input]->rank() == q.types[input]->rank();
}

/// Applies `infer` to the first `count` inputs; the rest are scales and zero points.
Flow flow_of_data(const LayoutQuery& q, size_t count, Flow (*infer)(const LayoutQuery&)) {
  const std::vector<const TensorTypeNode*> types(q.types.begin(),
                                                 q.types.begin() + static_cast<ptrdiff_t>(count));
  LayoutQuery data{q.op, q.attrs, types, q.results, q.was, q.now};
  data.was.resize(count);
  if (!data.now.empty()) data.now.resize(count);
  Flow flow = infer(data);
  if (flow) flow->inputs.resize(q.types.size());
  return flow;
}

// ---- Elementwise and broadcasting operators

Flow same_flow(const LayoutQuery& q) {
  return LayoutFlow{Layouts(q.types.size(), q.given().at(0)), Layouts(q.results.size(), q.given()[0])};
}

/// The layout with more axes determines the result; on a tie the first. A tensor of lower rank gets leading
/// unit axes; scalars are left unchanged.
Flow broadcast_flow(const LayoutQuery& q) {
  if (q.types.size() != 2) return std::nullopt;
  const Layouts& in = q.given();
  if (!in[0] && !in[1]) return unknown(q);
  if (!in[0] || !in[1]) {
    const int known = in[0] ? 0 : 1, other = 1 - known, rank = q.types[other]->rank();
    if (q.types[known]->rank() < rank) return unknown(q);
    LayoutFlow flow{in, {in[known]}};
    if (all_ones(*q.types[other]) && rank < q.types[known]->rank()) return flow;
    // Such as a vector along the 8c of NCHW8c: it has no layout, and fits the original one only.
    if (!q.now.empty()) return q.was[known] == q.now[known] ? flow : unknown(q);
    if (!fits(q, known)) return unknown(q);
    flow.inputs[other] = tail(*in[known], rank);
    return flow.inputs[other] ? flow : unknown(q);
  }
  const int large = in[0]->primal().size() >= in[1]->primal().size() ? 0 : 1, small = 1 - large;
  if (!fits(q, large) || !fits(q, small)) return unknown(q);
  const Layout &whole = *q.was[large], &part = *q.was[small];
  if (part.rank() > whole.rank() || tail(whole, part.rank()) != q.was[small])
    return unknown(q);  // axes with different meanings
  LayoutFlow flow{in, {in[large]}};
  flow.inputs[small] = fitted(*in[large], part, *q.types[small]);
  return flow;
}

// ---- Operators with layout attributes

Flow conv_flow(const LayoutQuery& q) {
  const auto data = known_layout(text_of(q, "data_layout")),
             kernel = known_layout(text_of(q, "kernel_layout"));
  const std::string out = text_of(q, "out_layout");
  const auto result = out.empty() ? data : known_layout(out);
  if (!data || !kernel || !result || q.results.size() != 1) return std::nullopt;
  size_t weight = 1;  // after the offsets of a deformable convolution
  for (size_t i = 0; i < q.op.inputs.size() && i < q.types.size(); ++i)
    if (q.op.inputs[i].name == "weight") weight = i;
  LayoutFlow flow{Layouts(q.types.size()), {result}};
  for (size_t i = 0; i < weight; ++i) flow.inputs[i] = data;
  flow.inputs.at(weight) = kernel;
  return flow;
}

Flow dense_flow(const LayoutQuery& q) {
  if (q.types[0]->rank() != 2) return std::nullopt;
  const std::string packed = text_of(q, "weight_layout");
  const auto rows = known_layout("NC"), weight = known_layout(packed.empty() ? "NC" : packed);
  return weight ? Flow(LayoutFlow{{rows, weight}, {rows}}) : std::nullopt;
}

/// Windows over H and W use their input's layout, unless the operator sets an output layout.
Flow spatial_flow(const LayoutQuery& q) {
  const auto own = known_layout(text_of(q, "layout"));
  if (!own || q.results.size() != 1) return std::nullopt;
  const std::string out = text_of(q, "out_layout");
  const auto result = out.empty() ? own : known_layout(out);
  if (!result) return std::nullopt;
  const LayoutFlow fixed{{own}, {result}};
  if (q.now.empty() || !out.empty() || !q.moved(0) || q.was[0] != own) return fixed;
  const Layout& now = *q.now[0];
  for (char axis : {'D', 'H', 'W'})
    if (now.is_split(axis)) return fixed;
  return LayoutFlow{{q.now[0]}, {q.now[0]}, with_field(q, "layout", now.str())};
}

// ---- Operators with axis attributes

/// The axes that a reduction removes, as letters; empty when it removes all.
std::string reduced_letters(const LayoutQuery& q) {
  std::string named, gone;
  for (int64_t axis : ints_of(q.attrs->get("axis"))) named += letter_at(*q.was[0], axis);
  const bool exclude = flag_of(q, "exclude");
  for (const LayoutAxis& axis : q.was[0]->axes())
    if ((named.find(axis.letter) != std::string::npos) != exclude) gone += axis.letter;
  return named.empty() || gone.size() == static_cast<size_t>(q.was[0]->rank()) ? "" : gone;
}

Flow reduce_flow(const LayoutQuery& q) {
  if (!q.was[0]) return unknown(q);
  if (!fits(q) || q.results.size() != 1) return std::nullopt;
  const std::string gone = reduced_letters(q);
  if (gone.empty()) return std::nullopt;
  const bool keep = flag_of(q, "keepdims"), exclude = flag_of(q, "exclude");
  const Layout& in = *q.given()[0];
  const KnownLayout out = reduced(in, gone, keep);
  if (!out) return std::nullopt;
  if (!q.moved(0)) return LayoutFlow{{&in}, {out}};
  const bool positions = q.op.attrs->find("select_last_index") != nullptr;  // argmax indexes along its axis
  if (positions && (gone.size() != 1 || in.is_split(gone[0])))
    return LayoutFlow{{q.was[0]}, {reduced(*q.was[0], gone, keep)}};
  std::vector<int64_t> axes;
  for (int i = 0; i < in.rank(); ++i)
    if ((gone.find(in.axes()[i].letter) != std::string::npos) != exclude) axes.push_back(i);
  return LayoutFlow{{&in}, {out}, with_field(q, "axis", axes)};
}

/// The mean has the data's layout, with axes of extent 1 where it was reduced.
Flow variance_flow(const LayoutQuery& q) {
  if (q.types.size() != 2 || q.types[1]->rank() != q.types[0]->rank()) return std::nullopt;
  Flow flow = flow_of_data(q, 1, reduce_flow);
  if (flow && flow->inputs[0]) flow->inputs[1] = reduced(*flow->inputs[0], reduced_letters(q), true);
  return flow;
}

/// Inputs that all have the same layout are concatenated in it; split axes only if each input consists of
/// whole blocks.
Flow concatenate_flow(const LayoutQuery& q) {
  const auto known = std::ranges::find_if(q.was, [](KnownLayout layout) { return layout != nullptr; });
  if (known == q.was.end()) return unknown(q);
  const KnownLayout was = *known;
  const bool same = std::ranges::all_of(q.was, [&](KnownLayout layout) { return !layout || layout == was; });
  if (!same || was->rank() != q.types[0]->rank()) return unknown(q);
  const LayoutFlow before{Layouts(q.types.size(), was), {was}};
  const int64_t axis = ints_of(q.attrs->get("axis")).at(0);
  const bool alike =
      !q.now.empty() && std::ranges::all_of(q.now, [&](KnownLayout layout) { return layout == q.now[0]; });
  if (!alike || !q.now[0] || q.now[0] == was) return before;
  const Layout& now = *q.now[0];
  const char letter = letter_at(*was, axis);
  const int at = front_axis(axis, was->rank());
  for (const TensorTypeNode* type : q.types)
    if (type->shape()[at].is_any() || type->shape()[at].value() % now.factor(letter) != 0) return before;
  return LayoutFlow{q.now, {q.now[0]}, with_field(q, "axis", now.find(letter))};
}

Flow split_flow(const LayoutQuery& q) {
  if (!q.was[0]) return unknown(q);
  if (!fits(q)) return std::nullopt;
  const LayoutFlow before{{q.was[0]}, Layouts(q.results.size(), q.was[0])};
  if (!q.moved(0)) return before;
  const Layout& now = *q.now[0];
  const int64_t axis = ints_of(q.attrs->get("axis")).at(0);
  const char letter = letter_at(*q.was[0], axis);
  const int64_t block = now.factor(letter);
  for (const TensorTypeNode* part : q.results) {
    const Dim extent = part->shape()[front_axis(axis, part->rank())];
    if (extent.is_any() || extent.value() % block != 0) return before;
  }
  Ref<AttrsNode> attrs = q.attrs->copy();
  const auto set = [&](const char* name, const AttrValue& value) {
    BATON_CHECK(attrs->schema().find(name)->set(attrs->data(), value), q.op.name + "." + name);
  };
  set("axis", now.find(letter));
  const AttrValue cuts = q.attrs->get("indices_or_sections");
  if (cuts.as<AttrList>()) {
    std::vector<int64_t> at = ints_of(cuts);
    for (int64_t& cut : at) cut /= block;
    set("indices_or_sections", at);
  }
  return LayoutFlow{{q.now[0]}, Layouts(q.results.size(), q.now[0]), attrs};
}

/// The result keeps its original layout for any input layout: axes are found by letter.
Flow transpose_flow(const LayoutQuery& q) {
  if (!q.was[0]) return unknown(q);
  if (!fits(q)) return std::nullopt;
  const Layout& was = *q.was[0];
  std::vector<int64_t> axes = ints_of(q.attrs->get("axes"));
  for (int i = was.rank() - 1; q.attrs->get("axes").is_none() && i >= 0; --i) axes.push_back(i);
  std::string text;
  for (int64_t& axis : axes) {
    axis = front_axis(axis, was.rank());
    text += axis_text(was.axes()[axis], was.axes()[axis].factor);
  }
  const auto out = known_layout(text);
  if (!out) return std::nullopt;
  if (!q.moved(0) || q.now[0]->rank() != was.rank() || was.primal().size() != static_cast<size_t>(was.rank()))
    return LayoutFlow{{q.was[0]}, {out}};
  for (int64_t& axis : axes) axis = q.now[0]->find(was.axes()[axis].letter);
  return LayoutFlow{{q.now[0]}, {out}, with_field(q, "axes", axes)};
}

/// The part of one axis that strided_slice takes.
struct Slice {
  int at;  ///< the axis in the current layout
  int64_t begin, end, stride;
};

/// What a strided_slice says of each axis that it names, or without `axes` of the leading ones. Lists that
/// are too short go on with the whole axis in steps of 1.
class SliceLists {
 public:
  explicit SliceLists(const LayoutQuery& q)
      : begin_(ints_of(q.attrs->get("begin"))),
        end_(ints_of(q.attrs->get("end"))),
        strides_(ints_of(q.attrs->get("strides"))),
        axes_(ints_of(q.attrs->get("axes"))),
        named_(!q.attrs->get("axes").is_none()) {}

  bool named() const { return named_; }
  bool one_stride() const { return strides_.size() <= 1; }
  size_t count() const { return named_ ? axes_.size() : std::max(begin_.size(), end_.size()); }
  /// Whether each named axis has both ends.
  bool complete() const { return !named_ || (begin_.size() == axes_.size() && end_.size() == axes_.size()); }
  int axis(size_t i, int rank) const { return named_ ? front_axis(axes_[i], rank) : static_cast<int>(i); }

  /// The i-th slice in blocks, of an axis of `extent`; nullopt where it does not consist of whole blocks, or
  /// has no end.
  std::optional<Slice> in_blocks(size_t i, int at, Dim extent, int64_t block) const {
    if (i >= end_.size() && extent.is_any()) return std::nullopt;
    int64_t end = i < end_.size() ? end_[i] : extent.value();
    const int64_t begin = i < begin_.size() ? begin_[i] : 0, stride = stride_of(i);
    if (block != 1 && !extent.is_any() && end > extent.value()) end = extent.value();
    if (block != 1 && (stride != 1 || begin % block != 0 || end % block != 0)) return std::nullopt;
    return Slice{at, begin / block, end / block, stride};
  }

 private:
  int64_t stride_of(size_t i) const {
    if (i < strides_.size()) return strides_[i];
    return strides_.size() == 1 && i < count() ? strides_[0] : 1;
  }

  std::vector<int64_t> begin_, end_, strides_, axes_;
  bool named_;
};

/// `q.attrs` with `slices` in the place of its own.
Attrs with_slices(const LayoutQuery& q, const std::vector<Slice>& slices, bool named, bool strides) {
  std::vector<int64_t> begin, end, steps, axes;
  for (const Slice& slice : slices) {
    begin.push_back(slice.begin), end.push_back(slice.end), steps.push_back(slice.stride);
    axes.push_back(slice.at);
  }
  Ref<AttrsNode> attrs = q.attrs->copy();
  const auto set = [&](const char* name, const AttrValue& value) {
    BATON_CHECK(attrs->schema().find(name)->set(attrs->data(), value), q.op.name + "." + name);
  };
  set("begin", begin), set("end", end);
  if (strides) set("strides", steps);
  if (named) set("axes", axes);
  return attrs;
}

bool all_primal(const Layout& layout) { return layout.primal().size() == static_cast<size_t>(layout.rank()); }

/// Slices of split axes must begin and end at block boundaries. Where the axes are in another order and none
/// is named, all of them are listed.
Flow strided_slice_flow(const LayoutQuery& q) {
  if (!q.was[0]) return unknown(q);
  if (!fits(q) || q.types.size() != 1 || q.results.size() != 1) return std::nullopt;
  const LayoutFlow before = as_before(q);
  if (!q.moved(0)) return before;
  const Layout &was = *q.was[0], &now = *q.now[0];
  const SliceLists lists(q);
  if (!lists.complete() || !all_primal(was)) return before;
  const bool reordered = !lists.named() && now.primal() != was.primal();
  const size_t count = reordered ? static_cast<size_t>(was.rank()) : lists.count();
  std::vector<Slice> slices;
  for (size_t i = 0; i < count; ++i) {
    const int axis = lists.axis(i, was.rank());
    const char letter = was.axes()[axis].letter;
    const auto slice = lists.in_blocks(i, now.find(letter), q.types[0]->shape()[axis], now.factor(letter));
    if (!slice) return before;
    slices.push_back(*slice);
  }
  if (!lists.named()) {
    // Without an axes attribute, slices apply to the leading axes.
    std::ranges::sort(slices, {}, &Slice::at);
    for (size_t i = 0; i < slices.size(); ++i)
      if (slices[i].at != static_cast<int>(i)) return before;
  }
  const Attrs attrs = with_slices(q, slices, lists.named(), reordered || !lists.one_stride());
  return LayoutFlow{{q.now[0]}, {q.now[0]}, attrs};
}

/// Both operands have the data's layout; where that of the second is not known, nothing moves.
Flow slice_like_flow(const LayoutQuery& q) {
  if (q.types.size() != 2 || !fits(q, 0) || q.was[0] != q.was[1] || !fits(q, 1)) return unknown(q);
  const LayoutFlow before = as_before(q);
  if (!q.moved(0) || !all_primal(*q.now[0]) || !all_primal(*q.was[0])) return before;
  LayoutFlow flow{{q.now[0], q.now[0]}, {q.now[0]}};
  std::vector<int64_t> axes = ints_of(q.attrs->get("axes"));
  for (int64_t& axis : axes) axis = q.now[0]->find(letter_at(*q.was[0], axis));
  if (!axes.empty()) flow.attrs = with_field(q, "axes", axes);
  return flow;
}

/// Split axes can only be padded by whole blocks.
Flow pad_flow(const LayoutQuery& q) {
  if (!q.was[0]) return unknown(q);
  if (!fits(q)) return std::nullopt;
  LayoutFlow before{Layouts(q.types.size()), {q.was[0]}};
  before.inputs[0] = q.was[0];
  if (!q.moved(0)) return before;
  const Layout &was = *q.was[0], &now = *q.now[0];
  const AttrValue value = q.attrs->get("pad_width");
  const AttrList& widths = *value.as<AttrList>();
  AttrList moved;
  for (const LayoutAxis& axis : now.axes()) {
    const int64_t block = now.factor(axis.letter);
    std::vector<int64_t> width = ints_of(widths.at(was.find(axis.letter)));
    if (!axis.is_primal()) width = {0, 0};
    for (int64_t& each : width) {
      if (each % block != 0) return before;
      each /= block;
    }
    moved.push_back(AttrValue(width));
  }
  LayoutFlow flow{Layouts(q.types.size()), {q.now[0]}, with_field(q, "pad_width", moved)};
  flow.inputs[0] = q.now[0];
  return flow;
}

Flow axis_flow(const LayoutQuery& q) {
  if (!q.was[0]) return unknown(q);
  if (!fits(q)) return std::nullopt;
  const auto flow = [&](KnownLayout layout) {
    LayoutFlow result = unknown(q);
    result.inputs[0] = layout;
    for (size_t i = 0; i < q.results.size(); ++i)
      if (q.results[i]->rank() == q.types[0]->rank()) result.outputs[i] = layout;
    return result;
  };
  if (!q.moved(0)) return flow(q.was[0]);
  const AttrValue named = q.attrs->get("axis");
  std::vector<int64_t> axes = ints_of(named);
  for (int64_t& axis : axes) {
    const char letter = letter_at(*q.was[0], axis);
    if (q.now[0]->is_split(letter)) return flow(q.was[0]);
    axis = q.now[0]->find(letter);
  }
  LayoutFlow result = flow(q.now[0]);
  result.attrs = with_field(q, "axis", named.as<int64_t>() ? AttrValue(axes.at(0)) : AttrValue(axes));
  return result;
}

/// Unit axes are found by letter.
Flow squeeze_flow(const LayoutQuery& q) {
  if (!q.was[0]) return unknown(q);
  if (!fits(q)) return std::nullopt;
  const Layout& was = *q.was[0];
  std::string gone;
  const AttrValue named = q.attrs->get("axis");
  for (int64_t axis : ints_of(named)) gone += letter_at(was, axis);
  for (int i = 0; named.is_none() && i < was.rank(); ++i)
    if (q.types[0]->shape()[i] == Dim(1)) gone += letter_at(was, i);
  if (gone.empty()) return named.is_none() || !q.moved(0) ? as_before(q) : same_flow(q);
  if (gone.size() == static_cast<size_t>(was.rank())) return std::nullopt;
  const bool split =
      std::ranges::any_of(gone, [&](char letter) { return q.given()[0] && q.given()[0]->is_split(letter); });
  const Layout& in = split || !q.given()[0] ? was : *q.given()[0];
  const KnownLayout out = reduced(in, gone, false);
  if (!out) return std::nullopt;
  if (&in == q.was[0]) return LayoutFlow{{&in}, {out}};
  std::vector<int64_t> axes;
  for (char letter : gone) axes.push_back(in.find(letter));
  return LayoutFlow{{&in}, {out}, with_field(q, "axis", axes)};
}

/// Data and result have the layout `layout`; the layout of the regions is irrelevant.
Flow regions_flow(const LayoutQuery& q) {
  const auto data = known_layout(text_of(q, "layout"));
  return data ? Flow(LayoutFlow{{data, nullptr}, {data}}) : std::nullopt;
}

/// Both inputs and the result have the layout `layout`.
Flow pair_flow(const LayoutQuery& q) {
  const auto data = known_layout(text_of(q, "layout"));
  return data ? Flow(LayoutFlow{{data, data}, {data}}) : std::nullopt;
}

Flow quantized_broadcast_flow(const LayoutQuery& q) { return flow_of_data(q, 2, broadcast_flow); }
Flow quantized_concatenate_flow(const LayoutQuery& q) {
  return flow_of_data(q, (q.types.size() - 2) / 3, concatenate_flow);
}

}  // namespace

LayoutFlowRule dense_layout_flow() { return {dense_flow}; }
LayoutFlowRule concatenate_layout_flow() { return {concatenate_flow}; }
LayoutFlowRule split_layout_flow() { return {split_flow}; }
LayoutFlowRule transpose_layout_flow() { return {transpose_flow}; }
LayoutFlowRule strided_slice_layout_flow() { return {strided_slice_flow}; }
LayoutFlowRule pad_layout_flow() { return {pad_flow}; }
LayoutFlowRule axis_layout_flow() { return {axis_flow}; }
LayoutFlowRule same_layout_flow() { return {same_flow}; }
LayoutFlowRule broadcast_layout_flow() { return {broadcast_flow}; }
LayoutFlowRule conv_layout_flow() { return {conv_flow}; }
LayoutFlowRule spatial_layout_flow() { return {spatial_flow}; }
LayoutFlowRule regions_layout_flow() { return {regions_flow}; }
LayoutFlowRule reduce_layout_flow() { return {reduce_flow}; }
LayoutFlowRule squeeze_layout_flow() { return {squeeze_flow}; }
LayoutFlowRule slice_like_layout_flow() { return {slice_like_flow}; }
LayoutFlowRule variance_layout_flow() { return {variance_flow}; }
LayoutFlowRule pair_layout_flow() { return {pair_flow}; }
LayoutFlowRule quantized_broadcast_layout_flow() { return {quantized_broadcast_flow}; }
LayoutFlowRule quantized_concatenate_layout_flow() { return {quantized_concatenate_flow}; }

}  // namespace baton
