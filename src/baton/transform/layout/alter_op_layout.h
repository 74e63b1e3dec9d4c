#pragma once
#include <functional>

#include "baton/pass/pass.h"
#include "baton/schedule/kernel_choice.h"

namespace baton {

/// The sheet of the device that computes a call.
using SheetOfCall = std::function<const DeviceSheet&(const CallNode& call)>;
/// Finds the devices of the calls in a typed function, which is one of the module or was made of one.
using FindSheets =
    std::function<SheetOfCall(const Function& function, const IRModule& module, const BuildContext& context)>;

/// The choice for a call; null: the context's.
using ChoiceOfCall = std::function<const KernelChoice*(const CallNode& call)>;

/// An attribute of functions: their layouts are chosen, AlterOpLayout leaves them as they are.
inline constexpr const char* kLayoutsAreChosen = "baton.layouts_are_chosen";

/// AlterOpLayout as builds use it: constants of one element become scalars (scalar_constants.h), and for each
/// call the layouts that its choice gives for its device; without `find` for the first one.
Pass fast_layouts(FindSheets find = {}, ChoiceOfCall choice_of = {});

}  // namespace baton
