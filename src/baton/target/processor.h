#pragma once
// Processor features that a target specifies by -mcpu and -mattr.
#include "baton/target/target.h"

namespace baton {

/// float32 lanes per vector register of the x86 processor given by -mcpu or -mattr; 4 when unspecified.
int float_lanes(const Target& target);
/// Whether that processor has SSE 4.2 and its predecessors; false when unspecified.
bool has_sse42(const Target& target);
/// Whether that processor has an int8 multiply-accumulate instruction.
bool has_vnni(const Target& target);
/// Whether LLVM has the processor that -mcpu names, as far as is known here; true when none is named.
bool is_known_processor(const Target& target);

}  // namespace baton
