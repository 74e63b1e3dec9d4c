#pragma once
// Kernel names, identical to TVM's.
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// "fused_nn.conv2d_add_nn.relu": the operators of a fused function in post-order; truncated after 80
/// characters and followed by a hash of the whole.
std::string kernel_base_name(const FunctionNode& function);

/// The base name with module prefix and without dots: "tvmgen_default_fused_nn_conv2d".
std::string kernel_name(const std::string& mod_name, const FunctionNode& function);

/// The base name prefixed by the symbol of its region: "tvmgen_default_cuda_main_0_fused_nn_dense".
std::string region_kernel_name(const std::string& region, const FunctionNode& function);

/// A suggestion for errors about unknown kernels and nodes: "; did you mean `X`?", or lines with the names
/// sharing most words with `wanted`; "" when none shares any. The common prefix of kernel names is optional.
std::string similar_kernels(const std::string& wanted, const std::vector<std::string>& names);

/// Makes names unique: "x", then "x_1", "x_2", ..., skipping names already taken.
class UniqueNames {
 public:
  std::string make(const std::string& name);

 private:
  std::unordered_map<std::string, int> last_;
  std::unordered_set<std::string> taken_;
};

}  // namespace baton
