#include "baton/profile/report.h"

#include <algorithm>
#include <set>

#include "baton/driver/regions.h"
#include "baton/ir/op.h"
#include "baton/support/version.h"

namespace baton {

namespace {

std::vector<OperatorRow> read_operators(const std::string& origins_json) {
  std::vector<OperatorRow> rows;
  const auto json = nlohmann::ordered_json::parse(origins_json);
  for (const auto& entry : json["operators"]) {
    OperatorRow row;
    row.id = entry["id"];
    row.op = entry["op"];
    row.line = entry["line"];
    row.column = entry["column"];
    if (!entry["source"].is_null()) row.source = entry["source"];
    if (!entry["type"].is_null()) row.type = entry["type"];
    row.attrs = entry["attrs"];
    row.nodes = entry["nodes"].get<std::vector<uint32_t>>();
    row.folded_into = entry["folded_into"].get<std::vector<uint32_t>>();
    if (!entry["retired"].is_null()) {
      row.retired_by = entry["retired"]["pass"];
      row.retired_why = entry["retired"]["reason"];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<uint32_t> ids_of(std::span<const Origin* const> origins, const OriginTable& table) {
  std::vector<uint32_t> ids;
  for (const Origin* origin : origins)
    if (const auto id = table.find(origin)) ids.push_back(index(*id));
  std::sort(ids.begin(), ids.end());
  return ids;
}

// Origins belong to the node, not to the shared kernel: blocks are matched by position, since equal functions have
// equal blocks in equal order.
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
    row.rest = part.rest;
    std::set<uint32_t> ids;
    for (int block : part.blocks) {
      const CallNode& call = *blocks[block].call;
      for (uint32_t id : ids_of(call.origins().origins(), table)) ids.insert(id);
      row.label += (row.label.empty() ? "" : ", ") + call.op()->name;
    }
    row.ids.assign(ids.begin(), ids.end());
    rows.push_back(std::move(row));
  }
  return rows;
}

const PlannedNode* planned(const GraphPlan& plan, const std::string& name) {
  for (const PlannedNode& node : plan.nodes)
    if (node.name == name) return &node;
  return nullptr;
}

}  // namespace

ProfileReport make_report(const BuildResult& built, const Plan& plan, const FusedTimes& fused,
                          const std::map<std::string, InsideTimes>& inside) {
  ProfileReport report;
  report.version = version();
  report.target = "llvm";
  report.plain_us = fused.plain_us;
  report.profiled_us = fused.profiled_us;
  report.end_to_end_us = median(fused.plain_us);
  report.load = fused.load_before;
  report.cv = coefficient_of_variation(fused.plain_us);
  report.operators = read_operators(built.origins_json);
  std::map<std::string, const BuiltKernel*> kernels;
  for (const BuiltKernel& kernel : built.kernels) kernels[kernel.func_name] = &kernel;
  for (size_t i = 0; i < fused.nodes.size(); ++i) {
    const PlanNode& node = plan.nodes[fused.nodes[i]];
    KernelRow row;
    row.node = fused.nodes[i];
    row.name = node.name;
    row.func_name = node.func_name;
    row.origins = node.origins;
    row.made_for = node.made_for;
    row.reason = node.reason;
    row.samples_us = fused.node_us[i];
    row.median_us = median(fused.node_us[i]);
    report.sum_us += row.median_us;
    if (const auto kernel = kernels.find(node.func_name); kernel != kernels.end()) {
      row.flops = kernel->second->kernel->facts.flops;
      row.bytes = kernel->second->kernel->facts.bytes;
    }
    const PlannedNode* source = planned(built.plan, node.name);
    if (source && source->function) {
      row.compiler = compiler_of(*source->function);
      row.region = region_of(*source->function);
    }
    if (const auto times = inside.find(node.func_name); times != inside.end() && source && source->function) {
      row.inside = inside_rows(*source->function, times->second, row.median_us, built.optimized->origins());
      row.stage_sum = times->second.stage_sum;
      row.noise = times->second.noise;
      row.trusted = times->second.trusted();
    }
    report.kernels.push_back(std::move(row));
  }
  for (KernelRow& row : report.kernels) row.share = report.sum_us > 0 ? row.median_us / report.sum_us : 0;
  // A part that several operators share counts for each of them in equal portions, so that nothing is counted twice.
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

nlohmann::ordered_json to_json(const ProfileReport& report) {
  using Json = nlohmann::ordered_json;
  Json json{{"schema", 1},
            {"model", report.model},
            {"target", report.target},
            {"threads", report.threads},
            {"version", report.version},
            {"opt_level", report.opt_level},
            {"end_to_end_us",
             {{"median", report.end_to_end_us},
              {"min", report.plain_us.empty() ? 0 : *std::min_element(report.plain_us.begin(), report.plain_us.end())},
              {"samples", report.plain_us}}},
            {"profiled_us", {{"median", median(report.profiled_us)}, {"samples", report.profiled_us}}},
            {"sum_us", report.sum_us},
            {"residual_us", report.residual_us()},
            {"overhead", report.overhead()},
            {"cv", report.cv},
            {"load", report.load},
            {"operators", Json::array()},
            {"kernels", Json::array()}};
  for (const OperatorRow& row : report.operators) {
    json["operators"].push_back(
        {{"id", row.id},
         {"op", row.op},
         {"line", row.line},
         {"column", row.column},
         {"source", row.source.empty() ? Json(nullptr) : Json(row.source)},
         {"attrs", row.attrs},
         {"type", row.type},
         {"nodes", row.nodes},
         {"folded_into", row.folded_into},
         {"inside_us", row.inside_us ? Json(*row.inside_us) : Json(nullptr)},
         {"unfused_us", nullptr},
         {"retired", row.retired_by.empty() ? Json(nullptr) : Json{{"pass", row.retired_by}, {"reason", row.retired_why}}}});
  }
  for (const KernelRow& row : report.kernels) {
    Json inside = Json::array();
    for (const InsideRow& part : row.inside) {
      inside.push_back({{"id", part.ids.empty() ? Json(nullptr) : Json(part.ids.front())},
                        {"ids", part.ids},
                        {"label", part.label.empty() ? "load, store, loop" : part.label},
                        {"rest", part.rest},
                        {"stage", part.stage},
                        {"share", part.share},
                        {"us", part.us},
                        {"method", method_name(part.method)},
                        {"below_noise", part.below_noise}});
    }
    json["kernels"].push_back({{"node", row.node},
                               {"name", row.name},
                               {"func_name", row.func_name},
                               {"target", report.target},
                               {"median_us", row.median_us},
                               {"share", row.share},
                               {"samples", row.samples_us},
                               {"origins", row.origins},
                               {"made_for", row.made_for},
                               {"reason", row.reason.empty() ? Json(nullptr) : Json(row.reason)},
                               {"inside", std::move(inside)},
                               {"stage_sum", row.stage_sum},
                               {"noise", row.noise},
                               {"trusted", row.trusted},
                               {"flops", row.flops},
                               {"bytes", row.bytes}});
    if (!row.region.empty()) json["kernels"].back().update({{"compiler", row.compiler}, {"region", row.region}});
  }
  return json;
}

}  // namespace baton
