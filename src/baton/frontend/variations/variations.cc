#include "baton/frontend/variations/variations.h"

#include <algorithm>

#include "baton/frontend/variations/blocks.h"
#include "baton/ir/inspect.h"
#include "baton/ir/rules/cost.h"
#include "baton/ir/visit.h"
#include "baton/support/diagnostic.h"
#include "baton/types/infer_type.h"

namespace baton::variations {

namespace {

constexpr double kFlopsPerUs = 60e3, kBytesPerUs = 10e3;
constexpr double kLeastUs = 300, kMostUs = 60e3;
constexpr int kMostTries = 200;
constexpr size_t kMostCalls = 160;  // more take long to compile, and repeat themselves

using Function = Expr (*)(Blocks& make);

Function function_of(const std::string& family) {
#define BATON_FAMILY(name, doc, function) \
  if (family == name) return function;
#include "baton/frontend/variations/variations.def"
#undef BATON_FAMILY
  return nullptr;
}

double us_of(const CostFacts& cost) { return std::max(cost.flops / kFlopsPerUs, cost.bytes / kBytesPerUs); }

size_t calls_in(const IRModuleNode& module) {
  size_t calls = 0;
  post_order(module.find("main"), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    calls += call && call->op();
  });
  return calls;
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> list = {
#define BATON_FAMILY(name, doc, function) {name, doc},
#include "baton/frontend/variations/variations.def"
#undef BATON_FAMILY
  };
  return list;
}

const Family* find_family(const std::string& name) {
  const auto at = std::ranges::find_if(families(), [&](const Family& each) { return each.name == name; });
  return at == families().end() ? nullptr : &*at;
}

double estimated_us(const IRModuleNode& module) {
  double us = 0;
  post_order(module.find("main"), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (!call || !call->op() || !call->checked_type()) return;
    const CostFacts cost = cost_of_call(*call);
    // What is fused into a kernel moves nothing.
    us += call->op()->fuse == Fuse::kOutFusable ? us_of(cost) : us_of({cost.flops, cost.bytes / 2});
  });
  return us;
}

IRModule variation(const std::string& family, uint64_t seed, const VariationOptions& options) {
  const Function make = function_of(family);
  if (!make) {
    std::vector<std::string> names;
    std::string list;
    for (const Family& each : families()) {
      names.push_back(each.name);
      list += (list.empty() ? "" : ", ") + names.back();
    }
    const std::string near = did_you_mean(family, names);
    throw Error("there is no family \"" + family + "\"" +
                (near.empty() ? "" : "; did you mean \"" + near + "\"?") + "\n  there are " + list);
  }
  Choice choose(seed, family);
  for (int i = 0; i < kMostTries; ++i) {
    Blocks blocks(choose, options);
    const IRModule module = infer_types(workloads::network(make(blocks)));
    const double us = estimated_us(*module);
    if (us >= kLeastUs && us <= kMostUs && calls_in(*module) <= kMostCalls) return module;
  }
  throw InternalError(__FILE__, __LINE__, "no variation of " + family + " has a usual size");
}

}  // namespace baton::variations
