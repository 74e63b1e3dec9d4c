#include "baton/profile/report/report.h"

#include <algorithm>
#include <map>
#include <set>

#include "baton/driver/origins/origins_json.h"
#include "baton/driver/plan/region_attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/brief.h"
#include "baton/profile/report/titles.h"
#include "baton/runtime/baton_backend.h"
#include "baton/runtime/processor.h"
#include "baton/schedule/loops.h"
#include "baton/support/error.h"
#include "baton/support/json.h"
#include "baton/support/version.h"
#include "baton/text/printer.h"

namespace baton {

namespace {

std::vector<uint32_t> ids_of(std::span<const Origin* const> origins, const OriginTable& table) {
  std::vector<uint32_t> ids;
  for (const Origin* origin : origins)
    if (const auto id = table.find(origin)) ids.push_back(index(*id));
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<uint32_t> ids_of(const std::vector<int>& of, const std::vector<KernelBlock>& blocks,
                             const OriginTable& table) {
  std::set<uint32_t> ids;
  for (int block : of)
    for (uint32_t id : ids_of(blocks[block].call->origins().origins(), table)) ids.insert(id);
  return {ids.begin(), ids.end()};
}

// Origins are per node, not per shared kernel: blocks are matched by index, since equal functions have equal
// blocks in equal order.
std::vector<InsideRow> inside_rows(const FunctionNode& function, const InsideTimes& times, double median_us,
                                   const OriginTable& table) {
  const std::vector<KernelBlock> blocks = kernel_blocks(function);
  std::vector<InsideRow> rows;
  for (const InsidePart& part : times.parts) {
    InsideRow row;
    row.stage = part.stage;
    row.share = part.share;
    row.us = part.share * median_us;
    row.method = part.method;
    row.below_noise = part.below_noise;
    if (part.plus_minus) row.plus_minus_us = *part.plus_minus * median_us;
    row.rest = part.rest;
    row.ids = ids_of(part.blocks, blocks, table);
    row.implementation = part.implementation;
    row.layouts = part.layouts;
    row.reason = part.reason;
    for (int block : part.blocks)
      row.label += (row.label.empty() ? "" : ", ") + blocks[block].call->op()->name;
    if (part.method == InsideMethod::kParts && part.blocks.empty()) std::swap(row.label, row.stage);
    rows.push_back(std::move(row));
  }
  return rows;
}

// The called nodes whose values `node` reads, looking through reshape nops.
std::vector<uint32_t> read_by(const PlanNode& node, const Plan& plan) {
  std::set<uint32_t> found;
  std::vector<EntryId> waiting(node.inputs.begin(), node.inputs.end());
  while (!waiting.empty()) {
    const uint32_t source = plan.maker_of(waiting.back());
    waiting.pop_back();
    const PlanNode& from = plan.nodes[source];
    if (from.kind == PlanNode::Kind::kNop)
      waiting.insert(waiting.end(), from.inputs.begin(), from.inputs.end());
    else if (from.kind != PlanNode::Kind::kInput)
      found.insert(source);
  }
  return {found.begin(), found.end()};
}

void add_loads(KernelRow& row, const FunctionNode& function, const InsideTimes& times,
               const OriginTable& table) {
  if (times.threads < 2) return;
  const std::vector<KernelBlock> blocks = kernel_blocks(function);
  row.load_threads = times.threads;
  row.threads_us = times.threads_us;
  row.utilisation = times.utilisation();
  for (const StageLoad& load : times.loads)
    row.loads.push_back({load.stage, ids_of(load.blocks, blocks, table), load.busy_us});
}

}  // namespace

std::string function_text(const Function& function) {
  PrintOptions options;
  options.version = options.spans = false;
  options.metadata = PrintOptions::Metadata::kNone;
  return print(Expr(function), options);
}

double ProfileReport::overhead() const { return median(profiled_us) / end_to_end_us; }

FunctionRow function_row(const Function& function, std::string template_name,
                         std::map<std::string, int> params) {
  return {function_text(function), brief_of_function(*function), std::move(template_name), std::move(params)};
}

ReportSource report_source(const BuildResult& built) {
  ReportSource source{
      built.origins.value_or(OriginReport()), {}, targets_text(built.targets), built.precision};
  for (const BuiltKernel& kernel : built.kernels)
    source.kernels[kernel.func_name] = {
        function_row(kernel.function, kernel.kernel->template_name, kernel.kernel->params),
        kernel.kernel->facts};
  return source;
}

ReportSource report_source(const Artifact& artifact, const std::string& shown) {
  const std::string again = ": make the artifact anew with `baton build`";
  if (!artifact.has(section::kOrigins))
    throw Error(shown + " has no section " + section::kOrigins +
                ", it was stripped of its origins: nothing says which operators its kernels "
                "compute" +
                again + ", or profile the model itself");
  ReportSource source;
  try {
    source.origins = read_origins(artifact.text(section::kOrigins));
  } catch (const Error& error) {
    throw Error(shown + ": " + error.what());
  }
  const auto meta = Json::parse_or_discard(artifact.text(section::kMeta));
  if (!meta.is_object())
    throw Error(shown + " does not say what its kernels are (section " + section::kMeta + ")" + again);
  if (meta.value("schema", 0) != 1)
    throw Error(shown + " was made by Baton " + meta.value("version", "of unknown version") +
                ", this is Baton " + std::string(version()) + ", which cannot read its " + section::kMeta +
                again);
  try {
    meta.at("target").get_to(source.target);
    source.precision = meta.value("precision", "");
    for (const Json& kernel : meta.at("kernels"))
      source.kernels[kernel.at("func_name").get<std::string>()] = {
          {kernel.value("relay", ""), kernel.value("brief", ""), kernel.at("template").get<std::string>(),
           kernel.at("params").get<KernelParams>()},
          {kernel.at("flops").get<double>(), kernel.at("bytes").get<double>()}};
  } catch (const JsonError& error) {
    throw Error(shown + ": " + section::kMeta + " is damaged (" + error.what() + ")" + again);
  }
  return source;
}

std::string device_of(const Plan& plan, EntryId entry) {
  const int type = plan.entries[entry].device_type;
  if (type == kProcessorKind) return "cpu";
  for (const PlanNode& node : plan.nodes)
    if (!node.backend.empty() && plan.entries[node.first_entry].device_type == type) return node.backend;
  return type < BATON_FIRST_SIMULATED_KIND ? "device type " + std::to_string(type) : "sim";
}

std::string simulated_device(const Plan& plan, uint32_t node) {
  if (!plan.is_simulated(node)) return "";
  const PlanNode& of = plan.nodes[node];
  if (!of.backend.empty()) return of.backend;
  const bool to = plan.entries[of.first_entry].device_type >= BATON_FIRST_SIMULATED_KIND;
  return device_of(plan, to ? of.first_entry : of.inputs[0]);
}

namespace {

/// Says so once for the whole report.
void note_simulated(ProfileReport& report) {
  std::map<std::string, int> rows;
  for (const KernelRow& row : report.kernels)
    if (!row.simulated.empty()) ++rows[row.simulated];
  if (rows.empty()) return;
  std::string text = "simulated, not measured: ";
  for (const auto& [device, count] : rows)
    text += (text.back() == ' ' ? "" : ", ") + std::to_string(count) + (count == 1 ? " row" : " rows") +
            " of " + device;
  report.notes.push_back(
      text +
      "; their times come from a device sheet, and the whole run has them in place of what "
      "the processor took to compute their results");
}

}  // namespace

ReportHead report_head(const LoadedModel& model, int opt_level) {
  ReportHead head{model.name, model.name, {}, opt_level};
  if (!model.source) return head;
  head.source = model.source->name() == kStandardInput
                    ? "standard input"
                    : model.source->name() + " (baton print " + model.name + ")";
  head.sources = {{"", model.source->text()}};
  return head;
}

ProfileReport make_report(const ReportSource& source, const Plan& plan, const FusedTimes& fused) {
  ProfileReport report;
  report.version = version();
  report.target = source.target;
  report.precision = source.precision;
  report.plain_us = fused.plain_us;
  report.profiled_us = fused.profiled_us;
  report.end_to_end_us = fused.plain.rounds_us.empty() ? median(fused.plain_us) : fused.plain.us;
  report.end_to_end_plus_minus_us = fused.plain.plus_minus_us;
  report.rounds_us = fused.plain.rounds_us;
  report.disturbed_us = fused.plain.disturbed_us;
  report.core_ns = fused.plain.core_ns;
  report.under_load = fused.plain.under_load;
  if (!fused.between.samples_us.empty()) report.between_us = fused.between.us;
  if (fused.interrupted) report.partial = "interrupted";
  report.load = fused.load_before;
  report.others_busy = fused.others_busy;
  report.exchange_ns = fused.exchange_ns;
  report.notes = fused.notes;
  report.cv = coefficient_of_variation(fused.plain_us);
  check_origins(source.origins, plan);
  for (const OperatorRecord& record : source.origins.operators) report.operators.push_back({record, {}, {}});
  for (size_t i = 0; i < fused.nodes.size(); ++i) {
    const PlanNode& node = plan.nodes[fused.nodes[i]];
    KernelRow row;
    row.node = fused.nodes[i];
    row.name = node.name;
    row.func_name = node.func_name;
    row.origins = node.origins;
    row.made_for = node.made_for;
    row.reason = node.reason;
    row.target = node.backend.empty() ? report.target : node.backend;
    row.simulated = simulated_device(plan, row.node);
    row.device = device_of(plan, node.first_entry);
    if (node.kind == PlanNode::Kind::kCopy) row.copied_from = device_of(plan, node.inputs[0]);
    row.inputs = read_by(node, plan);
    row.samples_us = fused.node_us[i];
    row.median_us = median(fused.node_us[i]);
    if (i < fused.node_times.size()) {
      const Estimate& time = fused.node_times[i];
      row.median_us = time.us;
      row.plus_minus_us = time.plus_minus_us;
      row.rounds_us = time.rounds_us;
      row.disturbed_us = time.disturbed_us;
      row.core_ns = time.core_ns;
      row.under_load = time.under_load;
      if (i < fused.calls_per_sample.size()) row.calls_per_sample = fused.calls_per_sample[i];
    }
    if (!row.simulated.empty()) row.plus_minus_us = 0;
    row.cv = coefficient_of_variation(fused.node_us[i]);
    row.roofline.dtype = plan.entries[node.first_entry].dtype.str();
    report.sum_us += row.median_us;
    if (const auto known = source.kernels.find(node.func_name); known != source.kernels.end()) {
      row.flops = known->second.facts.flops;
      row.bytes = known->second.facts.bytes;
      row.roofline.nominal = transforms_tiles(known->second.function.template_name);
      report.functions[node.func_name] = known->second.function;
    }
    if (row.bytes > 0) row.roofline.intensity = row.flops / row.bytes;
    if (row.median_us > 0) {
      row.roofline.gflops = row.flops / row.median_us / 1e3;
      row.roofline.gbytes_per_s = row.bytes / row.median_us / 1e3;
    }
    report.kernels.push_back(std::move(row));
  }
  for (KernelRow& row : report.kernels) row.share = report.sum_us > 0 ? row.median_us / report.sum_us : 0;
  add_titles(report);
  note_simulated(report);
  return report;
}

ProfileReport make_report(const BuildResult& built, const Plan& plan, const FusedTimes& fused,
                          const std::map<std::string, InsideTimes>& inside) {
  ProfileReport report = make_report(report_source(built), plan, fused);
  for (KernelRow& row : report.kernels) {
    const Function& function = built.plan.nodes.at(row.node).function;
    if (!function) continue;
    row.compiler = compiler_of(*function);
    row.region = region_of(*function);
    // In a program for several devices the target of the processor, which computes what names no backend.
    if (built.plan.graph->nodes[row.node].backend.empty())
      for (const TargetRef& target : built.targets)
        if (target->device_type() == 1) row.target = target->asked();
    const auto times = inside.find(row.func_name);
    if (times == inside.end()) continue;
    row.inside = inside_rows(*function, times->second, row.median_us, built.optimized->origins());
    row.stage_sum = times->second.stage_sum;
    row.noise = times->second.noise;
    row.trusted = times->second.trusted();
    add_loads(row, *function, times->second, built.optimized->origins());
    row.inside_notes = notes_of(times->second);
    row.split_at = times->second.node;
  }
  // A part shared by several operators counts for each in equal portions, so that nothing is counted twice.
  for (const KernelRow& row : report.kernels) {
    for (const InsideRow& part : row.inside) {
      for (uint32_t id : part.ids) {
        auto& us = report.operators.at(id).inside_us;
        us = us.value_or(0) + part.us / static_cast<double>(part.ids.size());
      }
    }
  }
  return report;
}

}  // namespace baton
