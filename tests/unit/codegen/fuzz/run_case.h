#pragma once
// Runs one case of the kernel fuzzer: as built at levels 0 and 3, every kernel in guarded memory, against
// the unscheduled computes.
#include <string>

#include "codegen/fuzz/kernel_case.h"

namespace baton::fuzz {

struct Verdict {
  enum class Kind {
    kAgrees,
    kRefused,  ///< by an error that is meant for users
    kFound,
  };
  Kind kind = Kind::kAgrees;
  std::string finding;  ///< its class: "value", "InternalError", "out of bounds", ...; equal for one cause
  std::string text;     ///< the error, or what differs
};

Verdict run_case(const KernelCase& chain);

/// By the unscheduled computes alone: whether they can be made, and read inside their operands.
Verdict run_reference(const KernelCase& chain);

/// The program of the case as Relay text; a comment when it cannot be built.
std::string relay_text(const KernelCase& chain);

}  // namespace baton::fuzz
