#pragma once
// Where new nodes get their origins from while a pass runs, and where a pass says which origins it drops.
#include <string>
#include <string_view>
#include <vector>

#include "baton/ir/origin.h"

namespace baton {

/// While it lives, nodes that this thread builds without naming origins stand for `origins`. Scopes nest;
/// the innermost counts. Scopes of origins belong to the thread, where everything else that a pass needs is
/// in the BuildContext that it is handed: nobody can forget to hand origins on, and that is what conservation
/// rests on (design D2). The pass machinery opens them; they end before it returns.
class OriginScope {
 public:
  explicit OriginScope(OriginSet origins);
  ~OriginScope();
  OriginScope(const OriginScope&) = delete;
  OriginScope& operator=(const OriginScope&) = delete;

  /// The innermost scope's set, or null when no scope is open (we are outside any pass).
  static const OriginSet* current();
  /// The same, or no origins.
  static OriginSet current_or_none() { return current() ? *current() : OriginSet::none(); }

 private:
  OriginSet origins_;
  OriginScope* outer_;
};

/// For callbacks of the user that run inside a pass of ours: while it lives, no OriginScope is open on this
/// thread, unless it is opened meanwhile: calls of operators get origins of their own. Only where no pass is
/// running; passes make no origins.
class OriginPause {
 public:
  OriginPause();
  ~OriginPause();
  OriginPause(const OriginPause&) = delete;
  OriginPause& operator=(const OriginPause&) = delete;

 private:
  OriginScope* paused_;
};

/// Collects what a pass retires: origins that no node carries any more, with the rule that allowed it. The
/// pass runner opens one around a pass that may retire; `retire` writes to the innermost.
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

/// Says that the nodes of `origins` go away and why: "dropout is the identity at inference". Origins that
/// other nodes still carry stay alive. An InternalError outside a pass that declares `may_retire`.
void retire(const OriginSet& origins, std::string_view reason);

}  // namespace baton
