#include "baton/profile/foreign/engine_report.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <unordered_map>

#include "baton/clock/estimate.h"
#include "baton/profile/report/titles.h"
#include "baton/support/base/statistics.h"
#include "baton/support/version.h"

namespace baton {

namespace {

std::string engine_text(const EngineProfile& profile) {
  return profile.engine + (profile.version.empty() ? "" : " " + profile.version);
}

void add_operators(ProfileReport& report, const std::vector<onnx::SourceNode>& nodes,
                   const std::string& engine) {
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    OperatorRow row;
    row.id = i;
    row.op = nodes[i].op;
    row.source = nodes[i].label;
    row.module = nodes[i].module;
    row.source_line = nodes[i].line;
    row.inputs = nodes[i].inputs;
    report.operators.push_back(std::move(row));
  }
  for (const KernelRow& kernel : report.kernels)
    for (const uint32_t id : kernel.origins) report.operators[id].nodes.push_back(kernel.node);
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    OperatorRow& row = report.operators[i];
    for (const uint32_t node : row.nodes)
      for (const uint32_t other : report.kernels[node].origins)
        if (other != i) row.fused_with.push_back(other);
    if (!row.nodes.empty()) continue;
    row.retired_by = engine;
    row.retired_why = nodes[i].is_constant ? "follows from constants: computed before the run"
                      : nodes[i].is_call   ? "a call of a function of the model, whose nodes stand for it"
                                           : "no step of the profile is named after it, or reads its result";
  }
}

/// A step reads what the steps of its nodes' inputs make.
void add_edges(ProfileReport& report) {
  for (KernelRow& kernel : report.kernels) {
    std::set<uint32_t> inputs;
    for (const uint32_t id : kernel.origins)
      for (const uint32_t input : report.operators[id].inputs)
        for (const uint32_t node : report.operators[input].nodes)
          if (node != kernel.node) inputs.insert(node);
    kernel.inputs.assign(inputs.begin(), inputs.end());
  }
}

void add_note(ProfileReport& report) {
  double named = 0, caused = 0;
  size_t unknown = 0;
  for (const KernelRow& row : report.kernels) {
    if (!row.origins.empty())
      named += row.median_us;
    else if (!row.made_for.empty())
      caused += row.median_us;
    else
      ++unknown;
  }
  char text[200];
  std::snprintf(text, sizeof text,
                "%.1f %% of the time is of steps of known nodes, %.1f %% of changes of layout made for them; "
                "%zu of %zu steps could not be joined",
                100 * named / report.sum_us, 100 * caused / report.sum_us, unknown, report.kernels.size());
  report.notes.emplace_back(text);
  report.notes.emplace_back("times are those that the engine measured and wrote: medians of its runs");
}

}  // namespace

ProfileReport engine_report(const EngineProfile& profile, const std::vector<onnx::SourceNode>& nodes,
                            const std::string& model) {
  ProfileReport report;
  report.model = report.source = model;
  report.opt_level = -1;
  report.version = version();
  report.target = engine_text(profile);
  report.threads = profile.threads;
  const std::vector<JoinedRow> joined = join(profile, nodes);
  for (uint32_t i = 0; i < profile.rows.size(); ++i) {
    const EngineRow& step = profile.rows[i];
    KernelRow row;
    row.node = i;
    row.name = row.title = row.func_name = step.name;
    row.target = step.implementation.empty() ? report.target : step.implementation;
    row.device = "cpu";
    row.origins = joined[i].nodes;
    row.made_for = joined[i].made_for;
    if (row.origins.empty()) row.reason = step.op;
    row.samples_us = step.samples_us;
    row.median_us = median(step.samples_us);
    row.cv = coefficient_of_variation(step.samples_us);
    report.sum_us += row.median_us;
    report.kernels.push_back(std::move(row));
  }
  for (KernelRow& row : report.kernels) row.share = report.sum_us > 0 ? row.median_us / report.sum_us : 0;
  report.plain_us = profile.runs_us;
  report.end_to_end_us = profile.runs_us.empty() ? report.sum_us : median(profile.runs_us);
  report.cv = coefficient_of_variation(profile.runs_us);
  add_operators(report, nodes, report.target);
  add_edges(report);
  add_note(report);
  return report;
}

}  // namespace baton
