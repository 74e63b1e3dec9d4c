#pragma once
// Background compilations of interrupted builds.

namespace baton {

/// Waits for kernels that an interrupted build left compiling in the background: they use static objects, so
/// call this before these are destroyed. Returns at once when there are none.
void wait_for_background_work();

}  // namespace baton
