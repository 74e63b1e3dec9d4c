// Attribution is exact: what a kernel is said to compute is what it computes. One operator of the source at a
// time is made to give other values, by other weights or another operator of the same kind; the model is
// built and run again. Exactly the kernels that carry the operator, or read a constant it was folded into,
// and what lies behind them, may give other values, and all of the former must.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

/// Operator of the line -> what takes its place; the type stays.
struct Change {
  int line;
  std::string from, to;
};

struct Net {
  const char* name;
  const char* text;
  std::vector<Change> changes;
  /// Line -> all parameters of its operator, which no other one reads.
  std::map<int, std::set<std::string>> weights;
};

const Net& residual() {
  static const Net net = {"residual",
                          R"(#[version = "0.0.5"]
def @main(%data: Tensor[(1, 3, 32, 32), float32], %w0: Tensor[(16, 3, 7, 7), float32], %g0: Tensor[(16), float32], %b0: Tensor[(16), float32], %m0: Tensor[(16), float32], %v0: Tensor[(16), float32], %w1: Tensor[(16, 16, 3, 3), float32], %g1: Tensor[(16), float32], %b1: Tensor[(16), float32], %m1: Tensor[(16), float32], %v1: Tensor[(16), float32], %w2: Tensor[(16, 16, 3, 3), float32], %g2: Tensor[(16), float32], %b2: Tensor[(16), float32], %m2: Tensor[(16), float32], %v2: Tensor[(16), float32], %wd: Tensor[(10, 16), float32], %bd: Tensor[(10), float32]) {
  %0 = nn.conv2d(%data, %w0, strides=[2, 2], padding=[3, 3, 3, 3], channels=16, kernel_size=[7, 7]);
  %1 = nn.batch_norm(%0, %g0, %b0, %m0, %v0);
  %2 = nn.relu(%1.0);
  %3 = nn.max_pool2d(%2, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]);
  %4 = nn.conv2d(%3, %w1, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]);
  %5 = nn.batch_norm(%4, %g1, %b1, %m1, %v1);
  %6 = nn.relu(%5.0);
  %7 = nn.conv2d(%6, %w2, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]);
  %8 = add(%7, %3);
  %9 = nn.batch_norm(%8, %g2, %b2, %m2, %v2);
  %10 = nn.relu(%9.0);
  %11 = nn.global_avg_pool2d(%10);
  %12 = nn.batch_flatten(%11);
  %13 = nn.dense(%12, %wd, units=10);
  %14 = nn.bias_add(%13, %bd);
  nn.softmax(%14)
}
)",
                          {{5, "nn.relu(", "nn.leaky_relu("},
                           {6, "nn.max_pool2d(", "nn.avg_pool2d("},
                           {9, "nn.relu(", "nn.leaky_relu("},
                           {11, "add(", "subtract("},
                           {13, "nn.relu(", "nn.leaky_relu("},
                           {14, "nn.global_avg_pool2d(", "nn.global_max_pool2d("},
                           {18, "nn.softmax(", "nn.log_softmax("}},
                          {{3, {"w0"}},
                           {4, {"g0", "b0", "m0", "v0"}},
                           {7, {"w1"}},
                           {8, {"g1", "b1", "m1", "v1"}},
                           {10, {"w2"}},
                           {12, {"g2", "b2", "m2", "v2"}},
                           {16, {"wd"}},
                           {17, {"bd"}}}};
  return net;
}

const Net& separable() {
  static const Net net = {
      "separable",
      R"(#[version = "0.0.5"]
def @main(%data: Tensor[(1, 16, 16, 16), float32], %w0: Tensor[(16, 1, 3, 3), float32], %g0: Tensor[(16), float32], %b0: Tensor[(16), float32], %m0: Tensor[(16), float32], %v0: Tensor[(16), float32], %w1: Tensor[(32, 16, 1, 1), float32], %g1: Tensor[(32), float32], %b1: Tensor[(32), float32], %m1: Tensor[(32), float32], %v1: Tensor[(32), float32], %wd: Tensor[(10, 32), float32]) {
  %0 = nn.conv2d(%data, %w0, padding=[1, 1, 1, 1], groups=16, channels=16, kernel_size=[3, 3]);
  %1 = nn.batch_norm(%0, %g0, %b0, %m0, %v0);
  %2 = nn.relu(%1.0);
  %3 = nn.conv2d(%2, %w1, padding=[0, 0, 0, 0], channels=32, kernel_size=[1, 1]);
  %4 = nn.batch_norm(%3, %g1, %b1, %m1, %v1);
  %5 = nn.relu(%4.0);
  %6 = nn.global_avg_pool2d(%5);
  %7 = nn.batch_flatten(%6);
  nn.dense(%7, %wd, units=10)
}
)",
      {{5, "nn.relu(", "nn.leaky_relu("},
       {8, "nn.relu(", "nn.leaky_relu("},
       {9, "nn.global_avg_pool2d(", "nn.global_max_pool2d("}},
      {{3, {"w0"}}, {4, {"g0", "b0", "m0", "v0"}}, {6, {"w1"}}, {7, {"g1", "b1", "m1", "v1"}}, {11, {"wd"}}}};
  return net;
}

const Net& plain() {
  static const Net net = {"plain",
                          R"(#[version = "0.0.5"]
def @main(%data: Tensor[(1, 3, 16, 16), float32], %w0: Tensor[(16, 3, 3, 3), float32], %b0: Tensor[(16), float32], %w1: Tensor[(32, 16, 3, 3), float32], %b1: Tensor[(32), float32], %wd: Tensor[(24, 512), float32], %bd: Tensor[(24), float32]) {
  %0 = nn.conv2d(%data, %w0, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]);
  %1 = nn.bias_add(%0, %b0);
  %2 = nn.relu(%1);
  %3 = nn.max_pool2d(%2, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]);
  %4 = nn.conv2d(%3, %w1, padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3]);
  %5 = nn.bias_add(%4, %b1);
  %6 = nn.relu(%5);
  %7 = nn.max_pool2d(%6, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]);
  %8 = nn.dropout(%7);
  %9 = nn.batch_flatten(%8.0);
  %10 = nn.dense(%9, %wd, units=24);
  %11 = nn.bias_add(%10, %bd);
  nn.relu(%11)
}
)",
                          {{5, "nn.relu(", "nn.leaky_relu("},
                           {6, "nn.max_pool2d(", "nn.avg_pool2d("},
                           {9, "nn.relu(", "nn.leaky_relu("},
                           {10, "nn.max_pool2d(", "nn.avg_pool2d("},
                           {15, "nn.relu(", "nn.leaky_relu("}},
                          {{3, {"w0"}}, {4, {"b0"}}, {7, {"w1"}}, {8, {"b1"}}, {13, {"wd"}}, {14, {"bd"}}}};
  return net;
}

std::string with_change(const std::string& text, const Change& change) {
  size_t at = 0;
  for (int line = 1; line < change.line; ++line) at = text.find('\n', at) + 1;
  at = text.find(change.from, at);
  EXPECT_LT(at, text.find('\n', at)) << "line " << change.line << " has no " << change.from;
  std::string changed = text;
  return changed.replace(at, change.from.size(), change.to);
}

/// A build, run once: what every node gave.
struct Outcome {
  BuildResult build;
  std::vector<NDArray> values;            ///< per node; empty for inputs
  std::map<int, std::set<uint32_t>> ids;  ///< line -> operators of the source
  std::map<uint32_t, std::set<int>> folded_into;
};

KernelCache& shared_cache() {
  static const test::Folder folder;
  static KernelCache cache(folder.path());
  return cache;
}

/// `changed`: these parameters have other values than the rule's: value * scale + shift.
Outcome outcome_of(const std::string& text, int opt_level, const std::set<std::string>& changed = {},
                   float scale = 1.25f, float shift = 0.125f) {
  Outcome result;
  const IRModule module = infer_types(parse_module(text, "net.relay"));
  BuildOptions options{.context = host_context()};
  options.context.passes->opt_level = opt_level;
  options.context.cache = &shared_cache();
  NDArray input;
  for (const Var& param : module->find("main")->params()) {
    const auto* type = as_type<TensorTypeNode>(param->checked_type());
    NDArray value = parameter_value(param->name(), type->extents(), type->dtype()).copy();
    if (param->name() == "data") {
      input = value;
      continue;
    }
    // Variances: of negative ones everything behind them would be NaN.
    if (param->name().starts_with("v"))
      for (int64_t i = 0; i < value.size(); ++i)
        value.as<float>()[i] = std::fabs(value.as<float>()[i]) + 0.1f;
    if (changed.count(param->name()))
      for (int64_t i = 0; i < value.size(); ++i) value.as<float>()[i] = value.as<float>()[i] * scale + shift;
    options.params.emplace_back(param->name(), value);
  }
  result.build = build(module, options);
  const std::unique_ptr<Executor> executor = make_executor(result.build);
  executor->set_threads(1);
  EXPECT_TRUE(executor->set_input(0, input).ok());
  const Plan& plan = executor->plan();
  for (uint32_t node = 0; node < plan.nodes.size(); ++node) {
    result.values.emplace_back();
    if (plan.nodes[node].kind == PlanNode::Kind::kInput) continue;
    EXPECT_TRUE(executor->run_range(0, node + 1).ok());  // memory is used again by later nodes
    result.values.back() = executor->entry(plan.nodes[node].first_entry).copy();
  }
  for (const OperatorRecord& row : result.build.origins->operators) {
    result.ids[static_cast<int>(row.line)].insert(row.id);
    for (const uint32_t node : row.folded_into) result.folded_into[row.id].insert(static_cast<int>(node));
  }
  return result;
}

std::shared_ptr<const Plan> plan_of(const Outcome& run) { return run.build.plan.graph; }

/// Which nodes give other values, and which are allowed and which required to.
void compare(const Outcome& base, const Outcome& other, int line, const std::string& what) {
  const auto plan = plan_of(base), changed_plan = plan_of(other);
  ASSERT_EQ(plan->nodes.size(), changed_plan->nodes.size())
      << what << ": another structure; perturb in another way";
  ASSERT_EQ(base.ids.at(line).size(), 1u);
  const uint32_t id = *base.ids.at(line).begin();
  std::set<int> carriers, allowed;
  for (size_t node = 0; node < plan->nodes.size(); ++node) {
    if (plan->nodes[node].kind == PlanNode::Kind::kInput) continue;
    const auto& origins = plan->nodes[node].origins;
    if (std::count(origins.begin(), origins.end(), id)) carriers.insert(static_cast<int>(node));
  }
  if (const auto folded = base.folded_into.find(id); folded != base.folded_into.end())
    carriers.insert(folded->second.begin(), folded->second.end());
  EXPECT_FALSE(carriers.empty()) << what;
  std::map<EntryId, int> maker;
  for (size_t node = 0; node < plan->nodes.size(); ++node)
    maker[plan->nodes[node].first_entry] = static_cast<int>(node);
  for (size_t node = 0; node < plan->nodes.size(); ++node) {
    bool behind = carriers.count(static_cast<int>(node)) > 0;
    for (EntryId input : plan->nodes[node].inputs) behind |= allowed.count(maker.at(input)) > 0;
    if (behind) allowed.insert(static_cast<int>(node));
  }
  for (size_t node = 0; node < plan->nodes.size(); ++node) {
    if (plan->nodes[node].kind == PlanNode::Kind::kInput) continue;
    ASSERT_EQ(base.values[node].shape(), other.values[node].shape()) << what;
    const bool differs = !base.values[node].equal_bytes(other.values[node]);
    const std::string where = what + ", node " + std::to_string(node) + " (" + plan->nodes[node].name + ")";
    if (carriers.count(static_cast<int>(node))) {
      EXPECT_TRUE(differs) << where << " is said to compute the operator of line " << line
                           << ", but does not";
    } else if (!allowed.count(static_cast<int>(node))) {
      EXPECT_FALSE(differs) << where << " computes the operator of line " << line << " and is not said to";
    }
  }
}

class Attribution : public testing::TestWithParam<std::pair<const Net& (*)(), int>> {};

TEST_P(Attribution, AnotherOperatorChangesExactlyWhatCarriesIt) {
  initialize();
  const Net& net = GetParam().first();
  const Outcome base = outcome_of(net.text, GetParam().second);
  for (const Change& change : net.changes)
    compare(base, outcome_of(with_change(net.text, change), GetParam().second), change.line,
            change.to + "...) in line " + std::to_string(change.line));
  for (const auto& [line, names] : net.weights)
    compare(base, outcome_of(net.text, GetParam().second, names), line,
            "other values of %" + *names.begin() + " ...");
}

/// The operator gives zeros: where its only weights are zero, or an elementwise one keeps nothing of its
/// input.
TEST_P(Attribution, ZerosInItsPlaceChangeExactlyWhatCarriesIt) {
  initialize();
  const Net& net = GetParam().first();
  const Outcome base = outcome_of(net.text, GetParam().second);
  int zeroed = 0;
  for (const auto& [line, names] : net.weights) {
    if (names.size() > 1) continue;  // weights that are equal become one: another structure
    compare(base, outcome_of(net.text, GetParam().second, names, 0, 0), line,
            "zeros for %" + *names.begin() + " ...");
    ++zeroed;
  }
  for (const Change& change : net.changes) {
    if (change.from != "nn.relu(") continue;
    std::string text = with_change(net.text, {change.line, "nn.relu(", "clip("});
    size_t at = 0;
    for (int line = 1; line < change.line; ++line) at = text.find('\n', at) + 1;
    text.insert(text.find(')', text.find("clip(", at)), ", a_min=0f, a_max=0f");
    compare(base, outcome_of(text, GetParam().second), change.line,
            "zeros in line " + std::to_string(change.line));
    ++zeroed;
  }
  EXPECT_GT(zeroed, 3);
}

std::string test_name(const testing::TestParamInfo<Attribution::ParamType>& info) {
  return std::string(info.param.first().name) + "AtLevel" + std::to_string(info.param.second);
}

using Case = std::pair<const Net& (*)(), int>;

INSTANTIATE_TEST_SUITE_P(Nets, Attribution,
                         testing::Values(Case{residual, 0}, Case{residual, 1}, Case{residual, 3},
                                         Case{separable, 0}, Case{separable, 3}, Case{plain, 0},
                                         Case{plain, 2}, Case{plain, 3}),
                         test_name);

}  // namespace
}  // namespace baton
