#include "baton/cli/explain/explain_subject.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "baton/codegen/compile.h"
#include "baton/codegen/tuned_choice.h"
#include "baton/driver/initialize.h"
#include "baton/driver/origins/origin_report.h"
#include "baton/driver/origins/origins_json.h"
#include "baton/driver/plan/region_attrs.h"
#include "baton/ir/op.h"
#include "baton/pass/pass.h"
#include "baton/pass/trace.h"
#include "baton/support/version.h"
#include "baton/text/origin_label.h"
#include "baton/text/printer.h"

namespace baton::cli {

namespace {

Subject from_artifact(const std::string& path) {
  Subject subject;
  subject.name = path;
  subject.artifact = require(Artifact::open(path, /*verify=*/false));
  try {
    subject.map = OperatorMap(require(Plan::parse(subject.artifact->text(section::kPlan))),
                              read_origins(subject.artifact->text(section::kOrigins)));
    const auto meta = nlohmann::json::parse(subject.artifact->text(section::kMeta));
    subject.version = meta.at("version");
  } catch (const nlohmann::json::exception& error) {
    throw Error(
        path +
        ": its meta.json cannot be read, so it was built by another version or changed; build it again (" +
        error.what() + ")");
  } catch (const Error& error) {
    throw Error(path + ": " + error.what());
  }
  return subject;
}

std::vector<std::vector<Step>> steps_of(const PassTrace& trace, const OriginTable& origins) {
  std::vector<std::vector<Step>> steps(origins.size());
  for (const PassStep& step : trace.steps())
    for (const OriginChange& change : step.changes) {
      const std::string text = change_text(change);
      for (const auto& origin : change.origins)
        if (const auto id = origins.find(origin.get())) steps[index(*id)].push_back({step.pass, text});
    }
  return steps;
}

using Operation = std::pair<std::string, std::vector<const Origin*>>;

Operation operation(const std::string& op, const OriginSet& set) {
  return {op, {set.origins().begin(), set.origins().end()}};
}

/// Nodes and notes are both in program order, so equal ones are paired in that order.
std::vector<std::string> ends_of(const GraphPlan& plan, const FusionLog& fusion) {
  std::vector<std::string> ends(plan.nodes.size());
  std::map<Operation, std::vector<const FusionLog::Entry*>> notes;
  for (const FusionLog::Entry& entry : fusion.entries())
    if (!entry.fused) notes[operation(entry.op, entry.origins)].push_back(&entry);
  for (size_t node = 0; node < plan.nodes.size(); ++node) {
    const auto* root = plan.nodes[node].function ? as<CallNode>(plan.nodes[node].function->body()) : nullptr;
    if (!root || !root->op()) continue;
    const auto found = notes.find(operation(root->op()->name, root->origins()));
    if (found == notes.end()) continue;
    const auto note =
        std::find_if(found->second.begin(), found->second.end(),
                     [&](const FusionLog::Entry* entry) { return entry->origins == root->origins(); });
    if (note == found->second.end()) continue;
    ends[node] = (*note)->op + ": " + (*note)->text;
    found->second.erase(note);
  }
  return ends;
}

Subject from_model(const ModelFlags& flags) {
  Subject subject;
  const LoadedModel model = load_model(flags.model, flags.shapes);
  subject.name = model.name;
  subject.version = version();
  const auto source = source_graph(*model.module);
  const auto trace = std::make_shared<PassTrace>();
  FusionLog fusion;
  BuildOptions options;
  options.context = flags.context();
  subject.strict = is_strict(options.context.passes->config);
  options.context.passes->instruments = {trace};
  options.context.fusion_log = &fusion;
  {
    const InstrumentScope scope(options.context.passes);
    options.params = load_params(model, flags.params, flags.inputs);
    subject.optimized = optimized_for_build(model.module, options);
  }
  subject.plan = make_plan(subject.optimized);
  const OriginTable& origins = subject.optimized->origins();
  subject.map = OperatorMap(subject.plan.graph,
                            with_lines(origin_report(origins, subject.plan, source, fusion), origins));
  subject.ends = ends_of(subject.plan, fusion);
  subject.steps = steps_of(*trace, subject.optimized->origins());
  return subject;
}

std::string relay_text(const Function& function) {
  PrintOptions options;
  options.version = false;
  options.types = false;
  options.spans = false;
  options.origins = true;
  options.origin_name = [](const Origin& origin) {
    const std::string name = origin_name(origin);
    return name.empty() ? origin.op() : name;
  };
  options.metadata = PrintOptions::Metadata::kNone;
  // Attributes set by passes are not shown.
  const Function bare = make_function(function->params(), function->body(), function->ret_type(),
                                      {{"Primitive", 1}}, NodeInfo(OriginSet::none()));
  std::string text = print(Expr(bare), options);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string in_us(double us) {
  char text[40];
  std::snprintf(text, sizeof text, "%.1f us", us);
  return text;
}

std::string and_second(const TunedSchedule& tuned) {
  return tuned.second.empty() ? "" : "; second was " + tuned.second + ": " + in_us(tuned.second_us);
}

/// Where nothing was tuned here.
std::string chosen_untuned(const Function& function, const DeviceSheet& sheet) {
  const std::string model = "the cost model; not tuned (baton tune)";
  const ScheduleTable& shipped_for = shipped_table(processor_family(sheet));
  const auto shipped = table_schedule(shipped_for, function, sheet, KernelCache::shared());
  if (!shipped) return model;
  const std::string table = "the table shipped for " + shipped_for.family;
  if (!shipped->unfit.empty())
    return model + "; " + table + " says " + schedule_text(shipped->tuned.schedule) +
           ", which no longer fits: " + shipped->unfit;
  return table + ": " + in_us(shipped->tuned.us) + ", " + in_us(shipped->tuned.default_us) +
         " by default, where it was measured" + and_second(shipped->tuned);
}

/// Who chose the schedule of a kernel, and what came second.
std::string chosen_by(const Function& function, const DeviceSheet& sheet) {
  const auto kept = kept_tuned(function, sheet, KernelCache::shared());
  if (!kept || kept->tried == 0) return chosen_untuned(function, sheet);
  const std::string tried = ", the fastest of " + std::to_string(kept->tried) + " schedules tried, of " +
                            std::to_string(kept->candidates) + ": ";
  if (kept->schedule.template_name.empty())
    return "the cost model" + tried + in_us(kept->default_us) + and_second(*kept);
  return "baton tune" + tried + in_us(kept->us) + ", " + in_us(kept->default_us) + " by default" +
         and_second(*kept);
}

}  // namespace

std::optional<KernelRequest> Subject::request(uint32_t node) const {
  std::optional<KernelRequest> request;
  if (artifact || map.kernel_node(node).kind != PlanNode::Kind::kKernel) return request;
  request.emplace().function = without_region(plan.nodes[node].function);
  KernelSchedule schedule = tuned_choice(nullptr)->schedule(request->function, host_context().host());
  request->template_name = std::move(schedule.template_name);
  request->params = std::move(schedule.params);
  request->strict = strict;
  return request;
}

KernelFacts Subject::facts(uint32_t node) const {
  KernelFacts facts;
  if (!artifact && plan.nodes[node].function) facts.relay = relay_text(plan.nodes[node].function);
  if (const auto wanted = request(node)) {
    const InterruptScope interrupt;
    BuildContext context = host_context();
    context.interrupt = interrupt.flag();
    const KernelRef kernel = compile_kernels({&*wanted, 1}, context)[0];
    facts.template_name = kernel->template_name;
    facts.params.assign(kernel->params.begin(), kernel->params.end());
    facts.chosen_by = chosen_by(wanted->function, context.host());
    facts.skipped = kernel->skipped;
    facts.flops = kernel->facts.flops;
    facts.bytes = kernel->facts.bytes;
  } else if (artifact) {
    const auto meta = nlohmann::ordered_json::parse(artifact->text(section::kMeta));
    for (const auto& kernel : meta.at("kernels")) {
      if (kernel.at("func_name") != map.kernel_node(node).func_name) continue;
      facts.template_name = kernel.at("template");
      for (const auto& [name, value] : kernel.at("params").items()) facts.params.emplace_back(name, value);
      facts.flops = kernel.at("flops");
      facts.bytes = kernel.at("bytes");
    }
  }
  return facts;
}

Subject load_subject(const ModelFlags& flags) {
  initialize();
  return flags.model.ends_with(".baton") ? from_artifact(flags.model) : from_model(flags);
}

}  // namespace baton::cli
