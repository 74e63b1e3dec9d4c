#pragma once
// The last stage of building a StridedProgram (make_strided.cc): axes and strides from the steps' accesses,
// and register allocation.
#include <string>
#include <vector>

#include "baton/codegen/evaluate/index_form.h"
#include "baton/codegen/evaluate/strided_program.h"

namespace baton {

/// Thrown when the program has no strided form.
struct NotStrided {
  std::string why;
};

/// The access of step number `step`.
struct StridedAccess {
  size_t step;
  std::vector<IndexForm::Term> terms;
};

/// Splits each variable wherever an access does, and makes an axis of each digit. `extents` are those of the
/// variables; one with `fixed` other than -1 is unrolled and has no axis. Throws NotStrided.
void make_axes(const std::vector<int>& extents, const std::vector<int64_t>& fixed,
               const std::vector<StridedAccess>& accesses, StridedProgram& program);

/// Register allocation by last use, to keep the working set in the first-level cache. On entry, steps name
/// values 0 to `num_values`, each defined once; on return, registers.
void allocate_registers(int num_values, StridedProgram& program);

}  // namespace baton
