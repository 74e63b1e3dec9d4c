#pragma once
// Computes the shape of a kernel from the lowered pipeline. Needs Halide.h: for .cc files of codegen only.
#include <string>
#include <vector>

#include <Halide.h>

#include "baton/codegen/kernel/code_shape.h"

namespace baton {

/// What a part of a module was compiled from.
struct LoweredPipeline {
  std::string prefix;  ///< of the names of all its Funcs; those of different pipelines differ
  std::vector<Halide::Func> outputs;
};

/// `pipelines`: all that `module` was compiled from, scheduled: one for each case of the kernel's extents.
KernelShape shape_of(const Halide::Module& module, const std::vector<LoweredPipeline>& pipelines);

}  // namespace baton
