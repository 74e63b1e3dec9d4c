#pragma once

namespace baton {

/// Registers the passes of passes.def; repeated calls have no effect. Called by driver/initialize.
void register_all_passes();

}  // namespace baton
