#include "baton/codegen/kernel/lower.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <unordered_map>

#include "baton/codegen/kernel/ablation.h"
#include "baton/codegen/kernel/near_steps.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/ops/ieee.h"
#include "baton/ops/run_compute.h"

namespace baton {
namespace {

using Halide::Func;
using Tensors = std::vector<Tensor>;

constexpr int kAlignment = 64;

void require_known(const TensorTypeNode& type) {
  for (const Dim& dim : type.shape())
    if (dim == Dim::any())
      throw NeedsNumbers("a kernel needs to know all extents, not " + type_text(Type(&type)));
}

/// Strides are taken modulo 2^32, as they always were: no kernel reaches what is further away.
Halide::Expr extent_expr(Dim stride) {
  return stride.is_symbolic() ? as_expr(stride) : Halide::Expr(static_cast<int>(stride.value()));
}

/// Sets bounds and dense strides on a buffer in Relay order.
template <class Image>
void fix_layout(Image image, const std::vector<Dim>& dims) {
  const int rank = static_cast<int>(dims.size());
  Dim stride = 1;
  for (int d = 0; d < rank; ++d) {
    const Dim extent = dims[rank - 1 - d];
    image.dim(d).set_bounds(0, extent_expr(extent)).set_stride(extent_expr(stride));
    stride = stride * extent;
  }
  image.set_host_alignment(kAlignment);
}

Func copy_of(const Tensor& from, const std::string& name) {
  const Axes i(from.rank());
  Func copy(name);
  copy(i.reversed()) = from(i.exprs());
  return copy;
}

/// Stands for a tensor without elements: its memory is never read, even where a `select` evaluates both of
/// its values, and no compute has to divide by an extent of 0.
Func zeros_of(const TensorTypeNode& type, const std::string& name) {
  Func zeros(name);
  zeros(Axes(type.rank()).reversed()) = Halide::Internal::make_zero(halide_type(type.dtype()));
  return zeros;
}

/// A scalar constant as an immediate, which Halide folds into its users.
Halide::Expr immediate(const NDArray& value) {
  const Halide::Type type = halide_type(value.dtype());
  const auto of = [&](auto real) {
    return real == 0 && std::signbit(real) ? negative_zero(type) : Halide::Expr(real);
  };
  if (type.is_float() && type.bits() == 64) return of(*static_cast<const double*>(value.data()));
  if (type.is_float() && type.bits() == 32) return of(*static_cast<const float*>(value.data()));
  if (type.is_float() && type.bits() == 16)
    return Halide::reinterpret(type, Halide::Expr(*static_cast<const uint16_t*>(value.data())));
  int64_t number = 0;
  switch (value.dtype().bytes()) {
    case 1:
      number = type.is_int() ? *static_cast<const int8_t*>(value.data())
                             : *static_cast<const uint8_t*>(value.data());
      break;
    case 2:
      number = type.is_int() ? *static_cast<const int16_t*>(value.data())
                             : *static_cast<const uint16_t*>(value.data());
      break;
    case 4:
      number = type.is_int() ? *static_cast<const int32_t*>(value.data())
                             : *static_cast<const uint32_t*>(value.data());
      break;
    default:
      number = *static_cast<const int64_t*>(value.data());
  }
  if (type.is_bool()) number = number != 0;
  return Halide::Internal::make_const(type, number);
}

class Lowering {
 public:
  Lowering(const FunctionNode& function, const LowerOptions& options)
      : function_(function), options_(options) {
    kernel_.name = options.prefix;
    kernel_.extents = static_cast<int>(options.usual.size());
    kernel_.usual = options.usual;
  }

  LoweredKernel run() {
    const std::vector<KernelBlock> blocks = kernel_blocks(function_);
    for (const Var& param : function_.params()) lower_param(param);
    post_order(function_.body(), [&](const Expr& node) { lower_node(node, blocks); });
    make_outputs();
    count_consumers();
    find_anchor();
    return std::move(kernel_);
  }

 private:
  std::string named(const std::string& rest) const { return options_.prefix + "_" + rest; }

  void lower_param(const Var& param) {
    Tensors fields;
    for (const TensorTypeNode* type : flat_types(type_of(*param))) {
      require_known(*type);
      const std::vector<Dim>& shape = type->shape();
      Halide::ImageParam image(halide_type(type->dtype()), type->rank(),
                               named("p" + std::to_string(kernel_.inputs.size())));
      fix_layout(image, shape);
      kernel_.inputs.push_back(image);
      kernel_.input_dims.push_back(shape);
      fields.emplace_back(is_empty(shape) ? zeros_of(*type, image.name() + "__empty") : Func(image), shape,
                          type->dtype());
    }
    values_[param.get()] = std::move(fields);
  }

  void lower_node(const Expr& node, const std::vector<KernelBlock>& blocks) {
    if (as<CallNode>(node)) {
      lower_call(blocks);
    } else if (const auto* constant = as<ConstantNode>(node)) {
      values_[node.get()] = {lower_constant(*constant)};
    } else if (const auto* tuple = as<TupleNode>(node)) {
      Tensors all;
      for (const Expr& field : tuple->fields()) append(all, values_.at(field.get()));
      values_[node.get()] = std::move(all);
    } else if (const auto* item = as<TupleGetItemNode>(node)) {
      const auto& fields = as_type<TupleTypeNode>(item->tuple()->checked_type())->fields();
      size_t first = 0;
      for (int i = 0; i < item->index(); ++i) first += flat_types(fields[i]).size();
      const Tensors& all = values_.at(item->tuple().get());
      values_[node.get()] =
          Tensors(all.begin() + first, all.begin() + first + flat_types(fields[item->index()]).size());
    } else if (as<VarNode>(node)) {
      BATON_CHECK(values_.count(node.get()),
                  "a fused function has a free variable: " + as<VarNode>(node)->name());
    }
  }

  Tensor lower_constant(const ConstantNode& constant) {
    const NDArray& value = constant.value();
    Func func(named("c" + std::to_string(constants_++)));
    if (constant.is_scalar()) {
      func() = immediate(value);
      return Tensor(func, std::vector<Dim>(), value.dtype());
    }
    std::vector<int> extents(value.shape().rbegin(), value.shape().rend());
    const Halide::Buffer<> view(halide_type(value.dtype()), const_cast<void*>(value.data()), extents);
    Halide::Buffer<> held(view.type(), extents, func.name() + "_data");
    std::memcpy(held.data(), value.data(), value.bytes());
    const Axes i(value.ndim());
    const std::vector<Halide::Var> args = i.reversed();
    func(args) = held(std::vector<Halide::Expr>(args.begin(), args.end()));
    return Tensor(func, value.shape(), value.dtype());
  }

  void lower_call(const std::vector<KernelBlock>& blocks) {
    const int index = static_cast<int>(kernel_.blocks.size());
    const KernelBlock& from = blocks.at(index);
    const OpDef& op = *from.call->op();
    if (!op.compute) throw NotSupported("operator " + op.name + " cannot be run: it has no compute");
    OpBlock block;
    block.op = &op;
    block.producers = from.producers;
    std::vector<Type> input_types;
    for (const Expr& arg : from.call->args()) {
      append(block.inputs, values_.at(arg.get()));
      for (const TensorTypeNode* type : flat_types(type_of(arg))) input_types.push_back(Type(type));
    }
    const std::string prefix = named(block_name(blocks, index));
    const std::vector<const TensorTypeNode*> results = flat_types(from.call->checked_type());
    for (const TensorTypeNode* type : results) require_known(*type);
    block.call = with_near_steps(from.call);
    if (std::all_of(results.begin(), results.end(),
                    [](const TensorTypeNode* type) { return is_empty(type->shape()); })) {
      for (const TensorTypeNode* type : results) {
        block.results.push_back(zeros_of(*type, prefix + "__empty" + std::to_string(block.results.size())));
        block.stages.push_back({"empty", block.results.back()});
      }
    } else if (options_.ablate.count(index)) {
      ablate(block, from, prefix, results);
    } else {
      Compute compute(prefix, block.inputs, std::move(input_types), from.call->checked_type());
      run_compute(op, compute, block.call->attrs());
      block.stages = compute.stages();
      block.results = compute.results();
      append(kernel_.never_empty, compute.never_empty());
    }
    BATON_CHECK(block.results.size() == results.size(), op.name + " made " +
                                                            std::to_string(block.results.size()) +
                                                            " values of " + std::to_string(results.size()));
    Tensors made;
    for (size_t i = 0; i < results.size(); ++i) {
      const Func& value = block.results[i];
      BATON_CHECK(value.defined(), op.name + " left a result without definition");
      BATON_CHECK(value.dimensions() == results[i]->rank(), op.name + " made a value of rank " +
                                                                std::to_string(value.dimensions()) + " for " +
                                                                type_text(Type(results[i])));
      BATON_CHECK(value.types().front() == halide_type(results[i]->dtype()),
                  op.name + " made a value of another type than " + type_text(Type(results[i])));
      made.emplace_back(value, results[i]->shape(), results[i]->dtype());
    }
    values_[from.call.get()] = std::move(made);
    kernel_.blocks.push_back(std::move(block));
  }

  void ablate(OpBlock& block, const KernelBlock& from, const std::string& prefix,
              const std::vector<const TensorTypeNode*>& results) {
    BATON_CHECK(!block.inputs.empty(), "an operator without inputs cannot be left out: " + block.op->name);
    for (size_t r = 0; r < results.size(); ++r) {
      const int chosen = passed_on(from, *results[r]);
      const Axes i(results[r]->rank());
      const Halide::Type type = halide_type(results[r]->dtype());
      Halide::Expr value = Halide::cast(type, at(block.inputs[chosen], i, results[r]->shape()));
      for (size_t other = 0; other < block.inputs.size(); ++other) {
        if (static_cast<int>(other) == chosen || block.producers[other] < 0) continue;
        value = keep_alive(value, at(block.inputs[other], i, results[r]->shape()));
      }
      Func func(prefix + "__ablated" + (r ? std::to_string(r) : ""));
      func(i.reversed()) = value;
      block.stages.push_back({"ablated", func});
      block.results.push_back(func);
    }
  }

  /// `from` broadcast to position `i` of a tensor of shape `extents`: trailing axes match, unit axes repeat.
  static Halide::Expr at(const Tensor& from, const Axes& i, const std::vector<Dim>& extents) {
    const int rank = static_cast<int>(extents.size());
    std::vector<Halide::Expr> index(from.rank(), Halide::Expr(0));
    for (int back = 1; back <= std::min(rank, from.rank()); ++back) {
      const Dim have = from.dim(from.rank() - back), want = extents[rank - back];
      if (have == 1) continue;
      const Halide::Expr position = i[rank - back];
      const bool enough = have == want || (!have.is_any() && !want.is_any() && have.value() >= want.value());
      index[from.rank() - back] = enough ? position : position % as_expr(have);
    }
    return from(index);
  }

  /// `value`, changed imperceptibly so that it depends on `other`: keeps the computation of `other` from
  /// being eliminated.
  static Halide::Expr keep_alive(const Halide::Expr& value, const Halide::Expr& other) {
    if (value.type().is_float())
      return value + Halide::cast(value.type(), Halide::cast<float>(other) * 1e-30f);
    const Halide::Expr never = Halide::cast<double>(other) == Halide::Expr(1.2345678e300);
    return Halide::select(never, Halide::cast(value.type(), 0), value);
  }

  void make_outputs() {
    std::set<std::string> taken;
    const Tensors& values = values_.at(function_.body().get());
    const std::unordered_map<std::string, std::vector<OpBlock*>> makers = makers_of_results();
    for (size_t i = 0; i < values.size(); ++i) {
      Tensor value = values[i];
      if (!makers.count(value.func().name()) || !taken.insert(value.func().name()).second)
        value =
            Tensor(copy_of(value, named("o" + std::to_string(i) + "__copy")), value.dims(), value.dtype());
      const std::vector<Halide::Var> args = value.func().args();
      Func func = value.func();
      for (int d = 0; d < value.rank(); ++d)
        func.bound(args[d], 0, extent_expr(value.dim(value.rank() - 1 - d)));
      fix_layout(func.output_buffer(), value.dims());
      kernel_.outputs.push_back(std::move(value));
    }
  }

  /// The blocks that have each Func as a result.
  std::unordered_map<std::string, std::vector<OpBlock*>> makers_of_results() {
    std::unordered_map<std::string, std::vector<OpBlock*>> makers;
    for (OpBlock& block : kernel_.blocks)
      for (const Func& result : block.results) makers[result.name()].push_back(&block);
    return makers;
  }

  void count_consumers() {
    for (const OpBlock& block : kernel_.blocks)
      for (int producer : std::set<int>(block.producers.begin(), block.producers.end()))
        if (producer >= 0) ++kernel_.blocks[producer].consumers;
    const std::unordered_map<std::string, std::vector<OpBlock*>> makers = makers_of_results();
    for (const Tensor& output : values_.at(function_.body().get()))
      if (const auto maker = makers.find(output.func().name()); maker != makers.end())
        for (OpBlock* block : maker->second) ++block->consumers;
  }

  void find_anchor() {
    for (size_t i = 0; i < kernel_.blocks.size(); ++i) {
      const Fuse fuse = kernel_.blocks[i].op->fuse;
      if (fuse < Fuse::kCommReduce || fuse == Fuse::kTuple || options_.ablate.count(static_cast<int>(i)))
        continue;
      if (kernel_.anchor < 0 || kernel_.blocks[kernel_.anchor].op->fuse <= fuse)
        kernel_.anchor = static_cast<int>(i);
    }
  }

  template <class T>
  static void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  const FunctionNode& function_;
  const LowerOptions& options_;
  LoweredKernel kernel_;
  std::unordered_map<const ExprNode*, Tensors> values_;
  int constants_ = 0;
};

}  // namespace

LoweredKernel lower(const FunctionNode& function, const LowerOptions& options) {
  const FusedMultiplyAdd fused(options.fused_multiply_add);
  return Lowering(function, options).run();
}

}  // namespace baton
