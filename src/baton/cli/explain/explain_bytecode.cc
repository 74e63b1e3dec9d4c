#include "baton/cli/explain/explain_bytecode.h"

#include <map>

#include "baton/cli/profile_program.h"
#include "baton/driver/vm/runnable_program.h"
#include "baton/profile/report/report_text.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/runtime/vm/listing.h"
#include "baton/support/error.h"

namespace baton::cli {

namespace {

constexpr int kWarmUps = 3;
constexpr double kSeconds = 0.5;
constexpr uint64_t kMostRuns = 1000;

void measure(const ProgramSource& source, const ProgramCall& call, const BuildContext& context,
             vm::MeasuredRun& measured) {
  const std::shared_ptr<RunnableProgram> program = source.make();
  const ThreadScope scope(call.threads);
  const RunContext run(context);
  for (int i = 0; i < kWarmUps; ++i) {
    vm::MeasuredRun warm_up;
    (void)program->run_measured(call.function, call.args, run, warm_up);
  }
  const int64_t began = monotonic_ns();
  do {
    (void)program->run_measured(call.function, call.args, run, measured);
  } while (seconds_since(began) < kSeconds && measured.runs() < kMostRuns);
}

std::string times_text(double count) {
  char text[40];
  std::snprintf(text, sizeof text, "x%.10g", count);
  return text;
}

}  // namespace

void BytecodeFlags::add(Flags& flags) {
  flags.flag(
      "bytecode", &on,
      "the instructions of the virtual machine, each with its operators; with --time also how often it "
      "ran, and how long its kernel took");
  flags.option("inputs", &inputs, "of --bytecode --time: values of inputs from an .npz").needs("bytecode");
}

void write_bytecode(Io& io, const ModelFlags& flags, const BytecodeFlags& wanted) {
  const ProfiledProgram program = ProfiledProgram::open(flags, {.inputs = wanted.inputs}, io);
  if (program.points().size() > 1)
    throw UsageError("--bytecode takes one shape; a range is for `baton profile`");
  const ProgramSource& source = program.source();
  const std::vector<std::string> titles = titles_of(source);
  vm::MeasuredRun measured;
  if (wanted.timed) {
    const InterruptScope interrupt;
    BuildContext context = flags.context();
    context.interrupt = interrupt.flag();
    measure(source, program.call_at(program.points().front(), wanted.threads, io), context, measured);
  }
  const auto runs = static_cast<double>(std::max<uint64_t>(1, measured.runs()));
  std::map<uint32_t, std::pair<double, double>> calls;  // by node: how many in a run, and ns of each
  for (const vm::MeasuredCalls& each : wanted.timed ? measured.calls() : std::vector<vm::MeasuredCalls>()) {
    auto& [count, ns] = calls[each.node];
    const auto more = static_cast<double>(each.count);
    ns = count * runs + more > 0 ? (ns * count * runs + each.ns) / (count * runs + more) : 0;
    count += more / runs;
  }
  vm::ListingComments comments;
  comments.node = [&](uint32_t node) {
    std::string text;
    if (const auto at = calls.find(node); at != calls.end())
      text = (at->second.second < 1 ? "< 1 ns" : us_with_unit(at->second.second / 1e3)) +
             (at->second.first > 1 ? " each of " + times_text(at->second.first).substr(1) : "") + ", ";
    const PlanNode& of = source.plan->nodes[node];
    return text + titles[node] + (of.reason.empty() ? "" : " (" + of.reason + ")") +
           (of.fallback.empty() ? "" : "; falls back: " + of.fallback);
  };
  comments.made_for = [&](uint32_t node) { return "for " + titles[node]; };
  if (wanted.timed)
    comments.count = [&](size_t function, uint32_t word) {
      return times_text(static_cast<double>(measured.instructions()[function][word].count) / runs);
    };
  io.out << vm::listing(*source.program, comments);
  if (!wanted.timed) return;
  const auto us = [&](vm::RunPart part) { return us_with_unit(measured.ns_of(part) / 1e3 / runs); };
  io.out << "a run takes " << us_with_unit(measured.total_ns() / 1e3 / runs)
         << " with its instructions timed: shape code " << us(vm::RunPart::kExtents) << ", allocation "
         << us(vm::RunPart::kMemory) << ", arguments and results " << us(vm::RunPart::kArguments)
         << ", control " << us(vm::RunPart::kControl) << ", the rest kernels\n";
}

}  // namespace baton::cli
