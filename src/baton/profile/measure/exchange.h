#pragma once
// How far apart the processors are on which the threads run. Virtual processors move: a parallel kernel takes
// up to three times as long once they no longer share a cache, for seconds, which no round of it can tell.
#include <optional>
#include <vector>

namespace baton {

/// Nanoseconds that a cache line takes to another thread of the pool and back; nullopt with one thread, or
/// when no other thread came.
std::optional<double> exchange_ns(int threads);

/// Whether two such times mean different distances.
bool distances_differ(double a_ns, double b_ns);

}  // namespace baton
