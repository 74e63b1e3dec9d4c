#include "baton/codegen/kernel/shape_of.h"

#include <algorithm>
#include <map>

#include "baton/codegen/kernel/marks.h"

namespace baton {

namespace hi = Halide::Internal;

namespace {

using Pipelines = std::vector<LoweredPipeline>;

/// The site of a Func of any of the pipelines; its name with that one's prefix.
MarkSite site_of(const std::string& func, const Pipelines& pipelines) {
  for (const LoweredPipeline& each : pipelines)
    if (MarkSite site = MarkPass::site_of(func, each.prefix); site.block >= 0) {
      site.name = each.prefix + "_" + site.name;
      return site;
    }
  return {};
}

struct StageOrder {
  bool operator()(const HeldStage& a, const HeldStage& b) const {
    return a.block != b.block ? a.block < b.block : a.stage < b.stage;
  }
};
using StageSets = std::map<HeldStage, std::set<int>, StageOrder>;

/// Counts of loops and of producers and consumers so far: Halide numbers the blocks of a module by these.
struct Counts {
  int loops = 0, others = 0;
};

std::string label_of(int number, const std::string& kind, std::string name) {
  std::replace(name.begin(), name.end(), ' ', '_');
  return std::to_string(number) + kind + name;
}

/// Finds the stages that have code of their own.
class Realized final : public hi::IRVisitor {
 public:
  explicit Realized(const Pipelines& pipelines) : pipelines_(pipelines) {}
  std::map<std::string, HeldStage> sites;  ///< keyed by the prefix of their loops' names

 private:
  using IRVisitor::visit;
  void visit(const hi::ProducerConsumer* node) override {
    const MarkSite site = site_of(node->name, pipelines_);
    if (site.block >= 0) sites[site.name] = {site.block, site.stage};
    IRVisitor::visit(node);
  }
  const Pipelines& pipelines_;
};

/// Collects the segments of one function. A stage nested in one of the same operator is merged into it,
/// unless that is the outermost: as for marks with KernelVariant::within (the maximum and the sum of a
/// softmax are stages).
class Walk final : public hi::IRVisitor {
 public:
  Walk(const Pipelines& pipelines, HeldStage base, Counts& counts, std::map<std::string, HeldStage>& joined)
      : pipelines_(pipelines), counts_(counts), joined_(joined), stack_{std::move(base)} {
    begin("entry");
  }
  std::vector<CodeSegment> segments;

 private:
  using IRVisitor::visit;

  void begin(const std::string& name) { segments.push_back({name, stack_.back(), {}}); }
  void stored() {
    std::vector<HeldStage>& stores = segments.back().stores;
    if (stores.empty() || !(stores.back() == stack_.back())) stores.push_back(stack_.back());
  }

  void visit(const hi::ProducerConsumer* node) override {
    const int number = ++counts_.others;
    if (!node->is_producer) {
      begin(label_of(number, "_consume_", node->name));
      node->body.accept(this);
      return;
    }
    const MarkSite site = site_of(node->name, pipelines_);
    const HeldStage made{site.block, site.stage};
    const auto around =
        std::count_if(stack_.begin(), stack_.end(), [](const HeldStage& stage) { return stage.block >= 0; });
    const bool own =
        made.block < 0 || (made.block == stack_.back().block && (made == stack_.back() || around > 1));
    if (own && made.block >= 0) joined_[site.name] = stack_.back();
    stack_.push_back(own ? stack_.back() : made);
    begin(label_of(number, "_produce_", node->name));
    node->body.accept(this);
    stack_.pop_back();
  }

  void visit(const hi::For* node) override {
    if (node->for_type == hi::ForType::Parallel) return IRVisitor::visit(node);
    const int number = ++counts_.loops;
    begin(label_of(number, "_for_", node->name));
    node->body.accept(this);
    begin(label_of(number, "_end_for_", node->name));
  }

  void visit(const hi::Store* node) override {
    stored();
    IRVisitor::visit(node);
  }

  const Pipelines& pipelines_;
  Counts& counts_;
  std::map<std::string, HeldStage>& joined_;  // by the site's name
  std::vector<HeldStage> stack_;
};

/// "K_par_for_K_b0_nn_conv2d__pad_s0_y": the body of a parallel loop of stage pad.
HeldStage base_of(const std::string& function, const std::map<std::string, HeldStage>& sites) {
  const std::string tail = "_par_for_";
  HeldStage best;
  const size_t at = function.find(tail);
  if (at == std::string::npos) return best;
  const std::string loop = function.substr(at + tail.size());
  size_t longest = 0;
  for (const auto& [name, stage] : sites)
    if (loop.starts_with(name + "_") && name.size() > longest) longest = name.size(), best = stage;
  return best;
}

bool has_stage(int block, const std::string& prefix, const std::map<std::string, HeldStage>& sites) {
  return std::any_of(sites.begin(), sites.end(), [&](const auto& site) {
    return site.second.block == block && site.first.starts_with(prefix + "_b");
  });
}

/// Whether `func` only forwards a value computed elsewhere: out(x, y) = conv2d(x, y).
bool hands_on(const hi::Function& func) {
  return func.has_pure_definition() && !func.has_update_definition() && func.values().size() == 1 &&
         func.values()[0].as<hi::Call>() && func.values()[0].as<hi::Call>()->call_type == hi::Call::Halide;
}

/// Adds the operators inlined into `func`: the Funcs it reads that have no loops of their own.
void add_inlined(const hi::Function& func, const std::string& prefix,
                 const std::map<std::string, HeldStage>& sites, std::set<std::string>& seen,
                 std::set<int>& blocks) {
  for (const auto& [name, callee] : hi::find_direct_calls(func)) {
    const MarkSite site = MarkPass::site_of(name, prefix);
    if (site.block >= 0 && sites.count(prefix + "_" + site.name)) continue;
    if (!seen.insert(name).second) continue;
    if (site.block >= 0 && !(hands_on(callee) && has_stage(site.block, prefix, sites)))
      blocks.insert(site.block);
    add_inlined(callee, prefix, sites, seen, blocks);
  }
}

}  // namespace

KernelShape shape_of(const Halide::Module& module, const std::vector<LoweredPipeline>& pipelines) {
  Realized realized(pipelines);
  for (const hi::LoweredFunc& function : module.functions()) function.body.accept(&realized);

  KernelShape shape;
  Counts counts;
  std::map<std::string, HeldStage> joined;
  for (const hi::LoweredFunc& function : module.functions()) {
    Walk walk(pipelines, base_of(function.name, realized.sites), counts, joined);
    function.body.accept(&walk);
    shape.functions.push_back({function.name, std::move(walk.segments)});
  }

  StageSets sets;
  for (const LoweredPipeline& pipeline : pipelines)
    for (const Halide::Func& output : pipeline.outputs) {
      std::map<std::string, hi::Function> all = hi::find_transitive_calls(output.function());
      all.emplace(output.name(), output.function());
      for (const auto& [name, function] : all) {
        const MarkSite site = site_of(name, pipelines);
        if (!realized.sites.contains(site.name)) continue;
        const auto at = joined.find(site.name);
        std::set<int>& blocks = sets[at == joined.end() ? HeldStage{site.block, site.stage} : at->second];
        blocks.insert(site.block);
        std::set<std::string> seen;
        add_inlined(function, pipeline.prefix, realized.sites, seen, blocks);
      }
    }
  for (auto& [stage, blocks] : sets) shape.stages.push_back({stage, std::move(blocks)});
  return shape;
}

}  // namespace baton
