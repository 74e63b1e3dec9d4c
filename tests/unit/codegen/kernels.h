#pragma once
// Helpers for codegen tests: small typed functions, a private cache, and a way to call a kernel.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "baton/codegen/compiler.h"
#include "baton/ir/op.h"
#include "baton/ops/register.h"
#include "baton/runtime/baton_backend.h"
#include "baton/support/base/tensor_rule.h"

namespace baton::test {

/// A private folder for one test, removed at the end.
class Folder {
 public:
  Folder() {
    path_ = (std::filesystem::temp_directory_path() / "baton-test-XXXXXX").string();
    if (!mkdtemp(path_.data())) std::abort();
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline NodeInfo typed(Type type) { return NodeInfo(OriginSet::none(), {}, std::move(type)); }

inline Type f32(std::vector<int64_t> shape) { return tensor_type(shape, DType::float_(32)); }

inline Var param(const std::string& name, const Type& type) { return make_var(name, type, typed(type)); }

inline Expr op_call(const std::string& op, std::vector<Expr> args, const Type& result, Attrs attrs = {}) {
  register_all_ops();
  return make_call(op_expr(*find_op(op)), std::move(args), std::move(attrs), typed(result));
}

inline Function primitive(std::vector<Var> params, const Expr& body) {
  return make_function(std::move(params), body, body->checked_type(), {{"Primitive", 1}}, typed({}));
}

/// relu applied `depth` times.
inline Function relu_chain(std::vector<int64_t> shape, int depth) {
  const Type type = f32(std::move(shape));
  const Var x = param("x", type);
  Expr body = x;
  for (int i = 0; i < depth; ++i) body = op_call("nn.relu", {body}, type);
  return primitive({x}, body);
}

/// A dense tensor as a kernel takes it; it must not be moved.
struct KernelArgument {
  KernelArgument(NDArray given);
  KernelArgument(const KernelArgument&) = delete;
  KernelArgument& operator=(const KernelArgument&) = delete;
  NDArray array;
  std::vector<baton_dimension> dimensions;
  baton_tensor tensor;
};

/// Calls a kernel on its inputs and then its outputs; returns its status.
int call_kernel(KernelFunction kernel, std::vector<NDArray> all);
/// Calls a kernel on dense tensors and returns its outputs.
std::vector<NDArray> call_kernel(KernelFunction kernel, const Function& function,
                                 const std::vector<NDArray>& inputs);
/// The tensor rule's values for all parameters.
std::vector<NDArray> rule_inputs(const Function& function);

inline double largest_difference(const NDArray& a, const NDArray& b) {
  if (a.shape() != b.shape() || !(a.dtype() == b.dtype())) return INFINITY;
  double worst = 0;
  if (a.dtype() == DType::float_(32)) {
    for (int64_t i = 0; i < a.size(); ++i) {
      const double d = std::fabs(double(a.as<float>()[i]) - double(b.as<float>()[i]));
      if (!(d <= worst)) worst = d;
    }
    return worst;
  }
  return a.equal_bytes(b) ? 0 : INFINITY;
}

}  // namespace baton::test
