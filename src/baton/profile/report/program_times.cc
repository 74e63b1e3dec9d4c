#include "baton/profile/report/program_times.h"

#include <algorithm>
#include <map>
#include <set>

#include "baton/driver/build.h"
#include "baton/ir/extents/kernel_extents.h"
#include "baton/ir/rules/cost.h"
#include "baton/runtime/vm/instructions.h"
#include "baton/schedule/loops.h"
#include "baton/support/error.h"
#include "baton/support/require.h"
#include "baton/text/json/json.h"

namespace baton {

using vm::Opcode;

namespace {

/// Throws Error unless every node that the program names is one of the plan.
void check_nodes(const ProgramSource& source, const std::string& shown) {
  const auto check = [&](uint32_t node) {
    if (node >= source.plan->nodes.size() || source.plan->nodes[node].kind == PlanNode::Kind::kInput)
      throw Error(shown + ": its program and its " + section::kPlan +
                  " do not match: make the artifact anew with `baton build`");
  };
  for (const vm::Piece& piece : source.program->pieces)
    for (const vm::PieceCall& call : piece.calls) check(call.node);
  for (const vm::FunctionCode& function : source.program->functions)
    for (const auto& [word, node] : function.nodes) check(node);
}

/// Kernels, of programs whose pieces call these.
std::vector<bool> kernels_of(const vm::Program& program, const Plan& plan) {
  std::set<std::string_view> names;
  for (const vm::KernelName& kernel : program.kernels) names.insert(kernel.name);
  std::vector<bool> is_kernel;
  for (const PlanNode& node : plan.nodes) is_kernel.push_back(names.contains(node.func_name));
  return is_kernel;
}

}  // namespace

ProgramSource program_source(const BuildResult& built) {
  ProgramSource source;
  source.program = built.program;
  source.plan = built.plan.graph;
  for (const PlannedNode& node : built.plan.nodes) source.functions.push_back(node.function);
  source.is_kernel = kernels_of(*source.program, *source.plan);
  source.facts = report_source(built);
  source.make = [&built] { return RunnableProgram::create(built); };
  source.report = [&built](const FusedTimes& fused) {
    return make_report(built, *built.plan.graph, fused, {});
  };
  return source;
}

ProgramSource program_source(const std::shared_ptr<const Artifact>& artifact, const std::string& shown) {
  ProgramSource source;
  ReportSource& facts = source.facts = report_source(*artifact, shown);
  const std::shared_ptr<RunnableProgram> loaded = RunnableProgram::load(*artifact);
  source.program = loaded->shared_program();
  try {
    source.plan = require(Plan::parse(artifact->text(section::kPlan)));
    check_origins(facts.origins, *source.plan);
  } catch (const Error& error) {
    throw Error(shown + ": " + error.what());
  }
  check_nodes(source, shown);
  std::map<std::string, Function> functions;
  try {
    const Saved saved = from_json(artifact->text(section::kFunctions));
    if (saved.module) functions = {saved.module->functions().begin(), saved.module->functions().end()};
  } catch (const std::exception& error) {
    throw Error(shown + ": " + section::kFunctions + " is damaged: " + error.what());
  }
  for (auto& [name, known] : facts.kernels)
    if (const auto at = functions.find(name); at != functions.end())
      known.function =
          function_row(at->second, known.function.template_name, std::move(known.function.params));
  for (const PlanNode& node : source.plan->nodes) {
    const auto at = functions.find(node.func_name);
    source.functions.push_back(at == functions.end() ? Function() : at->second);
  }
  source.is_kernel = kernels_of(*source.program, *source.plan);
  source.make = [artifact, loaded] { return loaded->another(); };  // the file has the constants
  source.report = [facts = source.facts, plan = source.plan](const FusedTimes& fused) {
    return make_report(facts, *plan, fused);
  };
  return source;
}

std::vector<std::string> titles_of(const ProgramSource& source) {
  FusedTimes none;
  const Plan& plan = *source.plan;
  for (uint32_t node = 0; node < plan.nodes.size(); ++node) {
    if (plan.nodes[node].kind == PlanNode::Kind::kInput) continue;
    none.nodes.push_back(node);
    none.node_us.push_back({0});
  }
  std::vector<std::string> titles(plan.nodes.size());
  for (const KernelRow& row : source.report(none).kernels) titles[row.node] = row.title;
  return titles;
}

double ProgramTimes::parts_us() const {
  double sum = 0;
  for (const Part& part : parts) sum += part.us;
  return sum;
}

void add_program_memory(ProfileReport& report, const ProgramSource& source, const ProgramCall& call,
                        size_t arena_bytes) {
  MemoryUse memory;
  for (const auto& [name, value] : source.program->constants)
    memory.constants_bytes += static_cast<double>(value.bytes());
  for (const NDArray& input : tensors_of(call.args))
    memory.inputs_bytes += static_cast<double>(input.bytes());
  memory.workspace_bytes = memory.peak_bytes = static_cast<double>(arena_bytes);
  const Plan& plan = *source.plan;
  std::set<EntryId> seen;
  for (KernelRow& row : report.kernels)
    for (const EntryId input : plan.nodes[row.node].inputs)
      if (plan.nodes[plan.maker_of(input)].kind == PlanNode::Kind::kInput && seen.insert(input).second)
        row.constant_bytes += static_cast<double>(plan.entries[input].bytes());
  report.memory = memory;
}

const char* part_name(vm::RunPart part) {
  switch (part) {
    case vm::RunPart::kExtents:
      return "shape code";
    case vm::RunPart::kMemory:
      return "allocation";
    case vm::RunPart::kArguments:
      return "arguments and results";
    case vm::RunPart::kControl:
      return "control";
  }
  return "";
}

std::vector<NDArray> tensors_of(std::span<const program::Value> values) {
  std::vector<NDArray> all;
  for (const program::Value& value : values) {
    if (const auto* tensor = program::as_value<program::TensorValue>(value))
      all.push_back(tensor->array());
    else if (const auto* tuple = program::as_value<program::TupleValue>(value))
      std::ranges::copy(tensors_of(tuple->fields()), std::back_inserter(all));
  }
  return all;
}

namespace {

struct Range {
  uint32_t begin, end;
};

/// A branch of a function's code, and the words of its two ways.
struct BranchCode {
  uint32_t at;
  Range taken, not_taken;
};

std::vector<vm::Instruction> decoded(const vm::Program& program, const vm::FunctionCode& function) {
  std::vector<vm::Instruction> all;
  vm::Instruction each;
  for (uint32_t at = 0; at < function.code.size() && decode(program, function.code, at, each); at = each.end)
    all.push_back(each);
  return all;
}

uint32_t target_of(const vm::FunctionCode& function, const vm::Instruction& instruction) {
  for (const vm::Operand& operand : instruction.operands)
    if (operand.role == vm::Role::kTarget) return static_cast<uint32_t>(function.code[operand.word]);
  return instruction.end;
}

/// The way that is taken lies between the branch and its target. The other one begins there, and ends where
/// the first one jumps to, or else with what is around the branch: jumps go forward only.
std::vector<BranchCode> branches_of(const vm::FunctionCode& function,
                                    const std::vector<vm::Instruction>& instructions) {
  std::map<uint32_t, const vm::Instruction*> by_end;
  for (const vm::Instruction& each : instructions) by_end[each.end] = &each;
  std::vector<Range> around{{0, static_cast<uint32_t>(function.code.size())}};
  std::vector<BranchCode> found;
  for (const vm::Instruction& each : instructions) {
    if (each.op != Opcode::kUnless && each.op != Opcode::kUnlessTag) continue;
    uint32_t end = around.front().end;
    for (const Range& range : around)
      if (range.begin <= each.at && each.at < range.end) end = std::min(end, range.end);
    const uint32_t target = target_of(function, each);
    const auto last = by_end.find(target);
    if (last != by_end.end() && last->second->op == Opcode::kJump) end = target_of(function, *last->second);
    found.push_back({each.at, {each.end, target}, {target, std::max(target, end)}});
    around.push_back(found.back().taken);
    around.push_back(found.back().not_taken);
  }
  return found;
}

/// Gives a node so much of the time of control.
void take_from_control(FusedTimes& fused, ProgramTimes::Part& part, const Estimate& control, uint32_t node,
                       double share) {
  Estimate time = control;
  time.us *= share;
  if (time.plus_minus_us) *time.plus_minus_us *= share;
  for (std::vector<double>* each : {&time.samples_us, &time.rounds_us, &time.disturbed_us})
    for (double& us : *each) us *= share;
  part.us = std::max(0.0, part.us - time.us);
  const auto at = std::ranges::lower_bound(fused.nodes, node) - fused.nodes.begin();
  fused.nodes.insert(fused.nodes.begin() + at, node);
  fused.node_us.insert(fused.node_us.begin() + at, time.samples_us);
  fused.node_times.insert(fused.node_times.begin() + at, std::move(time));
}

/// Whether what an instruction does is no control.
bool computes(Opcode op) {
  return op == Opcode::kPiece || op == Opcode::kTryPiece || op == Opcode::kOperator || op == Opcode::kAppend;
}

bool has_its_time(Opcode op) {
  return computes(op) || op == Opcode::kCall || op == Opcode::kTailCall || op == Opcode::kCallValue ||
         op == Opcode::kTailCallValue;
}

}  // namespace

namespace {

/// What reports call the copies that are made while a program runs, by cause: a node, or as many as there
/// are.
std::map<size_t, std::string> copy_names(const vm::MeasuredRun& all, const ProgramSource& source) {
  const std::vector<vm::MeasuredCopies> copies = all.copies();
  std::map<size_t, std::string> names;
  if (copies.empty()) return names;
  const std::vector<std::string> titles = titles_of(source);
  for (const vm::MeasuredCopies& each : copies)
    names[std::min<size_t>(each.cause, titles.size())] =
        each.cause < titles.size() ? "copies for " + titles[each.cause]
                                   : "copies for the caller, and functions of others";
  return names;
}

}  // namespace

ProgramTimes take_program_times(FusedTimes& fused, const vm::MeasuredRun& all, const ProgramSource& source) {
  const size_t nodes = source.plan->nodes.size(), first_copy = nodes + vm::kRunParts;
  const std::map<size_t, std::string> copies = copy_names(all, source);
  ProgramTimes times;
  const auto runs = static_cast<double>(std::max<uint64_t>(all.runs(), 1));
  std::vector<bool> called(nodes);
  Estimate control;
  for (const vm::MeasuredCalls& each : all.calls()) called.at(each.node) = each.count > 0;
  FusedTimes kept = fused;
  kept.nodes.clear();
  kept.node_us.clear();
  kept.node_times.clear();
  kept.calls_per_sample.clear();
  for (size_t i = 0; i < fused.nodes.size(); ++i) {
    const uint32_t node = fused.nodes[i];
    if (node >= first_copy) {
      const Estimate& time = fused.node_times.at(i);
      if (const auto at = copies.find(node - first_copy); at != copies.end())
        times.parts.push_back({at->second, time.us, time.plus_minus_us});
    } else if (node >= nodes) {
      const Estimate& time = fused.node_times.at(i);
      if (node + 1 == first_copy) control = time;
      times.parts.push_back({part_name(static_cast<vm::RunPart>(node - nodes)), time.us, time.plus_minus_us});
    } else if (called[node]) {
      kept.nodes.push_back(node);
      kept.node_us.push_back(fused.node_us[i]);
      kept.node_times.push_back(fused.node_times.at(i));
    }
  }
  fused = std::move(kept);
  times.pieces = static_cast<double>(all.pieces()) / runs;
  times.instructions = static_cast<double>(all.num_instructions()) / runs;

  const vm::Program& program = all.program();
  // Operators on integers are instructions: each has the mean time of one.
  std::map<uint32_t, double> integers;  // by node, how many instructions ran
  const double control_ns = all.ns_of(vm::RunPart::kControl);
  double control_count = 0;
  std::vector<std::vector<vm::Instruction>> code;
  for (size_t f = 0; f < program.functions.size(); ++f) {
    code.push_back(decoded(program, program.functions[f]));
    std::map<uint32_t, double> counts;  // of control, by word
    for (const vm::Instruction& each : code.back())
      if (!computes(each.op))
        control_count += counts[each.at] = static_cast<double>(all.instructions()[f][each.at].count);
    for (const auto& [word, node] : program.functions[f].nodes)
      if (const auto at = counts.find(word); at != counts.end() && !called[node])
        integers[node] += at->second;
  }
  for (const auto& [node, count] : integers)
    if (count > 0)
      take_from_control(fused, times.parts.at(vm::kRunParts - 1), control, node, count / control_count);

  // Tallies are of all runs, disturbed ones too: their times are scaled to those of the estimates.
  double estimated = times.parts_us();
  for (const Estimate& time : fused.node_times) estimated += time.us;
  const double us_per_ns = all.total_ns() > 0 ? estimated / all.total_ns() : 0;
  const double ns_of_control = control_count > 0 ? control_ns / control_count : 0;
  for (size_t f = 0; f < program.functions.size(); ++f) {
    const vm::FunctionCode& function = program.functions[f];
    const vm::MeasuredFunction& measured = all.functions()[f];
    if (measured.recursive > 0)
      times.loops.push_back({function.name, function.line,
                             static_cast<double>(measured.calls - measured.recursive) / runs,
                             static_cast<double>(measured.recursive) / runs, measured.time.ns() * us_per_ns});
    const std::vector<vm::MeasuredInstruction>& tallies = all.instructions()[f];
    const auto us_in = [&](Range range) {
      double ns = 0;
      for (const vm::Instruction& each : code[f]) {
        if (each.at < range.begin || each.at >= range.end) continue;
        if (has_its_time(each.op)) ns += tallies[each.at].time.ns();
        if (!computes(each.op)) ns += static_cast<double>(tallies[each.at].count) * ns_of_control;
      }
      return ns * us_per_ns;
    };
    for (const BranchCode& branch : branches_of(function, code[f])) {
      if (tallies[branch.at].count == 0) continue;
      ProgramTimes::Branch row{function.name, "if", 0};
      for (const vm::CodeLine& line : function.lines)
        if (line.word == branch.at) {
          row.line = line.line;
          row.what = line.what;
        }
      const auto count = static_cast<double>(tallies[branch.at].count);
      row.taken = branch.taken.begin < tallies.size()
                      ? static_cast<double>(tallies[branch.taken.begin].count) / runs
                      : 0;
      row.not_taken = count / runs - row.taken;
      row.taken_us = us_in(branch.taken);
      row.not_taken_us = us_in(branch.not_taken);
      times.branches.push_back(std::move(row));
    }
  }
  return times;
}

namespace {

CostFacts cost_at(const FunctionNode& function, const std::vector<int64_t>& extents) {
  if (kernel_extents(function).size() != extents.size()) return {};  // of a file that does not match
  const Function at = extents.empty() ? Function(&function) : at_extents(function, extents);
  std::vector<CostFacts> calls;
  for (const KernelBlock& block : kernel_blocks(*at)) calls.push_back(cost_of_call(*block.call));
  return cost_of_function(*at, calls);
}

}  // namespace

void add_calls(ProfileReport& report, const ProgramSource& source, const vm::MeasuredRun& all) {
  std::map<uint32_t, KernelRow*> rows;
  for (KernelRow& row : report.kernels) {
    row.calls = row.flops = row.bytes = 0;
    rows[row.node] = &row;
  }
  const auto runs = static_cast<double>(std::max<uint64_t>(all.runs(), 1));
  for (size_t f = 0; f < all.program().functions.size(); ++f)
    for (const auto& [word, node] : all.program().functions[f].nodes)
      if (const auto at = rows.find(node); at != rows.end())
        at->second->calls =
            std::max(at->second->calls, static_cast<double>(all.instructions()[f][word].count) / runs);
  for (const vm::MeasuredCalls& each : all.calls()) {
    const auto at = rows.find(each.node);
    if (at == rows.end() || each.count == 0) continue;
    KernelRow& row = *at->second;
    if (row.shapes.empty()) row.calls = 0;
    const double calls = static_cast<double>(each.count) / runs;
    row.calls += calls;
    row.shapes.push_back({each.shapes, calls, each.ns / 1e3 / runs, each.extents});
    // Of what is no kernel only its values tell the shapes.
    const Function& function = source.functions.at(each.node);
    if (!source.is_kernel[each.node] || !function) continue;
    const CostFacts cost = cost_at(*function, each.extents);
    row.flops += cost.flops * calls;
    row.bytes += cost.bytes * calls;
  }
  for (KernelRow& row : report.kernels) {
    row.roofline.intensity = row.bytes > 0 ? row.flops / row.bytes : 0;
    row.roofline.gflops = row.median_us > 0 ? row.flops / row.median_us / 1e3 : 0;
    row.roofline.gbytes_per_s = row.median_us > 0 ? row.bytes / row.median_us / 1e3 : 0;
    const Function& function = source.functions.at(row.node);
    const bool is_open = function && !kernel_extents(*function).empty();
    if (row.shapes.size() == 1 && !is_open) row.shapes.clear();
  }
}

}  // namespace baton
