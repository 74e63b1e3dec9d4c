// Converts products with mostly zero weights to products with sparse matrices: data, column indices and row
// starts. Weights are named parameters, replaced by new parameters, or constants, which are converted.
//   nn.dense(x, %w)  ->  nn.sparse_dense(x, %w.data, %w.indices, %w.indptr)
//   nn.dense(x, transpose(%w))  ->  nn.dense(x, %w.T)        (SimplifyFCTranspose)
#include <algorithm>
#include <map>
#include <optional>

#include "baton/ir/build.h"
#include "baton/ir/op_names.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/support/log.h"
#include "baton/transform/sparse/sparse_matrix.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

using Shapes = std::vector<std::vector<int64_t>>;  // of data, indices and row starts
using WeightShapes = std::map<std::string, Shapes>;

/// Replaces parameters; new parameters come after those still used.
class WeightRewriter : public Rewriter {
 public:
  Function run_on(const Function& function) {
    const auto result = as_ref<FunctionNode>(run(Expr(function)));
    if (made_.empty()) return result;
    PointerSet used;
    post_order(result->body(), [&](const Expr& node) { used.insert(node.get()); });
    std::vector<Var> params;
    for (const Var& param : result->params())
      if (used.contains(param.get())) params.push_back(param);
    params.insert(params.end(), made_.begin(), made_.end());
    return make_function(std::move(params), result->body(), result->ret_type(), result->attrs(),
                         result->with_type({}), result->type_params());
  }

 protected:
  Expr param(const std::string& name, const std::vector<int64_t>& shape, DType dtype) {
    Var& var = by_name_[name];
    if (!var) {
      var = make_var(name, tensor_type(shape, dtype), NodeInfo(OriginSet::none()));
      made_.push_back(var);
    }
    return var;
  }
  /// The parameters data, indices and row starts of the weight `name`.
  std::vector<Expr> sparse_params(const std::string& name, const Shapes& shapes, DType dtype) {
    const DType index = DType::int_(32);
    return {param(name + ".data", shapes[0], dtype), param(name + ".indices", shapes[1], index),
            param(name + ".indptr", shapes[2], index)};
  }

 private:
  std::map<std::string, Var> by_name_;
  std::vector<Var> made_;
};

std::vector<Expr> with_data(const Expr& data, std::vector<Expr> weight) {
  weight.insert(weight.begin(), data);
  return weight;
}

class DenseRewriter final : public WeightRewriter {
 public:
  explicit DenseRewriter(const WeightShapes& weights) : weights_(weights) {}

 private:
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const CallNode* dense = call_of(rebuilt, op_names::kDense);
    const auto* weight = dense ? as<VarNode>(dense->args()[1]) : nullptr;
    const auto at = weight ? weights_.find(weight->name()) : weights_.end();
    if (at == weights_.end()) return rebuilt;
    const TensorTypeNode* type = tensor_type_of(dense->args()[1]);
    return call_op("nn.sparse_dense",
                   with_data(dense->args()[0],
                             sparse_params(at->first, at->second, type ? type->dtype() : DType::float_(32))));
  }
  const WeightShapes& weights_;
};

struct SparseConv {
  std::string layout;
  int64_t kernel_size;

  /// Why nn.sparse_conv2d cannot replace `conv`; empty when it can. It preserves the extents of its data.
  std::string refusal(const CallNode& conv) const {
    const auto all = [&](const char* name, int64_t value) {
      return std::ranges::all_of(ints_attr(conv, name), [&](int64_t each) { return each == value; });
    };
    if (text_attr(conv, "data_layout") != layout)
      return "its data is in " + text_attr(conv, "data_layout") + ", not in " + layout;
    if (int_attr(conv, "groups") != 1) return "it has groups";
    const TensorTypeNode* weight = static_type_of(conv.args()[1]);
    const std::string kernel = text_attr(conv, "kernel_layout");
    if (!weight || kernel.size() != 4 || weight->rank() != 4) return "its kernel's shape is not known";
    for (const char axis : {'H', 'W'})
      if (weight->extents()[kernel.find(axis)] != kernel_size)
        return "its kernel is not " + std::to_string(kernel_size) + " x " + std::to_string(kernel_size);
    if (!all("strides", 1) || !all("dilation", 1) || !all("padding", (kernel_size - 1) / 2))
      return "its result has other extents than its data, or it is dilated";
    return "";
  }
  Expr call(const CallNode& conv, std::vector<Expr> weight) const {
    return call_op("nn.sparse_conv2d", with_data(conv.args()[0], std::move(weight)),
                   {{"layout", layout}, {"kernel_size", std::vector<int64_t>{kernel_size, kernel_size}}});
  }
};

void log_refusal(const CallNode& conv, const std::string& why) {
  const std::string at = " at line " + std::to_string(conv.span().line);
  log_line((conv.span() ? op_names::kConv2D + at : place_of(conv)) + " stays dense: " + why);
}

class ConvRewriter final : public WeightRewriter {
 public:
  ConvRewriter(const WeightShapes& weights, const SparseConv& conv) : weights_(weights), conv_(conv) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const CallNode* conv = call_of(rebuilt, op_names::kConv2D);
    const auto* weight = conv ? as<VarNode>(conv->args()[1]) : nullptr;
    const auto at = weight ? weights_.find(weight->name()) : weights_.end();
    if (at == weights_.end()) return rebuilt;
    if (const std::string why = conv_.refusal(*as<CallNode>(original)); !why.empty()) {
      log_refusal(*conv, why);
      return rebuilt;
    }
    const TensorTypeNode* type = tensor_type_of(conv->args()[1]);
    return conv_.call(*conv, sparse_params(at->first, at->second, type->dtype()));
  }
  const WeightShapes& weights_;
  const SparseConv& conv_;
};

// The constants of `sparse`, with the origins of the operators that computed the weight, if any.
std::vector<Expr> parts_of(const SparseMatrix& sparse, const OriginSet& computed_by) {
  std::optional<OriginScope> scope;
  if (!computed_by.origins().empty()) scope.emplace(computed_by);
  return {constant(sparse.data), constant(sparse.indices), constant(sparse.row_starts)};
}

class ConstantConvRewriter final : public Rewriter {
 public:
  ConstantConvRewriter(const SparseConv& conv, std::vector<int64_t> block, double sparsity)
      : conv_(conv), block_(std::move(block)), sparsity_(sparsity) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const CallNode* conv = call_of(rebuilt, op_names::kConv2D);
    const auto* weight = conv ? as<ConstantNode>(conv->args()[1]) : nullptr;
    if (!weight) return rebuilt;
    std::string why = conv_.refusal(*as<CallNode>(original));
    if (why.empty() && weight->value().dtype() != DType::float_(32))
      why = "its weights are " + weight->value().dtype().str() + ", not float32";
    if (why.empty()) {
      const std::string layout = text_attr(*conv, "kernel_layout");
      const DenseMatrix matrix = output_by_input(weight->value(), layout.find('O'), layout.find('I'));
      const double zeros = share_of_zeros(matrix);
      if (zeros < sparsity_)
        why = "only " + std::to_string(static_cast<int>(zeros * 100)) + "% of its weights are zero";
      else if (matrix.rows % block_[0] != 0 || matrix.columns % block_[1] != 0)
        why = "its channels are no multiples of the block";
      if (why.empty()) {
        return conv_.call(*conv, parts_of(block_sparse(matrix, block_[0], block_[1]), weight->origins()));
      }
    }
    log_refusal(*conv, why);
    return rebuilt;
  }
  const SparseConv& conv_;
  std::vector<int64_t> block_;
  double sparsity_;
};

class TransposeRewriter final : public WeightRewriter {
 public:
  explicit TransposeRewriter(const std::vector<std::string>& weights) : weights_(weights) {}

 private:
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const CallNode* dense = call_of(rebuilt, op_names::kDense);
    const CallNode* transpose = dense ? call_of(dense->args()[1], "transpose") : nullptr;
    const auto* weight = transpose ? as<VarNode>(transpose->args()[0]) : nullptr;
    const TensorTypeNode* type = weight ? static_type_of(transpose->args()[0]) : nullptr;
    if (!type || type->rank() != 2 || std::ranges::count(weights_, weight->name()) == 0) return rebuilt;
    const std::vector<int64_t> axes = ints_attr(*transpose, "axes");
    if (!axes.empty() && (front_axis(axes[0], 2) != 1 || front_axis(axes[1], 2) != 0)) return rebuilt;
    retire(transpose->origins(), "the weight is given transposed");
    const std::vector<int64_t> shape = type->extents();
    return call_expr(dense->callee(),
                     {dense->args()[0], param(weight->name() + ".T", {shape[1], shape[0]}, type->dtype())},
                     dense->attrs());
  }
  const std::vector<std::string>& weights_;
};

// The argument weight_shape: for each weight the shapes of data, indices and row starts.
WeightShapes weights_of(PassArgReader& reader, const std::string& pass) {
  const std::vector<std::string> names = reader.texts("weight_name", {});
  const AttrValue* given = reader.value("weight_shape");
  const AttrList* shapes = given ? given->as<AttrList>() : nullptr;
  WeightShapes weights;
  for (size_t i = 0; i < names.size(); ++i) {
    const AttrList* three = shapes && i < shapes->size() ? (*shapes)[i].as<AttrList>() : nullptr;
    if (!three || three->size() != 3 || shapes->size() != names.size())
      throw UsageError(pass +
                       ": weight_shape needs the shapes of data, indices and indptr for each of weight_name");
    for (const AttrValue& shape : *three) weights[names[i]].push_back(ints_of(shape));
  }
  return weights;
}

SparseConv sparse_conv_of(PassArgReader& reader, const std::string& pass) {
  SparseConv conv{reader.text("layout", "NHWC"), reader.integer("kernel_size", 1)};
  if (conv.kernel_size != 1)
    throw NotSupported(
        pass +
        ": kernels of 1 x 1 only; how nn.sparse_conv2d orders the columns of larger ones is not settled");
  return conv;
}

PassInfo info(const char* name, int level) { return {level, name, {"DeadCodeElimination"}}; }

Function typed(const Function& function, const IRModule& module) {
  return as_ref<FunctionNode>(infer_type(Expr(function), module.get()));
}

}  // namespace

Pass dense_to_sparse(const PassArgs& args) {
  PassArgReader reader("DenseToSparse", args);
  const WeightShapes weights = weights_of(reader, "DenseToSparse");
  reader.finish();
  return function_pass(info("DenseToSparse", 4),
                       [weights](const Function& function, const IRModule& module, const PassContext&) {
                         return DenseRewriter(weights).run_on(typed(function, module));
                       });
}

Pass conv2d_to_sparse(const PassArgs& args) {
  PassArgReader reader("Conv2dToSparse", args);
  const WeightShapes weights = weights_of(reader, "Conv2dToSparse");
  const SparseConv conv = sparse_conv_of(reader, "Conv2dToSparse");
  reader.finish();
  return function_pass(info("Conv2dToSparse", 4),
                       [weights, conv](const Function& function, const IRModule& module, const PassContext&) {
                         return ConvRewriter(weights, conv).run_on(typed(function, module));
                       });
}

Pass conv2d_to_sparse2(const PassArgs& args) {
  PassArgReader reader("Conv2dToSparse2", args);
  const SparseConv conv = sparse_conv_of(reader, "Conv2dToSparse2");
  const AttrValue* given = reader.value("blocksize");
  const std::vector<int64_t> block = given ? ints_of(*given) : std::vector<int64_t>{1, 1};
  const AttrValue* threshold = reader.value("sparsity_threshold");
  reader.finish();
  double sparsity = 0.5;
  if (threshold && threshold->as<double>())
    sparsity = *threshold->as<double>();
  else if (threshold && threshold->as<int64_t>())
    sparsity = static_cast<double>(*threshold->as<int64_t>());
  else if (threshold)
    throw UsageError("Conv2dToSparse2: sparsity_threshold expects a number, got " + attr_text(*threshold));
  if (!(sparsity >= 0 && sparsity <= 1))
    throw UsageError("Conv2dToSparse2: sparsity_threshold expects a share from 0 to 1, got " +
                     attr_text(*threshold));
  if (block.size() != 2 || block[0] < 1 || block[1] < 1)
    throw UsageError("Conv2dToSparse2: blocksize expects two numbers >= 1");
  return function_pass(
      info("Conv2dToSparse2", 5),
      [conv, block, sparsity](const Function& function, const IRModule& module, const PassContext&) {
        return as_ref<FunctionNode>(
            ConstantConvRewriter(conv, block, sparsity).run(Expr(typed(function, module))));
      });
}

Pass simplify_fc_transpose(const PassArgs& args) {
  PassArgReader reader("SimplifyFCTranspose", args);
  const std::vector<std::string> weights = reader.texts("target_weight_name", {});
  reader.finish();
  return function_pass(
      info("SimplifyFCTranspose", 4),
      [weights](const Function& function, const IRModule& module, const PassContext&) {
        return TransposeRewriter(weights).run_on(typed(function, module));
      },
      /*may_retire=*/true);
}

}  // namespace baton
