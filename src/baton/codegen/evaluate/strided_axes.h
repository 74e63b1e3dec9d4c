#pragma once
// The end of making a StridedProgram (make_strided.cc), once its steps are known: axes and strides from
// what its accesses read, and registers.
#include <string>
#include <vector>

#include "baton/codegen/evaluate/index_form.h"
#include "baton/codegen/evaluate/strided_program.h"

namespace baton {

/// The program has no strided form.
struct NotStrided {
  std::string why;
};

/// What step number `step` reads.
struct StridedAccess {
  size_t step;
  std::vector<IndexForm::Term> terms;
};

/// Splits each variable at all places where an access does, and makes an axis of each digit. `extents` are
/// those of the variables; one that is not -1 in `fixed` is unrolled and has no axis. Throws NotStrided.
void make_axes(const std::vector<int>& extents, const std::vector<int64_t>& fixed,
               const std::vector<StridedAccess>& accesses, StridedProgram& program);

/// Few registers stay in the nearest cache: one is free again after the last use of what it holds. Steps name
/// values 0 to `num_values`, each made once; then registers.
void allocate_registers(int num_values, StridedProgram& program);

}  // namespace baton
