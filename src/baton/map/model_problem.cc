#include "baton/map/model_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "baton/support/error.h"
#include "baton/support/hash.h"

namespace baton {

namespace {

constexpr uint32_t kGiven = std::numeric_limits<uint32_t>::max();

// Sets that are joined, named by their lowest member.
class Sets {
 public:
  explicit Sets(size_t count) : root_(count) { std::iota(root_.begin(), root_.end(), 0u); }
  uint32_t find(uint32_t x) {
    while (root_[x] != x) x = root_[x] = root_[root_[x]];
    return x;
  }
  bool join(uint32_t a, uint32_t b) {
    a = find(a), b = find(b);
    root_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

 private:
  std::vector<uint32_t> root_;
};

// "Tensor[(1, 64), float32]": its extents.
Shape shape_of(const std::string& type) {
  Shape shape;
  const size_t open = type.find("[("), close = type.find(')');
  if (type.starts_with("(") || open == std::string::npos) return shape;
  for (size_t at = open + 2; at < close;) {
    size_t used = 0;
    if (!std::isdigit(static_cast<unsigned char>(type[at]))) {
      ++at;
      continue;
    }
    shape.push_back(std::stoll(type.substr(at, close - at), &used));
    at += used;
  }
  return shape;
}

// How one build divides the operators, and where its values are.
class Division {
 public:
  Division(const MeasuredBuild& build, const std::vector<MappedBackend>& backends,
           const std::vector<bool>& computed)
      : build_(build),
        backends_(backends),
        records_(build.origins.operators),
        computed_(computed),
        sets_(records_.size()) {
    for (const PlanNode& node : build.plan->nodes)
      for (const uint32_t id : node.origins) sets_.join(node.origins.front(), id);
    attach_rest();
    join_circles();
    for (uint32_t i = 0; i < build.plan->nodes.size(); ++i)
      if (const PlanNode& node = build.plan->nodes[i]; !node.origins.empty())
        nodes_[sets_.find(node.origins.front())].push_back(i);
  }

  uint32_t group(uint32_t id) const { return sets_.find(id); }
  const MeasuredBuild& build() const { return build_; }
  std::vector<uint32_t> nodes(uint32_t group) const {
    const auto at = nodes_.find(group);
    return at == nodes_.end() ? std::vector<uint32_t>() : at->second;
  }
  double us(uint32_t group) const {
    double sum = 0;
    for (const uint32_t node : nodes(group)) sum += build_.node_us[node];
    return sum;
  }

  /// The backend that computes the group: of several on one device that of most of its time. -1: several
  /// devices do.
  int backend(uint32_t group) const {
    std::map<int, double> us;
    for (const uint32_t node : nodes(group))
      us[build_.node_backend.empty() ? 0 : build_.node_backend[node]] += build_.node_us[node];
    if (us.empty()) return 0;  // nothing is left of it
    int best = us.begin()->first;
    for (const auto& [backend, time] : us) {
      if (backends_[static_cast<size_t>(backend)].device != backends_[static_cast<size_t>(best)].device)
        return -1;
      if (time > us[best]) best = backend;
    }
    return best;
  }

  /// Whether the result of operator `id` leaves its group in another layout than the source program's.
  bool blocked_output(uint32_t id) const {
    const Shape plain = shape_of(records_[id].type);
    bool any = false, same = false;
    // The last kernel that computes the operator, or what it was attached to.
    for (const uint32_t n : nodes(group(id))) {
      const PlanNode& node = build_.plan->nodes[n];
      if (std::ranges::find(node.origins, id) == node.origins.end()) continue;
      any = true;
      same = false;
      for (uint32_t i = 0; i < node.num_outputs; ++i)
        same = same || build_.plan->entries[node.first_entry + i].shape == plain;
    }
    return any && !same && !plain.empty();
  }

  /// The same of what the group of a reader takes in from operator `id`.
  bool blocked_input(uint32_t reader_group, uint32_t id) const {
    const Shape plain = shape_of(records_[id].type);
    const uint32_t from = group(id);
    for (const uint32_t n : nodes(reader_group))
      for (const EntryId entry : build_.plan->nodes[n].inputs)
        if (maker_group(entry) == from) return build_.plan->entries[entry].shape != plain && !plain.empty();
    return false;
  }

 private:
  // The group whose result `entry` is, seen through changes of layout and copies; kGiven: of none.
  uint32_t maker_group(EntryId entry) const {
    for (;;) {
      const PlanNode& node = build_.plan->nodes[build_.plan->maker_of(entry)];
      if (!node.origins.empty()) return group(node.origins.front());
      if (node.inputs.empty()) return kGiven;
      entry = node.inputs.front();
    }
  }

  // Operators that this build does not compute, but others do, belong to whoever makes what they read.
  void attach_rest() {
    std::vector<bool> here(records_.size());
    for (const PlanNode& node : build_.plan->nodes)
      for (const uint32_t id : node.origins) here[id] = true;
    std::vector<std::vector<uint32_t>> readers(records_.size());
    for (const OperatorRecord& record : records_)
      for (const uint32_t input : record.inputs) readers[input].push_back(record.id);
    for (const OperatorRecord& record : records_) {
      if (here[record.id] || !computed_[record.id]) continue;
      const auto near = std::ranges::find_if(record.inputs, [&](uint32_t id) { return computed_[id]; });
      if (near != record.inputs.end())
        sets_.join(*near, record.id);
      else if (!readers[record.id].empty())
        sets_.join(readers[record.id].front(), record.id);
    }
  }

  // Groups that wait for each other are one: a depth-first search that joins what lies on a circle.
  void join_circles() {
    for (bool changed = true; changed;) {
      changed = false;
      std::map<uint32_t, std::set<uint32_t>> reads;
      for (const OperatorRecord& record : records_)
        for (const uint32_t input : record.inputs)
          if (sets_.find(input) != sets_.find(record.id))
            reads[sets_.find(record.id)].insert(sets_.find(input));
      std::map<uint32_t, int> state;  // 1: on the way, 2: done
      for (const auto& [start, unused] : reads) {
        if (state[start]) continue;
        std::vector<std::pair<uint32_t, std::set<uint32_t>::const_iterator>> way{
            {start, reads[start].begin()}};
        state[start] = 1;
        while (!way.empty() && !changed) {
          auto& [at, next] = way.back();
          if (next == reads[at].end()) {
            state[at] = 2;
            way.pop_back();
            continue;
          }
          const uint32_t to = *next++;
          if (state[to] == 0) {
            state[to] = 1;
            way.emplace_back(to, reads[to].begin());
          } else if (state[to] == 1) {
            for (size_t i = way.size(); i-- > 0;) {
              changed = sets_.join(to, way[i].first) || changed;
              if (way[i].first == to) break;
            }
          }
        }
        if (changed) break;
      }
    }
  }

  const MeasuredBuild& build_;
  const std::vector<MappedBackend>& backends_;
  const std::vector<OperatorRecord>& records_;
  const std::vector<bool>& computed_;
  mutable Sets sets_;
  std::map<uint32_t, std::vector<uint32_t>> nodes_;
};

/// The builds of one program, and how each divides its operators.
struct DividedBuilds {
  DividedBuilds(const std::vector<MeasuredBuild>& builds, const ModelPrices& prices)
      : builds(builds), records(builds.front().origins.operators), computed(records.size()) {
    for (const MeasuredBuild& build : builds) {
      if (build.origins.operators.size() != records.size())
        throw Error("the builds " + builds.front().name + " and " + build.name +
                    " are not of one program: they have " + std::to_string(records.size()) + " and " +
                    std::to_string(build.origins.operators.size()) + " operators");
      for (const PlanNode& node : build.plan->nodes)
        for (const uint32_t id : node.origins) computed.at(id) = true;
    }
    for (const MeasuredBuild& build : builds) divisions.emplace_back(build, prices.backends, computed);
  }

  const std::vector<MeasuredBuild>& builds;
  const std::vector<OperatorRecord>& records;
  std::vector<bool> computed;  ///< by operator: some build computes it
  std::vector<Division> divisions;
};

/// The problem without candidates: its nodes, formats and values.
class Values {
 public:
  Values(const DividedBuilds& divided, const ModelPrices& prices) : divided_(divided), prices_(prices) {}

  ModelProblem run() {
    number_nodes();
    formats();
    values();
    return std::move(model_);
  }

 private:
  // Operators that no build separates are one node; producers first.
  void number_nodes() {
    std::map<std::vector<uint32_t>, std::vector<uint32_t>> classes;
    for (uint32_t id = 0; id < divided_.records.size(); ++id) {
      if (!divided_.computed[id]) continue;
      std::vector<uint32_t> key;
      for (const Division& division : divided_.divisions) key.push_back(division.group(id));
      classes[key].push_back(id);
    }
    std::vector<std::vector<uint32_t>> members;
    node_of_.assign(divided_.records.size(), -1);
    for (auto& [key, ids] : classes) {
      for (const uint32_t id : ids) node_of_[id] = static_cast<int>(members.size());
      members.push_back(ids);
    }
    // Kahn's order, the lowest operator first.
    std::vector<std::set<int>> waits(members.size()), after(members.size());
    for (uint32_t id = 0; id < divided_.records.size(); ++id)
      if (divided_.computed[id])
        for (const uint32_t input : sources(id))
          if (node_of_[input] != node_of_[id]) {
            waits[static_cast<size_t>(node_of_[id])].insert(node_of_[input]);
            after[static_cast<size_t>(node_of_[input])].insert(node_of_[id]);
          }
    std::set<std::pair<uint32_t, int>> ready;
    for (size_t i = 0; i < members.size(); ++i)
      if (waits[i].empty()) ready.emplace(members[i].front(), static_cast<int>(i));
    std::vector<int> order(members.size(), -1);
    while (!ready.empty()) {
      const int at = ready.begin()->second;
      ready.erase(ready.begin());
      order[static_cast<size_t>(at)] = static_cast<int>(model_.operators.size());
      model_.operators.push_back(members[static_cast<size_t>(at)]);
      for (const int next : after[static_cast<size_t>(at)]) {
        waits[static_cast<size_t>(next)].erase(at);
        if (waits[static_cast<size_t>(next)].empty())
          ready.emplace(members[static_cast<size_t>(next)].front(), next);
      }
    }
    BATON_CHECK(model_.operators.size() == members.size(), "operators that wait for each other");
    for (int& node : node_of_)
      if (node >= 0) node = order[static_cast<size_t>(node)];
    model_.problem.nodes = static_cast<int>(members.size());
  }

  // The computed operators that `id` reads, seen through those that no build computes.
  std::vector<uint32_t> sources(uint32_t id) const {
    std::vector<uint32_t> found, open(divided_.records[id].inputs);
    std::set<uint32_t> seen;
    while (!open.empty()) {
      const uint32_t input = open.back();
      open.pop_back();
      if (!seen.insert(input).second) continue;
      if (divided_.computed[input])
        found.push_back(input);
      else
        open.insert(open.end(), divided_.records[input].inputs.begin(), divided_.records[input].inputs.end());
    }
    return found;
  }

  // A format for each device in the source program's layouts, and one for each build in its own.
  void formats() {
    MappingProblem& problem = model_.problem;
    problem.memory_limits = prices_.memory_limits;
    problem.memory_limits.resize(prices_.devices.size());
    for (size_t d = 0; d < prices_.devices.size(); ++d)
      problem.formats.push_back({prices_.devices[d], static_cast<int>(d)});
    for (const MappedBackend& backend : prices_.backends)
      problem.formats.push_back(
          {prices_.devices.at(static_cast<size_t>(backend.device)) + ", blocked by " + backend.name,
           backend.device});
    const size_t count = problem.formats.size(), devices = prices_.devices.size();
    problem.conversions.assign(count, std::vector<std::optional<MappingConversion>>(count));
    for (size_t f = 0; f < devices; ++f)
      for (size_t g = 0; g < devices; ++g)
        if (f != g) problem.conversions[f][g] = prices_.links[f][g];
    for (size_t b = 0; b < prices_.backends.size(); ++b) {
      const auto device = static_cast<size_t>(prices_.backends[b].device);
      problem.conversions[device][devices + b] = problem.conversions[devices + b][device] =
          prices_.backends[b].layout;
    }
  }

  void values() {
    MappingProblem& problem = model_.problem;
    std::vector<std::vector<int>> consumers(divided_.records.size());
    for (uint32_t id = 0; id < divided_.records.size(); ++id)
      if (divided_.computed[id])
        for (const uint32_t input : sources(id)) consumers[input].push_back(node_of_[id]);
    std::vector<bool> returned = returned_operators();
    for (uint32_t id = 0; id < divided_.records.size(); ++id) {
      if (!divided_.computed[id]) continue;
      MappingValue value{.producer = node_of_[id], .bytes = bytes_of(id)};
      for (const int node : consumers[id])
        if (node != value.producer) value.consumers.push_back(node);
      if (returned[id]) value.required = {0};
      if (value.consumers.empty() && value.required.empty()) continue;
      tidy(value);
      problem.values.push_back(value);
      model_.values.push_back(id);
    }
    given_values();
  }

  static void tidy(MappingValue& value) {
    std::ranges::sort(value.consumers);
    const auto rest = std::ranges::unique(value.consumers);
    value.consumers.erase(rest.begin(), rest.end());
  }

  double bytes_of(uint32_t id) const {
    double bytes = 0;
    // What a build has for it knows the type's size; blocked layouts keep it, up to padding.
    for (const MeasuredBuild& build : divided_.builds)
      for (const uint32_t n : build.origins.operators[id].nodes) {
        const PlanNode& node = build.plan->nodes[n];
        double sum = 0;
        for (uint32_t i = 0; i < node.num_outputs; ++i)
          sum += static_cast<double>(build.plan->entries[node.first_entry + i].bytes());
        const Shape shape = shape_of(divided_.records[id].type);
        if (!shape.empty())
          sum = static_cast<double>(*byte_count(shape, build.plan->entries[node.first_entry].dtype));
        return sum;
      }
    return bytes;
  }

  std::vector<bool> returned_operators() const {
    std::vector<bool> returned(divided_.records.size());
    std::vector<bool> read(divided_.records.size());
    for (uint32_t id = 0; id < divided_.records.size(); ++id)
      if (divided_.computed[id])
        for (const uint32_t input : sources(id)) read[input] = true;
    const Plan& plan = *divided_.builds.front().plan;
    for (EntryId head : plan.heads) {
      // Through what the compiler added, to a node with operators: those of them that nobody reads, else the
      // last.
      for (;;) {
        const PlanNode& node = plan.nodes[plan.maker_of(head)];
        if (!node.origins.empty()) {
          bool any = false;
          for (const uint32_t id : node.origins)
            if (!read[id]) any = returned[id] = true;
          if (!any) returned[node.origins.back()] = true;
          break;
        }
        if (node.inputs.empty()) break;
        head = node.inputs.front();
      }
    }
    for (uint32_t id = 0; id < divided_.records.size(); ++id)
      if (divided_.computed[id] && !read[id]) returned[id] = true;
    return returned;
  }

  // The inputs of the model, each read by the first operators of the kernels that take it.
  void given_values() {
    const MeasuredBuild& build = divided_.builds.front();
    const Plan& plan = *build.plan;
    std::map<uint32_t, MappingValue> given;
    for (size_t n = 0; n < plan.nodes.size(); ++n) {
      const PlanNode& node = plan.nodes[n];
      if (node.origins.empty()) continue;
      for (EntryId entry : node.inputs) {
        uint32_t maker = plan.maker_of(entry);
        while (plan.nodes[maker].origins.empty() && !plan.nodes[maker].inputs.empty())
          maker = plan.maker_of(entry = plan.nodes[maker].inputs.front());
        if (!plan.nodes[maker].inputs.empty() || is_constant(build, maker)) continue;
        MappingValue& value = given.try_emplace(maker).first->second;
        value.bytes = static_cast<double>(plan.entries[entry].bytes());
        value.given = 0;
        value.consumers.push_back(node_of_[node.origins.front()]);
      }
    }
    for (auto& [maker, value] : given) {
      tidy(value);
      model_.problem.values.push_back(value);
      model_.values.push_back(kGiven);
    }
  }

  static bool is_constant(const MeasuredBuild& build, uint32_t node) {
    return node < build.constants.size() && build.constants[node];
  }

  const DividedBuilds& divided_;
  const ModelPrices& prices_;
  std::vector<int> node_of_;  ///< by operator
  ModelProblem model_;
};

/// Adds what may compute the nodes: every group of every build, and pieces of groups that have a price.
class Candidates {
 public:
  Candidates(const DividedBuilds& divided, const ModelPrices& prices, ModelProblem model)
      : divided_(divided), prices_(prices), model_(std::move(model)) {}

  ModelProblem run() {
    candidates();
    require_candidates();
    return std::move(model_);
  }

 private:
  int format(size_t backend, bool blocked) const {
    return blocked ? static_cast<int>(prices_.devices.size() + backend) : prices_.backends[backend].device;
  }

  void candidates() {
    const MappingIndex index(model_.problem);
    model_.whole.resize(divided_.builds.size());
    for (size_t b = 0; b < divided_.builds.size(); ++b) {
      std::map<uint32_t, std::vector<int>> groups;  // -> nodes
      for (int node = 0; node < model_.problem.nodes; ++node)
        groups[divided_.divisions[b].group(operators_of(node).front())].push_back(node);
      bool complete = true;
      for (const auto& [group, nodes] : groups) {
        const int backend = divided_.divisions[b].backend(group);
        const int made = backend < 0 ? -1 : add(index, b, static_cast<size_t>(backend), group, nodes);
        complete = complete && made >= 0;
        if (made >= 0) model_.whole[b].push_back(made);
        if (nodes.size() > 1 && backend >= 0) pieces(index, b, static_cast<size_t>(backend), group, nodes);
      }
      if (!complete) model_.whole[b].clear();
    }
  }

  const std::vector<uint32_t>& operators_of(int node) const {
    return model_.operators[static_cast<size_t>(node)];
  }

  void pieces(const MappingIndex& index, size_t b, size_t backend, uint32_t group,
              const std::vector<int>& nodes) {
    const auto piece = [&](std::vector<int> part) {
      std::vector<uint32_t> operators;
      for (const int node : part)
        operators.insert(operators.end(), operators_of(node).begin(), operators_of(node).end());
      std::ranges::sort(operators);
      const auto us = prices_.piece_us ? prices_.piece_us(backend, operators) : std::nullopt;
      if (us) {
        add(index, b, backend, group, std::move(part), us);
        return;
      }
      model_.without_price.push_back({backend, operators});
      const double whole_us = divided_.divisions[b].us(group);
      if (prices_.guesses_piece && prices_.guesses_piece(backend, operators) && !std::isnan(whole_us))
        add(index, b, backend, group, std::move(part), whole_us * share(group, b, operators), true);
    };
    for (const int node : nodes) piece({node});
    // What is left when the first or the last ones go elsewhere.
    for (size_t i = 2; i < nodes.size(); ++i) {
      piece({nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(i)});
      piece({nodes.end() - static_cast<std::ptrdiff_t>(i), nodes.end()});
    }
  }

  /// The operators' share of a group's operations. Fusing does not make what is fused slower, so that a part
  /// alone costs no less than this share of the whole's time.
  double share(uint32_t group, size_t b, const std::vector<uint32_t>& operators) const {
    double all = 0, part = 0;
    for (const uint32_t n : divided_.divisions[b].nodes(group))
      for (const uint32_t id : divided_.builds[b].plan->nodes[n].origins)
        all += divided_.records[id].flops + 1;
    for (const uint32_t id : operators) part += divided_.records[id].flops + 1;
    return all > 0 ? std::min(1.0, part / all) : 0;
  }

  void require_candidates() const {
    std::vector<bool> covered(static_cast<size_t>(model_.problem.nodes));
    for (const MappingCandidate& each : model_.problem.candidates)
      for (const int node : each.nodes) covered[static_cast<size_t>(node)] = true;
    constexpr size_t kMostNamed = 8;
    std::string named;
    size_t count = 0;
    for (size_t node = 0; node < covered.size(); ++node) {
      if (covered[node]) continue;
      const std::string label = divided_.records[model_.operators[node].front()].label();
      if (!unpriced_.count(static_cast<int>(node)))
        throw Error("no backend that may compute " + label + " does");
      if (count++ < kMostNamed) named += (named.empty() ? "" : ", ") + label;
    }
    if (count > kMostNamed) named += " and " + std::to_string(count - kMostNamed) + " others";
    if (count > 0)
      throw Error("no cost is known of " + named +
                  ": measure them (baton map without --no-measure, or baton profile --store), or give a "
                  "--predictor");
  }

  /// The candidate that is the whole group, or, with a price, the piece of it that is `nodes`. -1: it is not
  /// allowed.
  int add(const MappingIndex& index, size_t b, size_t backend, uint32_t group, std::vector<int> nodes,
          std::optional<double> piece_us = {}, bool guessed = false) {
    if (prices_.allowed)
      for (const int node : nodes)
        for (const uint32_t id : operators_of(node))
          if (!prices_.allowed(backend, id)) return -1;
    if (!piece_us && std::isnan(divided_.divisions[b].us(group))) {
      unpriced_.insert(nodes.begin(), nodes.end());
      return -1;
    }
    const CandidateValues values = index.values_of(nodes);
    MappingCandidate candidate{.nodes = std::move(nodes),
                               .us = piece_us ? *piece_us : divided_.divisions[b].us(group),
                               .device = prices_.backends[backend].device};
    for (const int v : values.inputs) {
      const uint32_t id = model_.values[static_cast<size_t>(v)];
      candidate.input_formats.push_back(
          format(backend, !piece_us && id != kGiven && divided_.divisions[b].blocked_input(group, id)));
    }
    for (const int v : values.outputs)
      candidate.output_formats.push_back(format(
          backend, !piece_us && divided_.divisions[b].blocked_output(model_.values[static_cast<size_t>(v)])));
    std::vector<uint32_t> plan_nodes;
    if (!piece_us) plan_nodes = divided_.divisions[b].nodes(group);
    for (const uint32_t n : plan_nodes)
      if (n < divided_.builds[b].node_bytes.size()) candidate.memory += divided_.builds[b].node_bytes[n];
    // The same kernel in several builds: the mean of its times.
    const auto key = std::tuple(backend, candidate.nodes, candidate.input_formats, candidate.output_formats,
                                kernels_hash(b, plan_nodes));
    const auto [known, fresh] = known_.emplace(key, static_cast<int>(model_.problem.candidates.size()));
    if (!fresh) {
      const auto at = static_cast<size_t>(known->second);
      double& us = model_.problem.candidates[at].us;
      us += (candidate.us - us) / ++seen_[at];
      return known->second;
    }
    candidate.label = prices_.backends[backend].name + ":";
    for (const int node : candidate.nodes)
      for (const uint32_t id : operators_of(node)) candidate.label += " " + divided_.records[id].label();
    model_.problem.candidates.push_back(std::move(candidate));
    model_.candidates.push_back({backend, b, plan_nodes, variant_of(b, plan_nodes), guessed});
    seen_.push_back(1);
    return known->second;
  }

  /// 0: one of the kernels is not known.
  uint64_t kernels_hash(size_t b, const std::vector<uint32_t>& plan_nodes) const {
    if (plan_nodes.empty() || divided_.builds[b].node_kernel.empty()) return 0;
    Hasher hash;
    for (const uint32_t n : plan_nodes) {
      if (!divided_.builds[b].node_kernel[n]) return 0;
      hash.add(divided_.builds[b].node_kernel[n]);
    }
    return hash.value();
  }

  LayerVariant variant_of(size_t b, const std::vector<uint32_t>& plan_nodes) const {
    for (const uint32_t n : plan_nodes)
      if (n < divided_.builds[b].node_variant.size() &&
          divided_.builds[b].node_variant[n] != LayerVariant::kByCost)
        return divided_.builds[b].node_variant[n];
    return LayerVariant::kByCost;
  }

  using CandidateKey = std::tuple<size_t, std::vector<int>, std::vector<int>, std::vector<int>, uint64_t>;
  std::map<CandidateKey, int> known_;
  std::vector<int> seen_;   ///< by candidate: in how many builds
  std::set<int> unpriced_;  ///< nodes of groups whose time is not known
  const DividedBuilds& divided_;
  const ModelPrices& prices_;
  ModelProblem model_;
};

}  // namespace

std::vector<int> ModelProblem::backend_of(std::span<const int> chosen, size_t count) const {
  std::vector<int> result(count, -1);
  for (const int c : chosen)
    for (const int node : problem.candidates[static_cast<size_t>(c)].nodes)
      for (const uint32_t id : operators[static_cast<size_t>(node)])
        result[id] = static_cast<int>(candidates[static_cast<size_t>(c)].backend);
  return result;
}

std::vector<uint32_t> ModelProblem::operators_of(int candidate) const {
  std::vector<uint32_t> ids;
  for (const int node : problem.candidates[static_cast<size_t>(candidate)].nodes)
    ids.insert(ids.end(), operators[static_cast<size_t>(node)].begin(),
               operators[static_cast<size_t>(node)].end());
  std::ranges::sort(ids);
  return ids;
}

ModelProblem model_problem(const std::vector<MeasuredBuild>& builds, const ModelPrices& prices) {
  if (builds.empty() || prices.backends.empty()) throw Error("a mapping needs a build");
  const DividedBuilds divided(builds, prices);
  ModelProblem model = Candidates(divided, prices, Values(divided, prices).run()).run();
  check(model.problem);
  return model;
}

}  // namespace baton
