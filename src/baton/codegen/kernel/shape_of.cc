#include "baton/codegen/kernel/shape_of.h"

#include <algorithm>
#include <map>

#include "baton/codegen/kernel/marks.h"

namespace baton {

namespace hi = Halide::Internal;

namespace {

HeldStage stage_of(const std::string& func, const std::string& prefix) {
  const MarkSite site = MarkPass::site_of(func, prefix);
  return {site.block, site.stage};
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
  explicit Realized(const std::string& prefix) : prefix_(prefix) {}
  std::map<std::string, HeldStage> sites;  ///< keyed by the prefix of their loops' names

 private:
  using IRVisitor::visit;
  void visit(const hi::ProducerConsumer* node) override {
    const MarkSite site = MarkPass::site_of(node->name, prefix_);
    if (site.block >= 0) sites[prefix_ + "_" + site.name] = {site.block, site.stage};
    IRVisitor::visit(node);
  }
  const std::string& prefix_;
};

/// Collects the segments of one function. A stage nested in one of the same operator is merged into it,
/// unless that is the outermost: as for marks with KernelVariant::within (the maximum and the sum of a
/// softmax are stages).
class Walk final : public hi::IRVisitor {
 public:
  Walk(const std::string& prefix, HeldStage base, Counts& counts,
       std::map<HeldStage, HeldStage, StageOrder>& joined)
      : prefix_(prefix), counts_(counts), joined_(joined), stack_{std::move(base)} {
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
    const HeldStage made = stage_of(node->name, prefix_);
    const auto around =
        std::count_if(stack_.begin(), stack_.end(), [](const HeldStage& stage) { return stage.block >= 0; });
    const bool own =
        made.block < 0 || (made.block == stack_.back().block && (made == stack_.back() || around > 1));
    if (own && made.block >= 0) joined_[made] = stack_.back();
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

  const std::string& prefix_;
  Counts& counts_;
  std::map<HeldStage, HeldStage, StageOrder>& joined_;
  std::vector<HeldStage> stack_;
};

/// "K_par_for_K_b0_nn_conv2d__pad_s0_y": the body of a parallel loop of stage pad.
HeldStage base_of(const std::string& function, const std::string& prefix,
                  const std::map<std::string, HeldStage>& sites) {
  const std::string tail = prefix + "_par_for_";
  HeldStage best;
  if (!function.starts_with(tail)) return best;
  const std::string loop = function.substr(tail.size());
  size_t longest = 0;
  for (const auto& [name, stage] : sites)
    if (loop.starts_with(name + "_") && name.size() > longest) longest = name.size(), best = stage;
  return best;
}

bool has_stage(int block, const std::map<std::string, HeldStage>& sites) {
  return std::any_of(sites.begin(), sites.end(),
                     [&](const auto& site) { return site.second.block == block; });
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
    if (site.block >= 0 && !(hands_on(callee) && has_stage(site.block, sites))) blocks.insert(site.block);
    add_inlined(callee, prefix, sites, seen, blocks);
  }
}

}  // namespace

KernelShape shape_of(const Halide::Module& module, const std::vector<Halide::Func>& outputs,
                     const std::string& prefix) {
  Realized realized(prefix);
  for (const hi::LoweredFunc& function : module.functions()) function.body.accept(&realized);

  KernelShape shape;
  Counts counts;
  std::map<HeldStage, HeldStage, StageOrder> joined;
  for (const hi::LoweredFunc& function : module.functions()) {
    Walk walk(prefix, base_of(function.name, prefix, realized.sites), counts, joined);
    function.body.accept(&walk);
    shape.functions.push_back({function.name, std::move(walk.segments)});
  }

  StageSets sets;
  for (const Halide::Func& output : outputs) {
    std::map<std::string, hi::Function> all = hi::find_transitive_calls(output.function());
    all.emplace(output.name(), output.function());
    for (const auto& [name, function] : all) {
      const HeldStage stage = stage_of(name, prefix);
      if (stage.block < 0 || !realized.sites.count(prefix + "_" + MarkPass::site_of(name, prefix).name))
        continue;
      const auto at = joined.find(stage);
      std::set<int>& blocks = sets[at == joined.end() ? stage : at->second];
      blocks.insert(stage.block);
      std::set<std::string> seen;
      add_inlined(function, prefix, realized.sites, seen, blocks);
    }
  }
  for (auto& [stage, blocks] : sets) shape.stages.push_back({stage, std::move(blocks)});
  return shape;
}

}  // namespace baton
