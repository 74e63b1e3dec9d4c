#pragma once
// Runs cases in child processes, so that a crash or a hang is a finding like any other.
#include <cstdint>
#include <string>

#include "codegen/fuzz/run_case.h"

namespace baton::fuzz {

struct FuzzCounts {
  uint64_t cases = 0, refused = 0, findings = 0;
};

/// In the child: runs what fuzz_seeds() or verdict_in_child() ask for in the environment, and prints
/// verdicts.
void work_as_child();

/// Runs the cases of seeds first, first + 1, ... for about `seconds`, or until `count` are done; prints the
/// findings, the first of each class shrunk.
FuzzCounts fuzz_seeds(uint64_t first, uint64_t count, double seconds);

/// Runs run_reference() on the cases of changed_operands(), from number `first` on, in the same way; stops
/// after `seconds`.
FuzzCounts check_changed_operands(uint64_t first, double seconds);

/// The verdict on one case, also when it crashes or hangs.
Verdict verdict_in_child(const std::string& text);

/// The case with calls, attributes and extents left out as long as the class of the finding stays the same.
std::string shrunk(const std::string& text, const std::string& finding, double seconds);

}  // namespace baton::fuzz
