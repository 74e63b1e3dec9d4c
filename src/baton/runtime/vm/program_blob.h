// Programs as bytes: a section of an artifact.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "baton/runtime/vm/program.h"

namespace baton::vm {

/// Everything but the values of the constants.
std::string program_blob(const Program& program);

/// The inverse; `constants` in the order of the program. Fails for bytes that program_blob() did not write,
/// of another version, or not complete; what is read has been checked.
Result<std::shared_ptr<const Program>> read_program(std::span<const uint8_t> bytes, NamedArrays constants);

}  // namespace baton::vm
