#pragma once
// A program of the virtual machine as profiles read it, and where its time went beside its kernels.
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "baton/driver/vm/runnable_program.h"
#include "baton/profile/measure/fused_times.h"
#include "baton/profile/report/report.h"
#include "baton/profile/report/rows.h"
#include "baton/runtime/values/value.h"
#include "baton/runtime/vm/measured_run.h"

namespace baton {

/// Of a build, or from a file.
struct ProgramSource {
  std::shared_ptr<const vm::Program> program;
  std::shared_ptr<const Plan> plan;  ///< its calls of kernels, operators and integer functions, as nodes
  std::vector<Function> functions;   ///< by node, what it computes; null: not known
  std::vector<bool> is_kernel;       ///< by node
  ReportSource facts;
  std::function<std::shared_ptr<RunnableProgram>()> make;  ///< one with memory of its own
  std::function<ProfileReport(const FusedTimes&)> report;  ///< make_report()
};

/// `built`: with a program; it outlives the result.
ProgramSource program_source(const BuildResult& built);
/// Throws Error as report_source() does, and for a file whose program and origins do not match.
ProgramSource program_source(const std::shared_ptr<const Artifact>& artifact, const std::string& shown);

/// What reports call the nodes of a program.
std::vector<std::string> titles_of(const ProgramSource& source);

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
/// `all`: what its runs added up to. Copies for what needs them are parts, too.
ProgramTimes take_program_times(FusedTimes& fused, const vm::MeasuredRun& all, const ProgramSource& source);

/// Fills in what the calls of each kernel were, and the operations and bytes of all of them. Other numbers of
/// a report are made before, those of its roofs after this.
void add_calls(ProfileReport& report, const ProgramSource& source, const vm::MeasuredRun& all);

/// Fills in ProfileReport::memory, and of every kernel the bytes of its constants.
void add_program_memory(ProfileReport& report, const ProgramSource& source, const ProgramCall& call,
                        size_t arena_bytes);

}  // namespace baton
