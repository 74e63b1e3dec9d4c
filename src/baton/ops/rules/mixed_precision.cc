#include <map>
#include <mutex>

#include "baton/ir/op.h"
#include "baton/ir/rules/mixed_precision_rule.h"

namespace baton {

namespace {

// Sums of products: hardware computes them faster in small types.
constexpr const char* kAlways[] = {"nn.batch_matmul",     "nn.conv1d", "nn.conv1d_transpose", "nn.conv2d",
                                   "nn.conv2d_transpose", "nn.conv3d", "nn.conv3d_transpose", "nn.dense"};

// Results that leave the range of small types (exp, power), sums of many values, and numbers that need all
// their digits.
constexpr const char* kNever[] = {"arange",
                                  "erf",
                                  "exp",
                                  "mean",
                                  "nn.adaptive_avg_pool1d",
                                  "nn.adaptive_avg_pool2d",
                                  "nn.adaptive_avg_pool3d",
                                  "nn.cross_entropy",
                                  "nn.cross_entropy_with_logits",
                                  "nn.global_avg_pool2d",
                                  "nn.l2_normalize",
                                  "nn.layer_norm",
                                  "nn.softmax",
                                  "power",
                                  "sum",
                                  "variance"};

// What moves, compares or combines single values: not worth a cast in either direction.
constexpr const char* kFollow[] = {"add",
                                   "argmax",
                                   "argmin",
                                   "argwhere",
                                   "broadcast_to_like",
                                   "cast",
                                   "cast_like",
                                   "clip",
                                   "concatenate",
                                   "copy",
                                   "divide",
                                   "dyn.broadcast_to",
                                   "dyn.full",
                                   "dyn.reshape",
                                   "dyn.strided_slice",
                                   "dyn.tile",
                                   "expand_dims",
                                   "fast_erf",
                                   "fast_exp",
                                   "fast_tanh",
                                   "full",
                                   "greater",
                                   "greater_equal",
                                   "image.resize2d",
                                   "less",
                                   "less_equal",
                                   "max",
                                   "maximum",
                                   "min",
                                   "minimum",
                                   "multiply",
                                   "nn.adaptive_max_pool1d",
                                   "nn.adaptive_max_pool2d",
                                   "nn.adaptive_max_pool3d",
                                   "nn.avg_pool1d",
                                   "nn.avg_pool2d",
                                   "nn.avg_pool3d",
                                   "nn.batch_flatten",
                                   "nn.batch_norm",
                                   "nn.bias_add",
                                   "nn.depth_to_space",
                                   "nn.dropout",
                                   "nn.global_max_pool2d",
                                   "nn.leaky_relu",
                                   "nn.max_pool1d",
                                   "nn.max_pool2d",
                                   "nn.max_pool3d",
                                   "nn.pad",
                                   "nn.prelu",
                                   "nn.relu",
                                   "reshape",
                                   "scatter",
                                   "shape_of",
                                   "sigmoid",
                                   "split",
                                   "sqrt",
                                   "squeeze",
                                   "strided_slice",
                                   "subtract",
                                   "take",
                                   "tanh",
                                   "tile",
                                   "transpose",
                                   "where",
                                   "zeros"};

struct Entry {
  int level;
  MixedPrecisionFunction rule;
};

// Operators by name; Python may add to it from any thread.
struct Table {
  Table() {
    add(kAlways, MixedPrecision::kAlways);
    add(kFollow, MixedPrecision::kFollow);
    add(kNever, MixedPrecision::kNever);
  }
  template <size_t n>
  void add(const char* const (&names)[n], MixedPrecision colour) {
    for (const char* name : names)
      entries[name] = {10,
                       [colour](const Expr&, DType type) { return MixedPrecisionRule{colour, type, type}; }};
  }
  std::mutex mutex;
  std::map<std::string, Entry> entries;
};

Table& table() {
  static Table table;
  return table;
}

}  // namespace

void register_mixed_precision(const std::string& op, MixedPrecisionFunction rule, int level) {
  if (!find_op(op)) throw UsageError("there is no operator " + op);
  const std::lock_guard lock(table().mutex);
  const auto [at, fresh] = table().entries.try_emplace(op, Entry{level, rule});
  if (fresh || level < at->second.level) return;
  if (level == at->second.level)
    throw UsageError("the mixed precision of " + op + " is already registered with level " +
                     std::to_string(level) + "; give a higher level to replace it");
  at->second = {level, std::move(rule)};
}

std::optional<MixedPrecisionRule> mixed_precision_of(const CallNode& call, DType type) {
  if (!call.op()) return std::nullopt;
  MixedPrecisionFunction rule;
  {
    const std::lock_guard lock(table().mutex);
    const auto at = table().entries.find(call.op()->name);
    if (at == table().entries.end()) return std::nullopt;
    rule = at->second.rule;
  }
  return rule(Expr(&call), type);  // without the lock: it may be Python's
}

}  // namespace baton
