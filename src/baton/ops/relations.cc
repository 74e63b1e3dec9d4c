#include "baton/ops/relations.h"

#include <algorithm>

namespace baton {

namespace {

constexpr DiagnosticDef kDtypesDiffer{"E0213", "the element types of `{0}` differ: {1} and {2}",
                                      "convert one side with `cast`"};
constexpr DiagnosticDef kCannotBroadcast{"E0214", "cannot broadcast {0} with {1}",
                                         "axis {2} must be equal on both sides, or 1 on one of them"};
constexpr DiagnosticDef kAxisRange{"E0203", "axis {0} is out of range for {1}", "it must lie in {2}..{3}"};
constexpr DiagnosticDef kRank{"E0215", "a tensor with {0} axes is needed here, got {1}"};
constexpr DiagnosticDef kAttrCount{"E0216", "attribute `{0}` needs {1} values, got {2}"};
constexpr DiagnosticDef kAttrValue{"E0217", "attribute `{0}` is {1}: {2}"};
constexpr DiagnosticDef kArgument{"E0218", "{0}"};
constexpr DiagnosticDef kNeedsTuple{"E0220", "`{0}` needs a tuple of one or more tensors, got {1}"};
constexpr DiagnosticDef kLayout{"E0219",
                                "attribute `{0}` is \"{1}\": a layout with the axes of {2} is needed"};

}  // namespace

RelationStatus identity_relation(RelationContext& ctx) { return ctx.assign_result(ctx.input(0)); }

RelationStatus broadcast_relation(RelationContext& ctx, DType result_dtype) {
  const TensorTypeNode* a = ctx.tensor(0);
  const TensorTypeNode* b = ctx.tensor(1);
  if (!a || !b) return kDefer;
  if (a->dtype() != b->dtype())
    return ctx.fail(kDtypesDiffer, {ctx.op_name(), a->dtype().str(), b->dtype().str()});
  if (a->shape() == b->shape() && (result_dtype.is_void() || result_dtype == a->dtype()))
    return ctx.assign_result(ctx.input(0));
  int axis = 0;
  const auto shape = broadcast_shapes(a->shape(), b->shape(), &axis);
  if (!shape)
    return ctx.fail(kCannotBroadcast,
                    {type_text(ctx.input(0)), type_text(ctx.input(1)), std::to_string(axis)});
  return ctx.assign_result(tensor_type(*shape, result_dtype.is_void() ? a->dtype() : result_dtype));
}

RelationStatus same_shape_relation(RelationContext& ctx, DType result_dtype) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  return ctx.assign_result(tensor_type(data->shape(), result_dtype));
}

std::optional<std::vector<Dim>> broadcast_shapes(const std::vector<Dim>& a, const std::vector<Dim>& b,
                                                 int* axis) {
  const std::vector<Dim>& longer = a.size() >= b.size() ? a : b;
  const std::vector<Dim>& shorter = a.size() >= b.size() ? b : a;
  std::vector<Dim> result = longer;
  const size_t lead = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    Dim& dim = result[lead + i];
    const Dim other = shorter[i];
    if (dim == other || other == Dim(1)) continue;
    if (dim == Dim(1) || (dim.is_any() && !dim.is_symbolic())) {
      dim = other;
    } else if (!other.is_any() || other.is_symbolic()) {
      if (axis) *axis = static_cast<int>(lead + i);
      return std::nullopt;
    }
  }
  return result;
}

std::optional<int> checked_axis(RelationContext& ctx, int64_t axis, int rank, int arg) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  ctx.fail(kAxisRange,
           {std::to_string(axis), type_text(ctx.input(arg)), std::to_string(-rank), std::to_string(rank - 1)},
           arg);
  return std::nullopt;
}

bool check_rank(RelationContext& ctx, const TensorTypeNode& tensor, int rank, int arg) {
  if (tensor.rank() == rank) return true;
  ctx.fail(kRank, {std::to_string(rank), type_text(ctx.input(arg))}, arg);
  return false;
}

bool check_extent(RelationContext& ctx, const TensorTypeNode& tensor, int axis, Dim want, int arg,
                  const std::string& what) {
  if (may_equal(tensor.shape()[axis], want)) return true;
  fail_arg(ctx, arg,
           what + " is needed: extent " + extent_text(want) + " of axis " + std::to_string(axis) + ", got " +
               type_text(ctx.input(arg)));
  return false;
}

bool check_shape(RelationContext& ctx, const TensorTypeNode& tensor, const std::vector<Dim>& want, int arg,
                 const std::string& what) {
  if (std::ranges::equal(tensor.shape(), want, may_equal)) return true;
  fail_arg(ctx, arg, what + " is needed: shape " + shape_text(want) + ", got " + type_text(ctx.input(arg)));
  return false;
}

bool check_broadcasts(RelationContext& ctx, const TensorTypeNode& tensor, const std::vector<Dim>& want,
                      int arg, const std::string& what) {
  const std::vector<Dim>& shape = tensor.shape();
  bool fits = shape.size() <= want.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = may_equal(shape[i], 1) || may_equal(shape[i], want[want.size() - shape.size() + i]);
  if (!fits)
    fail_arg(ctx, arg,
             what + " is needed: a shape that broadcasts to " + shape_text(want) + ", got " +
                 type_text(ctx.input(arg)));
  return fits;
}

bool check_integers(RelationContext& ctx, const TensorTypeNode& tensor, int arg) {
  if (tensor.dtype().is_int() || tensor.dtype().is_uint()) return true;
  fail_arg(ctx, arg, "integers are needed, got " + type_text(ctx.input(arg)));
  return false;
}

namespace {

bool counted(RelationContext& ctx, const char* name, size_t seen, size_t count) {
  if (seen == count) return true;
  ctx.fail(kAttrCount, {name, std::to_string(count), std::to_string(seen)});
  return false;
}

}  // namespace

bool check_count(RelationContext& ctx, const char* name, const std::vector<int64_t>& values, size_t count) {
  return counted(ctx, name, values.size(), count);
}
bool check_count(RelationContext& ctx, const char* name, const std::vector<double>& values, size_t count) {
  return counted(ctx, name, values.size(), count);
}

bool check_least(RelationContext& ctx, const char* name, std::span<const int64_t> values, int64_t least) {
  for (int64_t value : values) {
    if (value >= least) continue;
    fail_attr(ctx, name, std::to_string(value), "it must be at least " + std::to_string(least));
    return false;
  }
  return true;
}

RelationStatus fail_attr(RelationContext& ctx, const char* name, const std::string& value,
                         const std::string& why) {
  return ctx.fail(kAttrValue, {name, value, why});
}
RelationStatus fail_arg(RelationContext& ctx, int arg, const std::string& why) {
  return ctx.fail(kArgument, {why}, arg);
}

std::vector<const TensorTypeNode*> tensor_fields(RelationContext& ctx, int arg, bool* failed) {
  const Type input = ctx.input(arg);
  *failed = false;
  if (input->kind() == TypeKind::kIncomplete) return {};
  std::vector<const TensorTypeNode*> fields;
  if (const auto* tuple = as_type<TupleTypeNode>(input)) {
    for (const Type& field : tuple->fields()) {
      if (field->kind() == TypeKind::kIncomplete) return {};
      if (const auto* tensor = as_type<TensorTypeNode>(field)) fields.push_back(tensor);
    }
    if (!fields.empty() && fields.size() == tuple->fields().size()) return fields;
  }
  ctx.fail(kNeedsTuple, {ctx.op_name(), type_text(input)}, arg);
  *failed = true;
  return {};
}

std::optional<Layout> checked_layout(RelationContext& ctx, const char* name, const std::string& text,
                                     const char* canonical) {
  std::optional<Layout> layout = Layout::parse(text);
  if (layout && layout->convertible(*Layout::parse(canonical))) return layout;
  ctx.fail(kLayout, {name, text, canonical});
  return std::nullopt;
}

bool check_in_layout(RelationContext& ctx, const TensorTypeNode& tensor, const Layout& layout, int arg) {
  if (!check_rank(ctx, tensor, layout.rank(), arg)) return false;
  for (int axis = 0; axis < layout.rank(); ++axis) {
    const LayoutAxis& each = layout.axes()[axis];
    if (!each.is_primal() &&
        !check_extent(ctx, tensor, axis, each.factor, arg, "a block of layout " + layout.str()))
      return false;
  }
  return true;
}

bool may_equal(Dim a, Dim b) {
  if (!a.is_any() && !b.is_any()) return a == b;
  const Dim difference = a - b;
  return difference.is_any() || difference.value() == 0;
}

Dim times(Dim a, Dim b) {
  if (a.is_any() || b.is_any()) return a * b;
  int64_t all = 0;
  return __builtin_mul_overflow(a.value(), b.value(), &all) ? Dim(INT64_MAX) : Dim(all);
}

Dim product(std::span<const Dim> dims) {
  Dim all = 1;
  for (const Dim& dim : dims) all = times(all, dim);
  return all;
}

std::string shape_text(const std::vector<Dim>& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + extent_text(shape[i]);
  return text + ")";
}

}  // namespace baton
