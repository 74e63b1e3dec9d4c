#pragma once
// Computes the shape of a kernel from the lowered pipeline. Needs Halide.h: for .cc files of codegen only.
#include <string>
#include <vector>

#include <Halide.h>

#include "baton/codegen/kernel/code_shape.h"

namespace baton {

/// `outputs`: the scheduled Funcs that `module` was compiled from; `prefix`: the prefix of all their names.
KernelShape shape_of(const Halide::Module& module, const std::vector<Halide::Func>& outputs,
                     const std::string& prefix);

}  // namespace baton
