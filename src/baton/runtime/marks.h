// Fenced stage markers: where a marked kernel says "from here on it is stage i", on whichever thread it runs.
// Each thread adds the time since its last mark to the stage it was in; nothing is shared between threads
// until collect_marks() adds them up.
#pragma once

#include <array>
#include <cstdint>

namespace baton {

/// Stage ids are 0 .. kMarkSlots - 1. Stage 0 is "outside of any stage".
inline constexpr int kMarkSlots = 128;

/// Never a stage: a calibration build marks it right before every other mark, so that what it collects is the
/// time of an empty interval, in place.
inline constexpr int kCalibrationSlot = 31;

/// What one stage has collected.
struct MarkSlot {
  uint64_t ticks = 0;
  uint64_t visits = 0;
};

using MarkTable = std::array<MarkSlot, kMarkSlots>;

/// Closes the calling thread's current stage and opens stage `id`. Returns 0. Ids out of range count as stage
/// 0.
int mark_fenced(int id);
/// The same at a time that is given.
int mark_at(int id, uint64_t now);

/// Sets all threads' slots to zero and their current stage to 0. No marked kernel may be running.
void reset_marks();

/// The sum over all threads since reset_marks(), threads that have ended included. No marked kernel may be
/// running.
MarkTable collect_marks();

/// How often since reset_marks() a mark found the clock before the mark that preceded it on its thread: such
/// intervals count as nothing, and what was measured is of no use. Normally 0.
uint64_t clock_steps();

}  // namespace baton
