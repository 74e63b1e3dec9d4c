#pragma once
// The same model elsewhere in memory: what differs between processes differs between rounds of a measurement.
#include <memory>

#include "baton/driver/build_result.h"
#include "baton/runtime/executor.h"

namespace baton {

/// An executor with the inputs and threads of `like`, but with code, workspace and (up to 256 MB) constants
/// of its own, at other addresses. Null when there is no memory for it.
std::shared_ptr<Executor> another_executor(const BuildResult& built, const Executor& like);

}  // namespace baton
