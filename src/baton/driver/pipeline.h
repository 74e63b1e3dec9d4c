#pragma once
// The passes of a build, in order.
#include <string>

#include "baton/ir/module.h"
#include "baton/pass/pass.h"
#include "baton/target/device_sheet.h"

namespace baton {

/// What a build runs over a module whose parameters are bound, as one Sequential: gates and required passes
/// apply.
Pass optimization_passes(const DeviceSheet& sheet);

/// What follows them: a module of primitive functions as plans are made from.
IRModule prepare_kernels(IRModule module);

/// optimization_passes(), then what prepares kernels, under the current PassContext: a typed module of calls
/// to primitive functions. Throws DiagnosticError or Error for what is wrong with the program.
IRModule optimize(const IRModule& module, const DeviceSheet& sheet = DeviceSheet::host());

/// What TVM 0.11.1 makes of `module` for `target` ("llvm"), its layouts too: builds are held against this,
/// they do not use it. Under the current PassContext.
IRModule optimize_as_tvm(const IRModule& module, const std::string& target);

}  // namespace baton
