#pragma once

namespace baton {

/// Registers the operators of ops.def; repeated calls have no effect. Called by driver/initialize.
void register_all_ops();

}  // namespace baton
