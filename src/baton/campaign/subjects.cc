#include "baton/campaign/subjects.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "baton/campaign/patterns/patterns.h"
#include "baton/codegen/backend.h"
#include "baton/driver/load_model.h"
#include "baton/frontend/variations/variations.h"
#include "baton/ir/attr_objects.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/op_names.h"
#include "baton/ir/placement.h"
#include "baton/ir/rules/cost.h"
#include "baton/ir/visit.h"
#include "baton/profile/record/record.h"
#include "baton/profile/record/work.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

constexpr int kVariationsForPatterns = 6;        // of each family, whose functions patterns are like
constexpr uint64_t kFirstForPatterns = 1000000;  // others than those that are measured whole
constexpr int kMostTries = 60;                   // to perturb one pattern
constexpr double kAsTheyAre = 0.15, kSingle = 0.25, kEpilogue = 0.3;  // of the patterns

CostFacts cost_of(const IRModule& module) {
  CostFacts sum;
  post_order(module->find("main"), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (!call || !call->op() || !call->checked_type()) return;
    const CostFacts cost = cost_of_call(*call);
    sum.flops += cost.flops;
    sum.bytes += cost.bytes;
  });
  return sum;
}

class Subjects {
 public:
  Subjects(const Design& design, const BuildContext& context) : design_(design), context_(context) {}

  std::vector<Subject> made;

  /// Drops what is there already.
  void add(Subject::Kind kind, std::string name, std::string family, const IRModule& module) {
    Subject subject{kind, std::move(name), std::move(family), module, model_work(module)};
    if (!seen_.insert(subject.work.id()).second) return;
    const CostFacts cost = cost_of(module);
    subject.work.brief = subject.name;
    subject.work.flops = cost.flops;
    subject.work.bytes = cost.bytes;
    made.push_back(std::move(subject));
  }

  void add_models() {
    for (const std::string& model : design_.models)
      add(Subject::Kind::kModel, model, family_of_workload(model), load_model(model).module);
    for (const FamilyDesign& family : design_.families)
      for (int64_t i = 0; i < family.count; ++i) {
        stop_if_asked(context_.interrupt);
        const auto number = static_cast<uint64_t>(family.first + i);
        add(Subject::Kind::kModel, family.family + "/" + std::to_string(number), family.family,
            variations::variation(family.family, number));
      }
  }

  void add_patterns(const Uncertainty& uncertain) {
    const auto wanted = made.size() + static_cast<size_t>(design_.patterns);
    const std::vector<std::vector<KernelPattern>> kinds = kinds_of_patterns();
    Choice choose(design_.seed, "patterns");
    double most = 1;
    for (const auto& [op, weight] : design_.uncertainty) most = std::max(most, weight);
    // Each kind as often as the others: what models have in great numbers is not the whole world.
    for (int misses = 0; made.size() < wanted && misses < 1000;) {
      stop_if_asked(context_.interrupt);
      const KernelPattern& base = choose.of(choose.of(kinds));
      const std::optional<KernelPattern> pattern = drawn(base, choose);
      ++misses;
      if (!pattern) continue;
      const IRModule module = program_of(*pattern);
      Work work = kernel_work(pattern->function);
      if (choose.fraction() * most >= std::max(uncertain(work), 0.01)) {
        misses -= misses < 900;
        continue;
      }
      const size_t before = made.size();
      add(Subject::Kind::kPattern, work.brief, pattern->family, module);
      if (made.size() > before) misses = 0;
    }
  }

  void add_transfers() {
    for (const std::string& name : design_.backends) {
      const BackendRef backend = find_backend(name);
      if (!backend || backend->kind.empty() || backend->device_type == context_.host().device_type) continue;
      for (const int64_t bytes : design_.transfer_bytes)
        add(Subject::Kind::kTransfer, std::to_string(bytes) + " bytes to " + name + " and back", "",
            transfer(bytes, *backend));
    }
  }

 private:
  /// The functions of some variations, those with the same operators together.
  std::vector<std::vector<KernelPattern>> kinds_of_patterns() const {
    std::map<std::string, std::vector<KernelPattern>> kinds;
    for (const variations::Family& family : variations::families())
      for (uint64_t i = 0; i < kVariationsForPatterns; ++i) {
        stop_if_asked(context_.interrupt);
        const IRModule module = variations::variation(family.name, kFirstForPatterns + i, {.folded = true});
        for (KernelPattern& pattern : patterns_of(module, family.name, context_))
          kinds[operators_text(pattern)].push_back(std::move(pattern));
      }
    std::vector<std::vector<KernelPattern>> list;
    for (auto& [operators, patterns] : kinds) list.push_back(std::move(patterns));
    return list;
  }

  static std::optional<KernelPattern> drawn(const KernelPattern& base, Choice& choose) {
    const double what = choose.fraction();
    if (what < kAsTheyAre) return base;
    std::optional<KernelPattern> pattern = base;
    if (what < kAsTheyAre + kSingle) {
      const std::vector<KernelPattern> singles = single_operators(base);
      if (singles.empty()) return std::nullopt;
      pattern = choose.of(singles);
    } else if (what < kAsTheyAre + kSingle + kEpilogue) {
      if (std::optional<KernelPattern> other = with_epilogue(base, choose)) pattern = std::move(other);
    }
    for (int i = 0; i < kMostTries; ++i)
      if (std::optional<KernelPattern> made = perturbed(*pattern, choose)) return made;
    return std::nullopt;
  }

  /// Copied to the device, used there, and copied back.
  IRModule transfer(int64_t bytes, const Backend& backend) const {
    const int here = context_.host().device_type, there = backend.device_type;
    const Type type = tensor_type(std::vector<int64_t>{std::max<int64_t>(1, bytes / 4)}, DType::float_(32));
    const OpDef& copy = *find_op(op_names::kDeviceCopy);
    const auto copied = [&](const Expr& value, int from, int to) {
      return call(op_names::kDeviceCopy, {value},
                  make_attrs(*copy.attrs, {{"src_virtual_device", virtual_device_attr({from, 0, {}, {}})},
                                           {"dst_virtual_device", virtual_device_attr({to, 0, {}, {}})}}));
    };
    const Var data = var("data", type);
    const Expr used = call("negative", {copied(Expr(data), here, there)});
    const Function main = function({data}, copied(used, there, here));
    const IRModule module = make_module();
    module->set("main", with_devices(main, {{here, 0, {}, {}}}, {here, 0, {}, {}}));
    return infer_types(module);
  }

  const Design& design_;
  const BuildContext& context_;
  std::set<std::string> seen_;
};

}  // namespace

Uncertainty uncertainty_of(const Design& design) {
  return [&weights = design.uncertainty](const Work& work) {
    double most = -1;
    for (const WorkOperator& op : work.operators)
      if (const auto at = weights.find(op.op); at != weights.end()) most = std::max(most, at->second);
    return most < 0 ? 1.0 : most;
  };
}

std::vector<Subject> subjects_of(const Design& design, const BuildContext& context,
                                 const Uncertainty& uncertain) {
  Subjects subjects(design, context);
  subjects.add_models();
  if (design.patterns > 0) subjects.add_patterns(uncertain);
  subjects.add_transfers();
  return std::move(subjects.made);
}

NamedArrays weights_of(const Subject& subject) {
  NamedArrays weights;
  const Function main = subject.module->find("main");
  const bool has_data =
      std::ranges::any_of(main->params(), [](const Var& p) { return p->name().starts_with("data"); });
  for (size_t i = 0; i < main->params().size(); ++i) {
    const VarNode& param = *main->params()[i];
    const bool input = has_data ? param.name().starts_with("data") : i == 0;
    if (input) continue;
    const TensorTypeNode* type = static_type_of(Expr(main->params()[i]));
    if (!type)
      throw Error("parameter %" + param.name() + " of " + subject.name + " has type " +
                  type_text(param.checked_type()) + "; only tensors of known shape get values");
    weights.emplace_back(param.name(), parameter_value(param.name(), type->extents(), type->dtype()));
  }
  return weights;
}

}  // namespace baton
