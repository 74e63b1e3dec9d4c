#pragma once
// Compilations that an interrupt left behind.

namespace baton {

/// Waits for kernels that an interrupted build left behind: they use what the process destroys when it ends,
/// in an order that nobody knows. To be called before that; returns at once when nothing is left.
void wait_for_background_work();

}  // namespace baton
