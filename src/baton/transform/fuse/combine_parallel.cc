// Combines parallel operators into one (parallel_branches.h):
//   CombineParallelConv2D       weights concatenated along the output channels; branches are slices
//   CombineParallelDense        to_batch: stacked into one batch_matmul; else weights concatenated
//   CombineParallelBatchMatmul  weights concatenated along the columns
#include <algorithm>

#include "baton/ir/build.h"
#include "baton/ir/layout.h"
#include "baton/ir/op_names.h"
#include "baton/ir/rules/algebra.h"
#include "baton/pass/pass.h"
#include "baton/transform/fuse/parallel_branches.h"

namespace baton {

namespace {

Expr structure(std::vector<Expr> fields) {
  return make_tuple(std::move(fields), NodeInfo(OriginSet::none()));
}

Expr concatenate(std::vector<Expr> fields, int axis) {
  return call_op("concatenate", {structure(std::move(fields))}, {{"axis", axis}});
}

int64_t extent(const Expr& expr, int axis) { return static_type_of(expr)->extents()[axis]; }

/// Slices of `joined` along `axis`, one per branch, of the extent of its result.
std::vector<Expr> slices(const std::vector<Branch>& branches, const Expr& joined, int axis) {
  std::vector<Expr> parts;
  int64_t from = 0;
  for (const Branch& branch : branches) {
    const int64_t size = extent(Expr(branch[0]), axis);
    std::vector<int64_t> begin(axis + 1, 0), end(axis + 1, -1), strides(axis + 1, 1);
    begin[axis] = from;
    end[axis] = size;
    from += size;
    parts.push_back(call_op("strided_slice", {joined},
                            {{"begin", begin}, {"end", end}, {"strides", strides}, {"slice_mode", "size"}}));
  }
  return parts;
}

/// The sum of all branches' extents along `axis`.
int64_t total(const std::vector<Branch>& branches, int axis) {
  int64_t sum = 0;
  for (const Branch& branch : branches) sum += extent(Expr(branch[0]), axis);
  return sum;
}

/// Whether arguments can be concatenated along `axis` of the results: equal in the other axes, and not
/// broadcast along it.
bool concatenable(const CallNode& a, const CallNode& b, size_t index, int axis) {
  const TensorTypeNode *x = static_type_of(a.args()[index]), *y = static_type_of(b.args()[index]);
  const auto *out_a = as_type<TensorTypeNode>(a.checked_type()),
             *out_b = as_type<TensorTypeNode>(b.checked_type());
  if (!x || !y || !out_a || !out_b || x->dtype() != y->dtype() || x->rank() != y->rank()) return false;
  const int here = axis - (out_a->rank() - x->rank());
  if (here < 0) return false;
  for (int i = 0; i < x->rank(); ++i) {
    if (i == here && (!(x->shape()[i] == out_a->shape()[axis]) || !(y->shape()[i] == out_b->shape()[axis])))
      return false;
    if (i != here && !(x->shape()[i] == y->shape()[i])) return false;
  }
  return true;
}

/// Concatenates arguments of the calls after the heads along `axis` of the calls' results.
Expr concatenate_arguments(const Branch& calls, size_t index, const std::vector<Expr>& args, int axis) {
  const int rank = as_type<TensorTypeNode>(calls[0]->checked_type())->rank();
  return concatenate(args, axis - (rank - static_type_of(calls[0]->args()[index])->rank()));
}

/// Whether the weights of `a` and `b` have the same shape except along `axis`.
bool same_but(const CallNode& a, const CallNode& b, int axis) {
  const TensorTypeNode *x = static_type_of(a.args()[1]), *y = static_type_of(b.args()[1]);
  if (x->dtype() != y->dtype() || x->rank() != y->rank()) return false;
  for (int i = 0; i < x->rank(); ++i)
    if (i != axis && !(x->shape()[i] == y->shape()[i])) return false;
  return true;
}

bool is_static(const CallNode& call) {
  const auto* type = as_type<TensorTypeNode>(call.checked_type());
  return type && type->is_static() && static_type_of(call.args()[0]) && static_type_of(call.args()[1]);
}

int channel_axis(const CallNode& conv, const char* attr, char letter) {
  std::string layout = text_attr(conv, attr);
  if (layout.empty()) layout = text_attr(conv, "data_layout");
  const auto parsed = Layout::parse(layout);
  return parsed && !parsed->is_split(letter) ? parsed->find(letter) : -1;
}

/// Branches are concatenated along `axis`: so are the arguments, and branch results are slices.
ParallelKind sliced_kind(std::string op, std::function<int(const CallNode&)> axis) {
  ParallelKind kind;
  kind.op = std::move(op);
  kind.axis = axis;
  kind.arguments_fit = concatenable;
  kind.join_arguments = concatenate_arguments;
  kind.vectors_fit = [](const CallNode& a, const CallNode& b, size_t index, int along, int axis) {
    const TensorTypeNode *x = static_type_of(a.args()[index]), *y = static_type_of(b.args()[index]);
    return x && y && along == axis && x->dtype() == y->dtype();
  };
  kind.join_vectors = [](const Branch&, const std::vector<Expr>& args, int) { return concatenate(args, 0); };
  kind.parts = [axis](const std::vector<Branch>& branches, const Expr& joined) {
    return slices(branches, joined, axis(*branches[0][0]));
  };
  return kind;
}

ParallelKind conv2d_kind() {
  const auto axis = [](const CallNode& conv) { return channel_axis(conv, "out_layout", 'C'); };
  ParallelKind kind = sliced_kind(op_names::kConv2D, axis);
  kind.supports = [axis](const CallNode& call) {
    return is_static(call) && int_attr(call, "groups") == 1 && axis(call) >= 0 &&
           channel_axis(call, "kernel_layout", 'O') >= 0;
  };
  kind.fit = [](const CallNode& a, const CallNode& b) {
    const NamedAttrs free = {{"channels", AttrValue()}};
    return same_attrs(with_fields(a.attrs(), free), with_fields(b.attrs(), free)) &&
           same_but(a, b, channel_axis(a, "kernel_layout", 'O'));
  };
  kind.join_heads = [axis](const std::vector<Branch>& branches, const Expr& data,
                           const std::vector<Expr>& weights) -> Expr {
    const CallNode& first = *branches[0][0];
    const Expr weight = concatenate(weights, channel_axis(first, "kernel_layout", 'O'));
    return call_expr(first.callee(), {data, weight},
                     with_fields(first.attrs(), {{"channels", total(branches, axis(first))}}));
  };
  return kind;
}

/// Whether `arg` of a call is broadcast along axis `axis` of the call's result by an extent of 1.
bool repeats_along(const CallNode& call, size_t index, int axis) {
  const TensorTypeNode* type = static_type_of(call.args()[index]);
  const auto* out = as_type<TensorTypeNode>(call.checked_type());
  if (!type || !out) return false;
  const int here = axis - (out->rank() - type->rank());
  return here >= 0 && type->shape()[here] == Dim(1) && !(out->shape()[axis] == Dim(1));
}

/// The same as concatenable(), where arguments of extent 1 along `axis` are repeated first.
bool concatenable_repeated(const CallNode& a, const CallNode& b, size_t index, int axis) {
  if (!repeats_along(a, index, axis) || !repeats_along(b, index, axis))
    return concatenable(a, b, index, axis);
  const TensorTypeNode *x = static_type_of(a.args()[index]), *y = static_type_of(b.args()[index]);
  return x->dtype() == y->dtype() && x->shape() == y->shape();
}

ParallelKind flat_dense_kind() {
  const auto axis = [](const CallNode& dense) {
    return as_type<TensorTypeNode>(dense.checked_type())->rank() - 1;
  };
  ParallelKind kind = sliced_kind(op_names::kDense, axis);
  kind.arguments_fit = concatenable_repeated;
  kind.join_arguments = [](const Branch& calls, size_t index, std::vector<Expr> args, int axis) {
    const int rank = as_type<TensorTypeNode>(calls[0]->checked_type())->rank();
    const int here = axis - (rank - static_type_of(calls[0]->args()[index])->rank());
    for (size_t i = 0; i < args.size(); ++i)
      if (repeats_along(*calls[i], index, axis))
        args[i] = call_op("repeat", {args[i]}, {{"repeats", extent(Expr(calls[i]), axis)}, {"axis", here}});
    return concatenate_arguments(calls, index, args, axis);
  };
  kind.supports = is_static;
  kind.fit = [](const CallNode& a, const CallNode& b) {
    return dtype_attr(a, "out_dtype") == dtype_attr(b, "out_dtype") && same_but(a, b, 0);
  };
  kind.join_heads = [axis](const std::vector<Branch>& branches, const Expr& data,
                           const std::vector<Expr>& weights) -> Expr {
    const CallNode& first = *branches[0][0];
    return call_expr(first.callee(), {data, concatenate(weights, 0)},
                     with_fields(first.attrs(), {{"units", total(branches, axis(first))}}));
  };
  return kind;
}

ParallelKind batch_matmul_kind() {
  ParallelKind kind = sliced_kind(op_names::kBatchMatmul, [](const CallNode&) { return 2; });
  const auto weight_axis = [](const CallNode& call) { return bool_attr(call, "transpose_b") ? 1 : 2; };
  kind.supports = is_static;
  kind.fit = [weight_axis](const CallNode& a, const CallNode& b) {
    return same_attrs(a.attrs(), b.attrs()) && same_but(a, b, weight_axis(a));
  };
  kind.join_heads = [weight_axis](const std::vector<Branch>& branches, const Expr& data,
                                  const std::vector<Expr>& weights) -> Expr {
    const CallNode& first = *branches[0][0];
    return call_expr(first.callee(), {data, concatenate(weights, weight_axis(first))}, first.attrs());
  };
  return kind;
}

Expr stack(std::vector<Expr> fields) {
  return call_op("stack", {structure(std::move(fields))}, {{"axis", 0}});
}

/// Dense layers of equal shape become one batch_matmul: a new leading axis indexes the branches.
ParallelKind stacked_dense_kind() {
  ParallelKind kind;
  kind.op = op_names::kDense;
  kind.axis = [](const CallNode&) { return 0; };
  kind.supports = [](const CallNode& call) {
    return is_static(call) && static_type_of(call.args()[0])->rank() == 2;
  };
  kind.fit = [](const CallNode& a, const CallNode& b) {
    return dtype_attr(a, "out_dtype") == dtype_attr(b, "out_dtype") && same_but(a, b, -1);
  };
  kind.arguments_fit = [](const CallNode& a, const CallNode& b, size_t index, int) {
    return static_type_of(a.args()[index]) &&
           same_type(a.args()[index]->checked_type(), b.args()[index]->checked_type());
  };
  // The new axis makes tensors that broadcast of vectors, which takes an operator that broadcasts.
  kind.vectors_broadcast = true;
  kind.vectors_fit = [](const CallNode& a, const CallNode& b, size_t index, int, int) {
    return !a.op()->rules.get<AlongAxis>()->broadcasting.empty() && static_type_of(a.args()[index]) &&
           same_type(a.args()[index]->checked_type(), b.args()[index]->checked_type());
  };
  kind.join_vectors = [](const Branch& calls, const std::vector<Expr>& args, int along) {
    const int rank = as_type<TensorTypeNode>(calls[0]->checked_type())->rank();
    std::vector<Expr> wide;
    for (const Expr& arg : args) {
      const Expr spread = expand_to_axis(arg, rank, along);
      wide.push_back(along == 0 ? spread
                                : call_op("expand_dims", {spread}, {{"axis", 0}, {"num_newaxis", along}}));
    }
    return stack(std::move(wide));
  };
  kind.join_heads = [](const std::vector<Branch>& branches, const Expr& data,
                       const std::vector<Expr>& weights) -> Expr {
    const Expr left = stack(std::vector<Expr>(branches.size(), data)), right = stack(weights);
    return call_op(op_names::kBatchMatmul, {left, right},
                   {{"out_dtype", dtype_attr(*branches[0][0], "out_dtype")}, {"transpose_b", true}});
  };
  kind.join_arguments = [](const Branch& calls, size_t index, const std::vector<Expr>& args, int) {
    // Broadcasting aligns trailing axes: arguments of lower rank get unit axes before the new leading axis is
    // added.
    const int missing = as_type<TensorTypeNode>(calls[0]->checked_type())->rank() -
                        static_type_of(calls[0]->args()[index])->rank();
    std::vector<Expr> wide;
    for (const Expr& arg : args)
      wide.push_back(missing == 0 ? arg
                                  : call_op("expand_dims", {arg}, {{"axis", 0}, {"num_newaxis", missing}}));
    return stack(std::move(wide));
  };
  kind.parts = [](const std::vector<Branch>& branches, const Expr& joined) {
    const Expr split = call_op("split", {joined},
                               {{"indices_or_sections", static_cast<int64_t>(branches.size())}, {"axis", 0}});
    std::vector<Expr> parts;
    for (size_t i = 0; i < branches.size(); ++i)
      parts.push_back(
          call_op("squeeze", {get_item(split, static_cast<int>(i))}, {{"axis", std::vector<int64_t>{0}}}));
    return parts;
  };
  return kind;
}

Pass combine(std::string name, ParallelKind kind, int64_t least) {
  return function_pass(
      {4, std::move(name), {"InferType"}},
      [kind = std::move(kind), least](const Function& function, const IRModule&, const PassContext&) {
        return join_parallel(function, kind, static_cast<size_t>(least));
      });
}

int64_t least_of(PassArgReader& reader) { return reader.integer("min_num_branches", 3, 1); }

}  // namespace

Pass combine_parallel_conv2d(const PassArgs& args) {
  PassArgReader reader("CombineParallelConv2D", args);
  const int64_t least = least_of(reader);
  reader.finish();
  return combine("CombineParallelConv2d", conv2d_kind(), least);
}

Pass combine_parallel_dense(const PassArgs& args) {
  PassArgReader reader("CombineParallelDense", args);
  const int64_t least = least_of(reader);
  const bool to_batch = reader.flag("to_batch", true);
  reader.finish();
  return combine("CombineParallelDense", to_batch ? stacked_dense_kind() : flat_dense_kind(), least);
}

Pass combine_parallel_batch_matmul(const PassArgs& args) {
  PassArgReader reader("CombineParallelBatchMatmul", args);
  const int64_t least = least_of(reader);
  reader.finish();
  return combine("CombineParallelBatchMatmul", batch_matmul_kind(), least);
}

Pass batching_ops() {
  return sequential(
      {combine_parallel_conv2d({}), combine_parallel_dense({}), combine_parallel_batch_matmul({})});
}

}  // namespace baton
