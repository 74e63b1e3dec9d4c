#include "baton/ops/run_compute.h"

#include "baton/support/error.h"

namespace baton {

void run_compute(const OpDef& op, Compute& compute, const Attrs& attrs) {
  try {
    op.compute(compute, attrs);
  } catch (const Halide::Error& error) {
    // Halide checks expressions as they are made: these errors are about operands, those of schedules come
    // later.
    std::string operands, reason = error.what();
    for (int i = 0; i < compute.num_inputs(); ++i)
      operands += (i ? ", " : "") + describe(compute.in(i).shape(), compute.in(i).dtype());
    while (!reason.empty() && reason.back() == '\n') reason.pop_back();
    throw NotSupported("operator " + op.name + " cannot be computed for operands " + operands + ": " +
                       reason);
  }
}

}  // namespace baton
