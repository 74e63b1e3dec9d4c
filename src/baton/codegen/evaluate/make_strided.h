#pragma once
// From the interpreter's program to its strided form, where it has one.
#include <optional>
#include <string>

#include "baton/codegen/evaluate/strided_program.h"

namespace baton {

/// Nothing (and why) when `program` has loops, reads where its data says, or depends on positions in another
/// way.
std::optional<StridedProgram> make_strided(const ElementProgram& program, std::string* why);

}  // namespace baton
