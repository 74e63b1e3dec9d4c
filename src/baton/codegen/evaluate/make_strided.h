#pragma once
// Converts the interpreter's program to strided form, where one exists.
#include <optional>
#include <string>

#include "baton/codegen/evaluate/strided_program.h"

namespace baton {

/// Nullopt, with the reason in `why`, when `program` has loops, loads at data-dependent offsets, or uses
/// positions in an unsupported way.
std::optional<StridedProgram> make_strided(const ElementProgram& program, std::string* why);

}  // namespace baton
