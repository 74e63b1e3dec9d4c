// Annotates values with memory scopes. Only the texture memory of Adreno GPUs requires it; for other targets
// the program is unchanged.
#include "baton/ir/placement.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"

namespace baton {

namespace {

bool is_adreno(const TargetRef& target) {
  if (!target || target->kind != "opencl") return false;
  for (const auto& [name, value] : target->attrs)
    if (name == "device" && value == Target::Value(std::string("adreno"))) return true;
  return false;
}

void check(const VirtualDevice* device) {
  if (device && is_adreno(device->target))
    throw NotSupported(
        "AnnotateMemoryScope: no code is made for Adreno GPUs, so nothing can be put into their texture "
        "memory");
}

}  // namespace

Pass annotate_memory_scope(const PassArgs& args) {
  PassArgReader reader("AnnotateMemoryScope", args);
  std::vector<TargetRef> targets;
  for (const std::string& target : reader.texts("targets", {})) targets.push_back(Target::parse(target));
  reader.text("host", "");
  reader.integer("fallback_device_type", 0);
  reader.finish();
  return function_pass({2, "AnnotateMemoryScope", {}},
                       [targets](const Function& function, const IRModule&, const PassContext&) {
                         for (const TargetRef& target : targets) {
                           const VirtualDevice device{.target = target};
                           check(&device);
                         }
                         post_order(Expr(function), [](const Expr& node) {
                           const auto* inner = as<FunctionNode>(node);
                           if (!inner) return;
                           check(result_device(*inner));
                           for (size_t i = 0; i < inner->params().size(); ++i) check(param_device(*inner, i));
                         });
                         return function;
                       });
}

}  // namespace baton
