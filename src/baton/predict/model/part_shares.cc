#include "baton/predict/model/part_shares.h"

#include <algorithm>
#include <numeric>

#include "baton/ir/inspect.h"
#include "baton/ir/rules/cost.h"
#include "baton/predict/roofline_base.h"

namespace baton {

namespace {

double elements(const TensorTypeNode& type) {
  double count = 1;
  for (const Dim& dim : type.shape()) count *= dim.is_any() ? 1.0 : static_cast<double>(dim.value());
  return count;
}

double bytes(const TensorTypeNode& type) {
  return elements(type) * static_cast<double>(type.dtype().bytes());
}

/// What the call exchanges with the memory outside: all that it moves but inputs from other blocks, and its
/// results if no other block takes them.
double outside_bytes(const KernelBlock& block, bool is_last) {
  double moved = cost_of_call(*block.call).bytes, results = 0;
  for (const TensorTypeNode* type : flat_types(block.call->checked_type())) results += bytes(*type);
  std::vector<const TensorTypeNode*> inputs;
  for (const Expr& arg : block.call->args())
    for (const TensorTypeNode* type : flat_types(type_of(arg))) inputs.push_back(type);
  for (size_t i = 0; i < std::min(inputs.size(), block.producers.size()); ++i)
    if (block.producers[i] >= 0) moved -= bytes(*inputs[i]);
  if (!is_last) moved -= results;
  return std::max(0.0, moved);
}

}  // namespace

std::vector<double> roofline_shares(const KernelCase& kernel, const std::vector<KernelBlock>& blocks) {
  std::vector<bool> taken(blocks.size());
  for (const KernelBlock& block : blocks)
    for (const int producer : block.producers)
      if (producer >= 0) taken[static_cast<size_t>(producer)] = true;
  const RooflineTime whole =
      roofline_time(kernel.kernel, *kernel.sheet, kernel.threads, kernel.model.working_set);
  const double us_per_byte = whole.memory_us / std::max(1.0, kernel.kernel.bytes);
  const double us_per_operation = 1 / sheet_rates(*kernel.sheet, kernel.threads).gflops / 1e3;
  std::vector<double> shares;
  for (size_t i = 0; i < blocks.size(); ++i) {
    double operations = cost_of_call(*blocks[i].call).flops;
    if (const double functions = functions_of(blocks[i].call->op()); functions > 0)
      operations *= functions * kOperationsOfFunction;
    shares.push_back(operations * us_per_operation + outside_bytes(blocks[i], !taken[i]) * us_per_byte);
  }
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share = all > 0 ? share / all : 1 / static_cast<double>(shares.size());
  return shares;
}

}  // namespace baton
