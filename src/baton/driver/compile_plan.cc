#include "baton/driver/compile_plan.h"

#include <algorithm>
#include <unordered_map>

#include "baton/driver/plan/region_attrs.h"
#include "baton/support/error.h"

namespace baton {

namespace {

/// The backend of the target with that device type.
BackendRef backend_of_device(const std::vector<TargetRef>& targets, int device_type) {
  for (const TargetRef& target : targets)
    if (target->device_type() == device_type) return backend_of_kind(target->kind);
  return nullptr;
}

/// The first node that calls each kernel.
std::vector<uint32_t> first_nodes_of(const GraphPlan& plan) {
  std::vector<uint32_t> first(plan.kernels.size());
  for (auto node = static_cast<uint32_t>(plan.nodes.size()); node-- > 0;)
    if (plan.graph->nodes[node].kind == PlanNode::Kind::kKernel && plan.nodes[node].kernel >= 0)
      first[static_cast<size_t>(plan.nodes[node].kernel)] = node;
  return first;
}

}  // namespace

const DeviceSheet* sheet_for(const Backend& backend, const BuildContext& context) {
  const bool on_host = backend.kind.empty() || backend.kind == context.host().kind;
  return on_host ? &context.host() : context.sheet_of(backend.kind);
}

namespace {

/// Whether a region's backend compiles this kernel of it.
bool compiles(const BackendRef& backend, const FunctionNode& kernel, const BuildContext& context) {
  if (!backend || !backend->compile) return false;
  const DeviceSheet* sheet = sheet_for(*backend, context);
  return !backend->takes || !sheet || backend->takes(kernel, *sheet).empty();
}

}  // namespace

PlaceKernel place_kernels(const std::vector<TargetRef>& targets, const BuildContext& context) {
  return [&targets, &context, host = context.host().kind](const FunctionNode& kernel, int around) {
    BackendRef backend = find_region_backend(compiler_of(kernel));
    if (!compiles(backend, kernel, context)) backend = backend_of_device(targets, around);
    // Programs have parts on the processor whatever their targets are.
    if (!backend && around == context.host().device_type) backend = backend_of_kind(host);
    if (!backend)
      throw NotSupported("values of the program are on device type " + std::to_string(around) +
                         ", and no target of the build is for it");
    return KernelPlace{backend->kind == host ? "" : backend->name, backend->device_type, backend};
  };
}

namespace {

BackendCode code_of(const Backend& backend, const DeviceSheet& sheet, Built built) {
  return {backend.name,      backend.plugin_name(),      std::move(built.blob),
          sheet.code_target, std::move(built.constants), std::move(built.library)};
}

}  // namespace

void compile_plan(BuildResult& result, const BuildContext& context) {
  std::vector<std::pair<BackendRef, std::vector<BackendFunction>>> by_backend;
  for (const PlannedKernel& planned : result.plan.kernels) {
    if (!planned.called) continue;
    const BackendRef& backend = planned.place.compiler;
    auto at = std::ranges::find(by_backend, backend, [](const auto& each) { return each.first; });
    if (at == by_backend.end()) at = by_backend.insert(at, {backend, {}});
    at->second.push_back({planned.func_name, without_region(planned.function), planned.function->origins()});
  }
  for (const auto& [backend, functions] : by_backend) {
    const DeviceSheet* sheet = sheet_for(*backend, context);
    if (!sheet) throw NotSupported("backend " + backend->name + " has no device here");
    for (const BackendFunction& each : functions)
      if (const std::string why = backend->takes ? backend->takes(*each.function, *sheet) : ""; !why.empty())
        throw NotSupported("backend " + backend->name + " does not take `" + each.func_name + "`: " + why);
    Built built = backend->compile(functions, *sheet, context);
    BATON_CHECK(built.kernels.size() == functions.size(), backend->name + " left functions out");
    result.times.choose_s += built.choose_s;
    result.times.kernels_s += built.kernels_s;
    result.times.link_s += built.link_s;
    for (BuiltKernel& kernel : built.kernels) {
      kernel.backend = backend->name;
      result.kernels.push_back(std::move(kernel));
    }
    const bool is_host = backend->kind == context.host().kind;
    result.code.insert(is_host ? result.code.begin() : result.code.end(),
                       code_of(*backend, *sheet, std::move(built)));
  }
  const BackendRef host = backend_of_kind(context.host().kind);
  if (result.code.empty() || result.host_code().backend != host->name)  // only constants, or no kernel for it
    result.code.insert(result.code.begin(),
                       code_of(*host, context.host(), host->compile({}, context.host(), context)));
  // In plan order, whichever backend compiled them.
  const std::vector<uint32_t> first_nodes = first_nodes_of(result.plan);
  std::unordered_map<std::string, size_t> order;
  for (const PlannedKernel& planned : result.plan.kernels) order.emplace(planned.func_name, order.size());
  for (BuiltKernel& kernel : result.kernels) kernel.first_node = first_nodes[order.at(kernel.func_name)];
  std::ranges::stable_sort(result.kernels, {},
                           [&](const BuiltKernel& kernel) { return order.at(kernel.func_name); });
}

}  // namespace baton
