// Parts of kernels: the primitives of a library's region, and their times.
#include <algorithm>

#include "baton/runtime/executor.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"

namespace baton {

/// The module of a call that can tell the parts of its kernel; null when it cannot.
const PluginModule* Executor::module_with_parts(const Call& call) const {
  for (const auto& [module, bound] : bound_) {
    if (bound.context == call.context && bound.function == call.function)
      return module->plugin().has_parts() ? module : nullptr;
  }
  return nullptr;
}

Result<std::vector<KernelPart>> Executor::node_parts(uint32_t node) const {
  const Call* call = node_call(node);
  const PluginModule* module = call ? module_with_parts(*call) : nullptr;
  if (!module) return std::vector<KernelPart>();
  const ThreadScope scope(threads_);
  const baton_part* parts = nullptr;
  int32_t count = 0;
  if (module->plugin().table().parts({call->function, call->context}, &parts, &count))
    return Status::kernel_failed("the parts of node `" + plan_->nodes[node].name + "` are not known" +
                                 module->plugin().reason());
  std::vector<KernelPart> found;
  for (int32_t i = 0; i < count; ++i)
    found.push_back(
        {parts[i].step, parts[i].name, parts[i].reason, parts[i].implementation, parts[i].layouts});
  return found;
}

Result<std::vector<double>> Executor::run_parts(uint32_t node) {
  const Result<std::vector<KernelPart>> parts = node_parts(node);
  if (!parts.ok()) return parts.status();
  if (parts->empty())
    return Status::invalid("the kernel of node `" + plan_->nodes[node].name + "` has no parts");
  const Call& call = *node_call(node);
  const PluginModule& module = *module_with_parts(call);
  const ThreadScope scope(threads_);
  std::vector<double> ns(parts->size() + 1);
  const uint64_t start = fenced_ticks();
  const int code = module.plugin().table().run_parts({call.function, call.context}, call.args, ns.data());
  ns.back() = static_cast<double>(fenced_ticks() - start) * ns_per_tick();
  if (code)
    return Status::kernel_failed("kernel `" + plan_->nodes[node].func_name + "` failed with code " +
                                 std::to_string(code) + module.plugin().reason());
  return ns;
}

}  // namespace baton
