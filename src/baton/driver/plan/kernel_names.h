#pragma once
// What kernels are called: TVM's names, character for character.
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// "fused_nn.conv2d_add_nn.relu": the operators of a fused function in post-order; cut after 80 characters,
/// followed by a hash of the whole.
std::string kernel_base_name(const FunctionNode& function);

/// The base name with its prefix, dots replaced: "tvmgen_default_fused_nn_conv2d".
std::string kernel_name(const std::string& mod_name, const FunctionNode& function);

/// The base name behind the symbol of the region it was built for:
/// "tvmgen_default_cuda_main_0_fused_nn_dense".
std::string region_kernel_name(const std::string& region, const FunctionNode& function);

/// For the error about a kernel or node that does not exist: "; did you mean `X`?", or lines with the names
/// that have most words in common with `wanted`; "" when none has any. What all kernels' names begin with
/// need not be there.
std::string similar_kernels(const std::string& wanted, const std::vector<std::string>& names);

/// Hands out each name once: "x", then "x_1", "x_2", ..., leaving out those that were taken under their own
/// name.
class UniqueNames {
 public:
  std::string make(const std::string& name);

 private:
  std::unordered_map<std::string, int> last_;
  std::unordered_set<std::string> taken_;
};

}  // namespace baton
