#pragma once
// Where the time of a program of the virtual machine went, beside its kernels.
#include <span>
#include <string>
#include <vector>

#include "baton/driver/build_result.h"
#include "baton/profile/measure/fused_times.h"
#include "baton/profile/report/rows.h"
#include "baton/runtime/values/value.h"
#include "baton/runtime/vm/measured_run.h"

namespace baton {

/// What of a program is run.
struct ProgramCall {
  std::string function = "main";
  std::vector<program::Value> args = {};
  int threads = 0;  ///< 0: the default of all runs
};
/// The tensors in values, tuples flattened; of data types and references none.
std::vector<NDArray> tensors_of(std::span<const program::Value> values);

/// "shape code"
const char* part_name(vm::RunPart part);

/// Takes the parts of a run, and nodes that were never called, off `fused`, which a MachineClock measured.
/// `all`: what its runs added up to.
ProgramTimes take_program_times(FusedTimes& fused, const vm::MeasuredRun& all, size_t nodes);

/// Fills in what the calls of each kernel were, and the operations and bytes of all of them. Other numbers of
/// a report are made before, those of its roofs after this.
void add_calls(ProfileReport& report, const BuildResult& built, const vm::MeasuredRun& all);

/// Fills in ProfileReport::memory, and of every kernel the bytes of its constants.
void add_program_memory(ProfileReport& report, const BuildResult& built, const ProgramCall& call,
                        size_t arena_bytes);

}  // namespace baton
