#include "baton/cli/explain/explain_subject.h"

#include <algorithm>
#include <map>
#include <set>

#include "baton/codegen/compile.h"
#include "baton/codegen/tuned_choice.h"
#include "baton/driver/initialize.h"
#include "baton/driver/origins/origin_report.h"
#include "baton/driver/origins/origins_json.h"
#include "baton/driver/plan/region_attrs.h"
#include "baton/driver/vm/build_program.h"
#include "baton/ir/op.h"
#include "baton/pass/pass.h"
#include "baton/pass/trace.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/support/json.h"
#include "baton/support/version.h"
#include "baton/text/origin_label.h"
#include "baton/text/printer.h"
#include "baton/types/infer_type.h"

namespace baton::cli {

namespace {

Subject from_artifact(const std::string& path) {
  Subject subject;
  subject.name = path;
  subject.artifact = require(Artifact::open(path, /*verify=*/false));
  try {
    subject.map = OperatorMap(require(Plan::parse(subject.artifact->text(section::kPlan))),
                              read_origins(subject.artifact->text(section::kOrigins)));
    const auto meta = Json::parse(subject.artifact->text(section::kMeta));
    meta.at("version").get_to(subject.version);
  } catch (const JsonError& error) {
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

BackendRef backend_named(const std::string& name) {
  if (BackendRef record = find_backend(name)) return record;
  std::vector<std::string> known;
  for (const BackendRef& record : backends()) known.push_back(record->name);
  const std::string near = did_you_mean(name, known);
  throw UsageError("there is no backend `" + name + "`" +
                   (near.empty() ? "" : "; did you mean `" + near + "`?"));
}

/// Compiles and loads the model, whose plug-ins then tell the parts of their regions.
std::vector<std::vector<std::string>> primitives_of(const IRModule& module, const BuildOptions& options) {
  const BuildResult built = build(module, options);
  const std::unique_ptr<Executor> executor = make_executor(built);
  std::vector<std::vector<std::string>> primitives(built.origins->operators.size());
  for (const BuiltKernel& kernel : built.kernels) {
    const std::vector<KernelPart> parts = require(executor->node_parts(kernel.first_node));
    const std::vector<KernelBlock> blocks = kernel_blocks(*built.plan.nodes[kernel.first_node].function);
    for (const KernelPart& part : parts) {
      std::string text = part.name + (part.implementation.empty() ? "" : " by " + part.implementation) +
                         (part.layouts.empty() ? "" : ", " + part.layouts);
      if (!part.reason.empty()) text += " (" + part.reason + ")";
      if (part.step < 0 || static_cast<size_t>(part.step) >= kernel.kernel->steps.size()) continue;
      text += ", step " + std::to_string(part.step) + " of " + kernel.func_name;
      std::set<uint32_t> ids;
      for (const int block : kernel.kernel->steps[static_cast<size_t>(part.step)])
        for (const Origin* origin : blocks[static_cast<size_t>(block)].call->origins().origins())
          if (const auto id = built.optimized->origins().find(origin)) ids.insert(index(*id));
      for (const uint32_t id : ids) primitives.at(id).push_back(text);
    }
  }
  return primitives;
}

Subject from_model(const ModelFlags& flags, const std::vector<std::string>& asked) {
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
    const bool is_program = !is_plan(model.module);
    options.params = load_params(model, flags.params, flags.inputs, nullptr, is_program);
    if (is_program) {
      BuildResult planned = plan_program(model.module, options);
      subject.optimized = std::move(planned.optimized);
      subject.plan = std::move(planned.plan);
    } else {
      subject.optimized = optimized_for_build(model.module, options);
      subject.plan = make_plan(subject.optimized);
    }
  }
  const OriginTable& origins = subject.optimized->origins();
  subject.map = OperatorMap(subject.plan.graph,
                            with_lines(origin_report(origins, subject.plan, source, fusion), origins));
  subject.ends = ends_of(subject.plan, fusion);
  subject.steps = steps_of(*trace, subject.optimized->origins());
  subject.context = flags.context();
  if (std::ranges::any_of(subject.plan.nodes, [](const PlannedNode& node) {
        return node.function && !compiler_of(*node.function).empty();
      })) {
    BuildOptions plain{.params = options.params, .context = subject.context};
    try {
      subject.primitives = primitives_of(model.module, plain);
    } catch (const NotSupported&) {  // a compiler without a code generator here: its regions stay unknown
    }
  }
  for (const std::string& name : asked) {
    const BackendRef record = backend_named(name);
    const IRModule bound = bind_params(infer_types(model.module->copy()), options.params);
    std::vector<TakenOperator> taken = taken_operators(bound, *record, subject.context);
    taken.resize(std::max(taken.size(), subject.map.operators().size()));
    subject.taken.emplace_back(name, std::move(taken));
  }
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

const DeviceSheet* Subject::device() const { return artifact ? nullptr : &context.device(); }

std::optional<KernelRequest> Subject::request(uint32_t node) const {
  std::optional<KernelRequest> request;
  if (artifact || map.kernel_node(node).kind != PlanNode::Kind::kKernel) return request;
  request.emplace().function = without_region(plan.nodes[node].function);
  request->strict = strict;
  if (device()->kind != context.host().kind) return request;  // schedules are kept for the host only
  KernelSchedule schedule = tuned_choice(nullptr)->schedule(request->function, context.host());
  request->template_name = std::move(schedule.template_name);
  request->params = std::move(schedule.params);
  return request;
}

KernelFacts Subject::facts(uint32_t node) const {
  KernelFacts facts;
  if (!artifact && plan.nodes[node].function) facts.relay = relay_text(plan.nodes[node].function);
  if (const auto wanted = request(node)) {
    const InterruptScope interrupt;
    BuildContext stoppable = context;
    stoppable.interrupt = interrupt.flag();
    const KernelRef kernel = compile_kernels({&*wanted, 1}, *device(), stoppable)[0];
    facts.template_name = kernel->template_name;
    facts.params.assign(kernel->params.begin(), kernel->params.end());
    for (ExtentCase each : kernel->cases) {
      each.condition = with_extent_names(each.condition, *wanted->function);
      facts.cases.push_back(std::move(each));
    }
    facts.chosen_by = device()->kind == context.host().kind
                          ? chosen_by(wanted->function, context.host())
                          : "the order of the templates for " + device()->kind;
    facts.skipped = kernel->skipped;
    facts.flops = kernel->facts.flops;
    facts.bytes = kernel->facts.bytes;
  } else if (artifact) {
    const auto meta = Json::parse(artifact->text(section::kMeta));
    for (const auto& kernel : meta.at("kernels")) {
      if (kernel.at("func_name") != map.kernel_node(node).func_name) continue;
      kernel.at("template").get_to(facts.template_name);
      for (const auto& [name, value] : kernel.at("params").items())
        facts.params.emplace_back(name, value.get<int>());
      facts.skipped = kernel.at("not_taken").get<std::vector<std::string>>();
      for (const Json& each : kernel.value("cases", Json::array()))
        facts.cases.push_back({each.at("where").get<std::string>(), each.at("template").get<std::string>(),
                               each.at("params").get<KernelParams>()});
      facts.flops = kernel.at("flops").get<double>();
      facts.bytes = kernel.at("bytes").get<double>();
    }
  }
  return facts;
}

Subject load_subject(const ModelFlags& flags, const std::vector<std::string>& backends) {
  initialize();
  if (!flags.model.ends_with(".baton")) return from_model(flags, backends);
  if (!backends.empty())
    throw UsageError(flags.model +
                     " is an artifact: it holds kernels and no Relay; --backends takes the model "
                     "that it was built from");
  return from_artifact(flags.model);
}

}  // namespace baton::cli
