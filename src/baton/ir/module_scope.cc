#include "baton/ir/module_scope.h"

namespace baton {

namespace {

thread_local Ref<const OriginPlace> current;

}  // namespace

Ref<const OriginPlace> current_module() { return current; }

std::string enter_module(const std::string& name) {
  std::string outer = current ? current->module() : "";
  current = make_ref<const OriginPlace>(joined_path(outer, name));
  return outer;
}

void leave_module(const std::string& outer) {
  current = outer.empty() ? Ref<const OriginPlace>() : make_ref<const OriginPlace>(outer);
}

std::string within_current_module(std::string_view module) {
  return joined_path(current ? current->module() : "", module);
}

}  // namespace baton
