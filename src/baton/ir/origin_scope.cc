#include "baton/ir/origin_scope.h"

#include "baton/ir/origin_fault.h"
#include "baton/support/error.h"

namespace baton {

namespace {

thread_local OriginScope* innermost = nullptr;
thread_local RetireLog* innermost_log = nullptr;
thread_local Ref<const OriginPlace> module_now;

}  // namespace

OriginScope::OriginScope(OriginSet origins) : origins_(std::move(origins)), outer_(innermost) {
  innermost = this;
}
OriginScope::~OriginScope() { innermost = outer_; }
const OriginSet* OriginScope::current() { return innermost ? &innermost->origins_ : nullptr; }

OriginPause::OriginPause() : paused_(innermost) { innermost = nullptr; }
OriginPause::~OriginPause() { innermost = paused_; }

Ref<const OriginPlace> current_module() { return module_now; }

std::string enter_module(const std::string& name) {
  std::string outer = module_now ? module_now->module() : "";
  module_now = make_ref<const OriginPlace>(joined_path(outer, name));
  return outer;
}

void leave_module(const std::string& outer) {
  module_now = outer.empty() ? Ref<const OriginPlace>() : make_ref<const OriginPlace>(outer);
}

std::string within_current_module(std::string_view module) {
  return joined_path(module_now ? module_now->module() : "", module);
}

RetireLog::RetireLog() : outer_(innermost_log) { innermost_log = this; }
RetireLog::~RetireLog() { innermost_log = outer_; }

void retire(const OriginSet& origins, std::string_view reason) {
  BATON_CHECK(innermost_log, "retire() outside a pass that may retire: " + std::string(reason));
  BATON_CHECK(!reason.empty(), "retire() without a reason");
  const OriginFault* fault = OriginFault::current();
  if (fault && fault->silences_retire()) return;
  if (!origins.empty()) innermost_log->entries_.push_back({origins, std::string(reason)});
}

}  // namespace baton
