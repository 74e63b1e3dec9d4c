#pragma once

namespace baton {

/// Enters every operator of ops.def into the table; once, further calls do nothing. Called by
/// driver/initialize.
void register_all_ops();

}  // namespace baton
