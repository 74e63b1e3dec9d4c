#pragma once
// The source of new nodes' origins while a pass runs, and the log of origins a pass retires.
#include <string>
#include <string_view>
#include <vector>

#include "baton/ir/origin.h"

namespace baton {

/// RAII: nodes that this thread builds without explicit origins get `origins`. Scopes nest; the innermost
/// applies. The scope is thread-local, unlike the rest of a pass's state, which is in the BuildContext: no
/// builder call can omit it, which origin conservation relies on (design D2). The pass infrastructure opens
/// scopes and closes them before it returns.
class OriginScope {
 public:
  explicit OriginScope(OriginSet origins);
  ~OriginScope();
  OriginScope(const OriginScope&) = delete;
  OriginScope& operator=(const OriginScope&) = delete;

  /// The innermost scope's set; null when no scope is open (outside any pass).
  static const OriginSet* current();
  /// The innermost scope's set, else none().
  static OriginSet current_or_none() { return current() ? *current() : OriginSet::none(); }

 private:
  OriginSet origins_;
  OriginScope* outer_;
};

/// RAII, for user callbacks that run inside a pass: hides this thread's open OriginScopes, so that operator
/// calls get fresh Origins. Only use it where no pass is running, since passes must not create Origins.
class OriginPause {
 public:
  OriginPause();
  ~OriginPause();
  OriginPause(const OriginPause&) = delete;
  OriginPause& operator=(const OriginPause&) = delete;

 private:
  OriginScope* paused_;
};

// ---- The module that operators belong to which are made now, outside any pass: Python's
// `with baton.module(...)`.

/// Of this thread, as OriginScope is; null: no module. Scopes nest.
Ref<const OriginPlace> current_module();
/// Enters `name` within the current module, and returns the path of the latter, for leave_module().
std::string enter_module(const std::string& name);
void leave_module(const std::string& outer);

/// `module` within the current one.
std::string within_current_module(std::string_view module);

/// Collects the origins that a pass retires and the reason. The pass runner opens one around each pass with
/// `may_retire`; `retire` writes to the innermost.
class RetireLog {
 public:
  struct Entry {
    OriginSet origins;
    std::string reason;
  };
  RetireLog();
  ~RetireLog();
  RetireLog(const RetireLog&) = delete;
  RetireLog& operator=(const RetireLog&) = delete;
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  friend void retire(const OriginSet& origins, std::string_view reason);
  std::vector<Entry> entries_;
  RetireLog* outer_;
};

/// Records that the nodes of `origins` are removed, with a reason such as "dropout is the identity at
/// inference". Origins that other nodes still carry stay alive. InternalError outside a pass that declares
/// `may_retire`.
void retire(const OriginSet& origins, std::string_view reason);

}  // namespace baton
