#pragma once
// Small programs and passes shared by the tests of this folder.
#include "baton/ir/op.h"
#include "baton/ops/register.h"
#include "baton/pass/pass.h"
#include "baton/transform/register.h"

namespace baton {

inline void register_test_passes() {
  register_all_ops();
  register_all_passes();
}

/// main(x) = relu(relu(...x))
inline IRModule relu_chain(int length) {
  register_all_ops();
  const Var x = var("x", tensor_type(std::vector<int64_t>{1, 4}, DType::float_(32)));
  Expr at = x;
  for (int i = 0; i < length; ++i) at = call("nn.relu", {at});
  return module_from_expr(Expr(function({x}, at)));
}

}  // namespace baton
