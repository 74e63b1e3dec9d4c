#pragma once
// The target that passes called by name choose for, and what it says of its processor.
#include "baton/target/target.h"

namespace baton {

/// The target of the innermost TargetScope of this thread, or null.
TargetRef current_target();
/// Makes a target the current one; leaving takes the innermost away.
void enter_target(TargetRef target);
void exit_target();

class TargetScope {
 public:
  explicit TargetScope(TargetRef target) { enter_target(std::move(target)); }
  ~TargetScope() { exit_target(); }
  TargetScope(const TargetScope&) = delete;
  TargetScope& operator=(const TargetScope&) = delete;
};

/// float32 values in a vector register of the x86 processor that -mcpu or -mattr name; 4 when they say
/// nothing.
int float_lanes(const Target& target);
/// Whether that processor has SSE 4.2, with what came before; nothing said: no.
bool has_sse42(const Target& target);
/// Whether that processor multiplies and adds up int8 in one instruction.
bool has_vnni(const Target& target);

}  // namespace baton
