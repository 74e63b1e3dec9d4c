// The compile-time half of `openblas`: matrix products of regions, each a kernel of its own. It has no
// device: they run in the memory of the host. Needs no library; runtime/plugins/openblas opens it.
#include "baton/codegen/backend.h"

#include "baton/ir/inspect.h"
#include "baton/ir/op_names.h"
#include "baton/runtime/plugins/openblas/products_blob.h"
#include "baton/support/error.h"

namespace baton {
namespace {

using openblas_blob::Product;

[[noreturn]] void refuse(const std::string& why) { throw NotSupported(why); }

/// An operand as a matrix or a batch of them.
struct Matrices {
  uint64_t batch = 1, rows = 1, columns = 1;
};

Matrices matrices_of(const Expr& operand, DType dtype) {
  const auto* type = as_type<TensorTypeNode>(type_of(operand));
  if (!type || !type->is_static()) refuse("has a shape that is not known: " + type_text(type_of(operand)));
  if (type->dtype() != dtype) refuse("has operands of different types");
  const std::vector<int64_t> extents = type->extents();
  for (const int64_t extent : extents)
    if (extent < 1 || static_cast<uint64_t>(extent) > openblas_blob::kMostExtent)
      refuse("has an axis of " + std::to_string(extent) + " elements");
  if (extents.size() < 2) refuse("has an operand that is no matrix");
  Matrices found;
  for (size_t i = 0; i + 2 < extents.size(); ++i) found.batch *= static_cast<uint64_t>(extents[i]);
  found.rows = static_cast<uint64_t>(extents[extents.size() - 2]);
  found.columns = static_cast<uint64_t>(extents.back());
  return found;
}

/// The product that computes the call, of inputs 0 and 1. NotSupported when there is none.
Product product_of(const CallNode& call) {
  const auto* result = as_type<TensorTypeNode>(call.checked_type());
  const DType dtype = result ? result->dtype() : DType();
  if (dtype != DType::float_(32) && dtype != DType::float_(64))
    refuse("has a result of " + type_text(call.checked_type()) + ", not of float32 or float64");
  Matrices a = matrices_of(call.args()[0], dtype);
  const Matrices b = matrices_of(call.args()[1], dtype);
  Product product;
  product.bits = static_cast<uint64_t>(dtype.bits);
  if (call.op()->name == op_names::kDense) {
    a.rows *= a.batch, a.batch = 1;  // all axes before the last are rows
    product.transpose_b = 1;
  } else {
    product.transpose_a = bool_attr(call, "transpose_a");
    product.transpose_b = bool_attr(call, "transpose_b");
  }
  if (b.batch > 1 && call.op()->name == op_names::kDense) refuse("has a packed weight");
  product.batch = std::max(a.batch, b.batch);
  product.a_batched = a.batch > 1, product.b_batched = b.batch > 1;
  product.rows = product.transpose_a ? a.columns : a.rows;
  product.depth = product.transpose_a ? a.rows : a.columns;
  product.columns = product.transpose_b ? b.rows : b.columns;
  if (!is_proper(product)) refuse("has more rows than OpenBLAS counts");
  return product;
}

std::string refusal(const CallNode& call) {
  try {
    static_cast<void>(product_of(call));
  } catch (const NotSupported& error) {
    return "`" + call.op()->name + "` " + error.what();
  }
  return "";
}

const std::vector<std::string>& operators() {
  static const std::vector<std::string> all = {op_names::kBatchMatmul, op_names::kDense, "nn.matmul"};
  return all;
}

/// The kernel's only call; NotSupported when it is no product of its parameters.
Product product_of(const FunctionNode& function) {
  const auto* call = as<CallNode>(function.body());
  if (!call || !call->op() || !std::ranges::count(operators(), call->op()->name))
    refuse("a kernel of openblas is one matrix product");
  Product product = product_of(*call);
  const auto index_of = [&](const Expr& operand) {
    const auto at = std::ranges::find(function.params(), operand.get(),
                                      [](const Var& param) -> const ExprNode* { return param.get(); });
    if (at == function.params().end()) refuse("a kernel of openblas multiplies its parameters");
    return static_cast<uint64_t>(at - function.params().begin());
  };
  product.a = index_of(call->args()[0]), product.b = index_of(call->args()[1]);
  return product;
}

Built compile(std::span<const BackendFunction> functions, const DeviceSheet&, const BuildContext& context) {
  Built built;
  std::vector<Product> products;
  for (const BackendFunction& each : functions) {
    context.stop_if_asked();
    Product product = product_of(*each.function);
    product.symbol = each.func_name;
    built.kernels.push_back({each.func_name, each.function, {}, library_kernel(each, "openblas")});
    products.push_back(std::move(product));
  }
  built.blob = openblas_blob::blob_of(std::move(products));
  return built;
}

}  // namespace

Backend openblas() {
  Backend record = {
      .name = "openblas",
      .doc = "dense layers and matrix products by OpenBLAS, on the processor",
      .takes =
          [](const FunctionNode& function, const DeviceSheet&) {
            try {
              static_cast<void>(product_of(function));
            } catch (const NotSupported& error) {
              return std::string(error.what());
            }
            return std::string();
          },
      .compile = compile,
      .region = unfused_region,
  };
  for (const std::string& op : operators()) record.operators.push_back({op, refusal});
  return record;
}

}  // namespace baton
