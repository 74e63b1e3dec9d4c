#pragma once

namespace baton {

/// Enters every pass of passes.def into the table; once, further calls do nothing. Called by
/// driver/initialize.
void register_all_passes();

}  // namespace baton
