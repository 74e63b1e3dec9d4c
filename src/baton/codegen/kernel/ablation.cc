#include "baton/codegen/kernel/ablation.h"

#include <algorithm>
#include <utility>

#include "baton/ir/op.h"
#include "baton/ir/rules/cost.h"
#include "baton/ir/rules/position_free_rule.h"
#include "baton/support/base/ndarray.h"

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

int moved_input(const KernelBlock& block) {
  const OpDef& op = *block.call->op();
  const auto results = flat_types(block.call->checked_type());
  const auto inputs = input_types(block);
  if (op.fuse > Fuse::kInjective || results.size() != 1 || inputs.empty()) return -1;
  if (inputs.size() > 1 && !op.reshape_only) return -1;
  if (!results[0]->is_static() || !inputs[0]->is_static() || inputs[0]->dtype() != results[0]->dtype())
    return -1;
  if (byte_count(inputs[0]->extents(), inputs[0]->dtype()) !=
      byte_count(results[0]->extents(), results[0]->dtype()))
    return -1;
  return op.reshape_only || cost_of_call(*block.call).flops == 0 ? 0 : -1;
}

namespace {

bool is_one_element(const Expr& expr) {
  const auto* type = as_type<TensorTypeNode>(type_of(expr));
  return type && type->is_static() &&
         std::ranges::all_of(type->extents(), [](int64_t extent) { return extent == 1; });
}

/// The argument with the elements of the call's result, the others being single values; -1: none.
int only_argument(const CallNode& call) {
  int found = -1;
  for (size_t i = 0; i < call.args().size(); ++i) {
    if (is_one_element(call.args()[i])) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

/// The same call on another value in the place of argument `at`, of the type that follows.
Expr call_on(const CallNode& call, int at, Expr value) {
  const auto* of = as_type<TensorTypeNode>(type_of(value));
  const auto* result = as_type<TensorTypeNode>(call.checked_type());
  const Type type = tensor_type(of->extents(), result->dtype());
  std::vector<Expr> args = call.args();
  args[static_cast<size_t>(at)] = std::move(value);
  return make_call(call.callee(), std::move(args), call.attrs(), call.with_type(type));
}

}  // namespace

Function without_move(const FunctionNode& function, const std::vector<KernelBlock>& blocks, int block) {
  const KernelBlock& move = blocks.at(static_cast<size_t>(block));
  const int moved = moved_input(move);
  if (moved < 0 || as_type<TensorTypeNode>(type_of(move.call->args()[static_cast<size_t>(moved)])) == nullptr)
    return {};
  std::vector<std::pair<const CallNode*, int>> behind;  // the last one first
  Expr at = function.body();
  while (at.get() != move.call.get()) {
    const auto* call = as<CallNode>(at);
    if (!call || !call->op()) return {};
    const bool reshapes = call->op()->reshape_only;
    const int argument = reshapes ? 0 : only_argument(*call);
    if (argument < 0 || !(reshapes || is_position_free(*call))) return {};
    if (!reshapes) behind.emplace_back(call, argument);
    at = call->args()[static_cast<size_t>(argument)];
  }
  Expr body = move.call->args()[static_cast<size_t>(moved)];
  const int rank = as_type<TensorTypeNode>(type_of(body))->rank();
  while (!behind.empty()) {
    const auto& [call, argument] = behind.back();
    for (const Expr& arg : call->args())
      if (is_one_element(arg) && as_type<TensorTypeNode>(type_of(arg))->rank() > rank) return {};
    body = call_on(*call, argument, body);
    behind.pop_back();
  }
  if (!as<CallNode>(body)) return {};  // nothing is left to compute
  return make_function(function.params(), body, body->checked_type(), function.attrs(),
                       NodeInfo(function.origins(), function.span()));
}

}  // namespace baton
