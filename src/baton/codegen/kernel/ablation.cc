#include "baton/codegen/kernel/ablation.h"

#include "baton/ir/op.h"

namespace baton {
namespace {

std::vector<const TensorTypeNode*> input_types(const KernelBlock& block) {
  std::vector<const TensorTypeNode*> types;
  for (const Expr& arg : block.call->args())
    for (const TensorTypeNode* type : flat_types(type_of(arg))) types.push_back(type);
  return types;
}

bool same(const TensorTypeNode& a, const TensorTypeNode& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype();
}

/// Whether a loop nest over `result`, broadcasting shorter operands, reads all of `input`.
bool read_wholly(const TensorTypeNode& input, const TensorTypeNode& result) {
  const int rank = input.rank();
  if (rank > result.rank()) return false;
  for (int back = 1; back <= rank; ++back) {
    const Dim& have = input.shape()[rank - back];
    if (!(have == Dim(1)) && !(have == result.shape()[result.rank() - back])) return false;
  }
  return true;
}

}  // namespace

int passed_on(const KernelBlock& block, const TensorTypeNode& result) {
  const auto types = input_types(block);
  int best = 0, best_score = -1;
  for (size_t i = 0; i < types.size(); ++i) {
    const int score =
        4 * (types[i]->shape() == result.shape()) + 2 * same(*types[i], result) + (block.producers[i] >= 0);
    if (score > best_score) best = static_cast<int>(i), best_score = score;
  }
  return best;
}

std::string refuses_ablation(const KernelBlock& block) {
  const auto results = flat_types(block.call->checked_type());
  const auto types = input_types(block);
  if (types.empty() || results.size() != 1) return "it has no input, or several results";
  if (block.call->op()->fuse > Fuse::kInjective)
    return "it is more than a change of single values: the kernel's schedule is made for it";
  const int chosen = passed_on(block, *results[0]);
  if (!same(*types[chosen], *results[0])) return "no input is of its result's type";
  for (size_t i = 0; i < types.size(); ++i)
    if (static_cast<int>(i) != chosen && block.producers[i] >= 0 && !read_wholly(*types[i], *results[0]))
      return "without it the kernel would compute less of another input";
  return "";
}

}  // namespace baton
