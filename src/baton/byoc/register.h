#pragma once

namespace baton {

/// Enters every pass of byoc/passes.def into the table; once, further calls do nothing. Called by
/// driver/initialize.
void register_byoc_passes();

}  // namespace baton
