// Stage timers: a marked kernel reports the start of stage i on the thread it runs on. Each thread adds the
// time since its last mark to its current stage; threads share nothing until collect_marks() sums them up.
#pragma once

#include <array>
#include <cstdint>

namespace baton {

/// Stage ids are 0 .. kMarkSlots - 1. Stage 0 is "outside of any stage".
inline constexpr int kMarkSlots = 128;

/// Never a stage: a calibration build marks it right before every other mark, and so measures the time of an
/// empty interval in place.
inline constexpr int kCalibrationSlot = 31;

/// The accumulated time of one stage.
struct MarkSlot {
  uint64_t ticks = 0;
  uint64_t visits = 0;
};

using MarkTable = std::array<MarkSlot, kMarkSlots>;

/// Ends the calling thread's current stage and begins stage `id`. Returns 0. Ids out of range count as stage
/// 0.
int mark_fenced(int id);
/// The same, at a given time.
int mark_at(int id, uint64_t now);

/// Zeroes all threads' slots and sets their current stage to 0. No marked kernel may be running.
void reset_marks();

/// The sum over all threads since reset_marks(), ended threads included. No marked kernel may be running.
MarkTable collect_marks();

/// How often since reset_marks() the clock went backwards between two marks of a thread: such intervals are
/// dropped, and the measurement is invalid. Normally 0.
uint64_t clock_steps();

}  // namespace baton
