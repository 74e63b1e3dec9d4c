#include "baton/map/model/subject.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "baton/driver/cut/cut_values.h"
#include "baton/driver/plan/region_attrs.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/layer_kind.h"
#include "baton/ir/structural.h"
#include "baton/map/model/objective_runs.h"
#include "baton/predict/model/predict_model.h"
#include "baton/profile/report/another_executor.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/error.h"
#include "baton/support/hash.h"
#include "baton/support/require.h"

namespace baton {

namespace {

// Programs that take longer to load (a driver compiles them then) stay where they are in all rounds.
constexpr double kQuicklyLoadedNs = 5e7;

}  // namespace

bool is_layer(const OperatorRecord& record) {
  const OpDef* op = find_op(record.op);
  return op && op->rules.get<LayerKind>();
}

MapSubject::MapSubject(const IRModule& split, const BuildOptions& options, int threads, bool code)
    : built_(code ? baton::build(split, options) : plan_build(split, options)), threads_(threads) {
  node_us_.assign(built_.plan.nodes.size(), 0);
  if (!code) return;
  const int64_t start = monotonic_ns();
  executor_ = make_executor(built_);
  quick_to_load_ = static_cast<double>(monotonic_ns() - start) < kQuicklyLoadedNs;
  executor_->set_threads(threads);
  set_model_inputs(*executor_, {});
}

std::vector<NDArray> MapSubject::results() const {
  require(executor_->run());
  std::vector<NDArray> results;
  for (size_t i = 0; i < executor_->num_outputs(); ++i) results.push_back(executor_->output(i).copy());
  return results;
}

MeasuredModel MapSubject::measured(MapObjective objective) const {
  MeasuredModel model{executor_.get(), {}, {}};
  if (quick_to_load_) model.another = [this] { return another_executor(built_, *executor_); };
  if (objective == MapObjective::kEnergy)
    model.other = energy_runs(*executor_);
  else if (objective != MapObjective::kSerial)
    model.other = queue_runs(built_, *executor_, objective, quick_to_load_);
  return model;
}

void MapSubject::set_times(const FusedTimes& times) {
  for (size_t i = 0; i < times.nodes.size() && i < times.node_times.size(); ++i)
    node_us_[times.nodes[i]] = times.node_times[i].us;
}

void MapSubject::predict(const PriceSource& prices, int threads, const BuildContext& context) {
  PredictOptions options;
  options.predictor = prices.predictor;
  options.store = prices.store;
  options.threads = threads;
  options.device = prices.device;
  options.context = prices.predictor ? context_of_device(prices.device, context) : context;
  const PredictedReport made = baton::predict(built_, options);
  for (const KernelRow& row : made.report.kernels) {
    if (row.median_us <= 0 || std::isinf(row.median_us))
      throw Error("node " + std::to_string(row.node) + " `" + row.title + "` costs " +
                  std::to_string(row.median_us) + " us (" + row.basis +
                  "): a cost is a positive number; correct the store or the device sheet");
    node_us_[row.node] = row.median_us;
  }
}

double MapSubject::kernels_us() const {
  double us = 0;
  for (size_t n = 0; n < node_us_.size(); ++n)
    if (built_.plan.graph->nodes[n].kind != PlanNode::Kind::kCopy) us += node_us_[n];
  return us;
}

namespace {

/// The backend of a node: of a region its compiler, else the processor's.
int backend_of_node(const PlannedNode& node, const std::vector<std::string>& backends) {
  const std::string compiler = node.function ? compiler_of(*node.function) : "";
  const auto at = std::ranges::find(backends, compiler);
  return at == backends.end() ? 0 : static_cast<int>(at - backends.begin());
}

/// The bytes of a node's inputs, constants included, and results.
double bytes_of_node(const Plan& plan, const PlanNode& node) {
  double bytes = 0;
  for (uint32_t i = 0; i < node.num_outputs; ++i)
    bytes += static_cast<double>(plan.entries[node.first_entry + i].bytes());
  for (const EntryId entry : node.inputs) bytes += static_cast<double>(plan.entries[entry].bytes());
  return bytes;
}

/// A kernel in no region is the processor's.
bool is_of_host(const PlannedNode& node) { return node.function && compiler_of(*node.function).empty(); }

}  // namespace

std::vector<LayerVariant> MapSubject::variants(size_t operators) const {
  std::vector<LayerVariant> variants(operators, LayerVariant::kByCost);
  for (size_t n = 0; n < built_.plan.nodes.size(); ++n) {
    if (!is_of_host(built_.plan.nodes[n])) continue;
    const LayerVariant variant = variant_of_kernel(*built_.plan.nodes[n].function);
    if (variant == LayerVariant::kByCost) continue;
    for (const uint32_t id : built_.plan.graph->nodes[n].origins)
      if (is_layer(built_.origins->operators[id])) variants[id] = variant;
  }
  return variants;
}

uint64_t MapSubject::kernels_hash() const {
  Hasher hash;
  for (const PlannedNode& node : built_.plan.nodes)
    if (is_of_host(node)) hash.add(structural_hash(Expr(node.function)));
  return hash.value();
}

MeasuredBuild MapSubject::build(std::string name, const std::vector<std::string>& backends) const {
  const Plan& plan = *built_.plan.graph;
  MeasuredBuild build{.name = std::move(name), .plan = built_.plan.graph, .origins = *built_.origins};
  build.node_us = node_us_;
  std::set<std::string> constants;
  for (const auto& [constant, value] : built_.params()) constants.insert(constant);
  for (size_t n = 0; n < plan.nodes.size(); ++n) {
    const PlanNode& node = plan.nodes[n];
    build.constants.push_back(node.kind == PlanNode::Kind::kInput && constants.count(node.name));
    build.node_backend.push_back(backend_of_node(built_.plan.nodes[n], backends));
    build.node_bytes.push_back(bytes_of_node(plan, node));
    const PlannedNode& planned = built_.plan.nodes[n];
    const bool host = is_of_host(planned);
    build.node_kernel.push_back(host ? structural_hash(Expr(planned.function)) : 0);
    build.node_variant.push_back(host ? variant_of_kernel(*planned.function) : LayerVariant::kByCost);
  }
  return build;
}

PlanQueues MapSubject::queues(const std::map<int, std::string>& names) const {
  return side_by_side(*built_.plan.graph, node_us_, names);
}

std::vector<int> MapSubject::owners(const std::vector<std::string>& backends, size_t operators) const {
  std::vector<int> owners(operators, -1);
  for (size_t n = 0; n < built_.plan.nodes.size(); ++n)
    for (const uint32_t id : built_.plan.graph->nodes[n].origins)
      if (owners[id] < 0) owners[id] = backend_of_node(built_.plan.nodes[n], backends);
  return owners;
}

std::vector<std::vector<uint32_t>> MapSubject::portions(double bytes) const {
  std::vector<std::vector<uint32_t>> portions;
  double used = 0;
  for (const PlanNode& node : built_.plan.graph->nodes) {
    const double needs = bytes_of_node(*built_.plan.graph, node);
    if (node.origins.empty() || needs > bytes) continue;
    if (portions.empty() || used + needs > bytes) {
      portions.emplace_back();
      used = 0;
    }
    used += needs;
    portions.back().insert(portions.back().end(), node.origins.begin(), node.origins.end());
  }
  return portions;
}

std::vector<double> MapSubject::operator_us(size_t operators) const {
  std::vector<double> us(operators, 0);
  const std::vector<OperatorRecord>& records = built_.origins->operators;
  for (size_t n = 0; n < node_us_.size(); ++n) {
    const std::vector<uint32_t>& here = built_.plan.graph->nodes[n].origins;
    double sum = 0;
    for (const uint32_t id : here) sum += records[id].flops + 1;
    for (const uint32_t id : here) us[id] += node_us_[n] * (records[id].flops + 1) / sum;
  }
  return us;
}

}  // namespace baton
