#pragma once
#include <functional>

#include "baton/pass/pass.h"

namespace baton {

/// The sheet of the device that computes a call.
using SheetOfCall = std::function<const DeviceSheet&(const CallNode& call)>;
/// Finds the devices of the calls in a typed function, which is one of the module or was made of one.
using FindSheets =
    std::function<SheetOfCall(const Function& function, const IRModule& module, const BuildContext& context)>;

/// AlterOpLayout as builds use it: for each call the layouts that the context's choice gives for its device;
/// without `find` for the first one.
Pass fast_layouts(FindSheets find = {});

}  // namespace baton
