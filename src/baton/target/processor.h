#pragma once
// What a target says of its processor by -mcpu and -mattr.
#include "baton/target/target.h"

namespace baton {

/// float32 values in a vector register of the x86 processor that -mcpu or -mattr name; 4 when they say
/// nothing.
int float_lanes(const Target& target);
/// Whether that processor has SSE 4.2, with what came before; nothing said: no.
bool has_sse42(const Target& target);
/// Whether that processor multiplies and adds up int8 in one instruction.
bool has_vnni(const Target& target);

}  // namespace baton
