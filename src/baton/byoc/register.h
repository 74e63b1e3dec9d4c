#pragma once

namespace baton {

/// Registers the passes of byoc/passes.def; repeated calls have no effect. Called by driver/initialize.
void register_byoc_passes();

}  // namespace baton
