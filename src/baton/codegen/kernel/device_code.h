#pragma once
// The code of a GPU kernel, read off the module that Halide makes for it. Halide writes both into one module:
// the source as a buffer, the launches as calls of its own runtime in the code for the host. All extents are
// constants here, so the launches are too: they are read off the module, and the runtime half of a backend
// needs nothing of Halide. Needs Halide.h: for .cc files of codegen only.
#include <Halide.h>

#include "baton/runtime/gpu/device_code.h"

namespace baton {

/// Reads the code off a module compiled for a GPU. Names in the source do not depend on what the process has
/// compiled before. InternalError when a part is computed on the host: the schedule missed a Func.
DeviceCode device_code(const Halide::Module& module);

}  // namespace baton
