#include "baton/profile/report/sample_report.h"

#include <algorithm>
#include <cstdio>

#include "baton/ir/op.h"
#include "baton/support/json.h"

namespace baton {

namespace {

constexpr double kLeastShown = 0.005;

const BuiltKernel* kernel_called(const BuildResult& built, const std::string& func_name) {
  for (const BuiltKernel& kernel : built.kernels)
    if (kernel.func_name == func_name) return &kernel;
  return nullptr;
}

std::vector<std::string> operator_names(const BuildResult& built, const SampledKernel& kernel) {
  std::vector<std::string> names;
  if (const BuiltKernel* called = kernel_called(built, kernel.func_names.front()))
    for (const KernelBlock& block : kernel_blocks(*called->function)) names.push_back(block.call->op()->name);
  return names;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::vector<std::string> of_blocks(const std::vector<std::string>& names, const std::vector<int>& blocks) {
  std::vector<std::string> out;
  for (const int block : blocks) out.push_back(names.at(static_cast<size_t>(block)));
  return out;
}

double quotient(uint64_t part, uint64_t whole) {
  return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// Samples of running or waiting threads: the base of time shares.
uint64_t all_of(const ModelSamples& samples) { return samples.in_kernels + samples.outside; }

std::string shortened(std::string text, size_t width) {
  if (text.size() > width) text = text.substr(0, width - 3) + "...";
  return text;
}

}  // namespace

void write_samples(std::ostream& out, const BuildResult& built, const ModelSamples& samples) {
  char line[160];
  std::snprintf(line, sizeof line, "%llu samples in %llu runs of %.3f ms; sampling adds %.1f %% to a run\n\n",
                static_cast<unsigned long long>(all_of(samples)),
                static_cast<unsigned long long>(samples.runs), samples.plain_us / 1e3,
                samples.overhead * 100);
  out << line << "   share  kernel, stage\n";
  for (const SampledKernel& kernel : samples.kernels) {
    std::snprintf(line, sizeof line, "%6.1f %%  ", 100 * quotient(kernel.counts.in_kernel, all_of(samples)));
    out << line << shortened(joined(kernel.func_names), 108) << "\n";
    const std::vector<std::string> names = operator_names(built, kernel);
    for (const SampledStage& stage : kernel.counts.stages) {
      if (kernel.counts.share(stage) < kLeastShown) continue;
      std::string text = stage.stage.empty() ? "entry and exit" : stage.stage;
      for (const HeldStage& held : stage.holds) text += " + " + held.stage;
      if (!stage.blocks.empty()) text += ": " + joined(of_blocks(names, stage.blocks));
      std::snprintf(line, sizeof line, "  %6.1f %%    ", 100 * quotient(stage.samples, all_of(samples)));
      out << line << shortened(text, 104) << "\n";
    }
  }
  std::snprintf(line, sizeof line, "%6.1f %%  outside of kernels\n",
                100 * quotient(samples.outside, all_of(samples)));
  out << line;
  if (samples.idle > 0) {
    std::snprintf(line, sizeof line, "          threads of the pool waited in %.1f %% of their samples\n",
                  100 * quotient(samples.idle, samples.idle + all_of(samples)));
    out << line;
  }
}

Json to_json(const BuildResult& built, const ModelSamples& samples) {
  Json kernels = Json::array();
  const double us = samples.plain_us;
  for (const SampledKernel& kernel : samples.kernels) {
    const std::vector<std::string> names = operator_names(built, kernel);
    Json stages = Json::array();
    for (const SampledStage& stage : kernel.counts.stages) {
      Json holds = Json::array();
      for (const HeldStage& held : stage.holds) holds.push_back(held.stage);
      const double share = quotient(stage.samples, all_of(samples));
      stages.push_back({{"stage", stage.stage},
                        {"operators", of_blocks(names, stage.blocks)},
                        {"holds", std::move(holds)},
                        {"share", share},
                        {"samples", stage.samples},
                        {"us", share * us}});
    }
    const double share = quotient(kernel.counts.in_kernel, all_of(samples));
    kernels.push_back({{"func_names", kernel.func_names},
                       {"share", share},
                       {"samples", kernel.counts.in_kernel},
                       {"us", share * us},
                       {"stages", std::move(stages)}});
  }
  return {{"schema", 1},
          {"runs", samples.runs},
          {"samples", all_of(samples)},
          {"outside", samples.outside},
          {"idle", samples.idle},
          {"plain_us", samples.plain_us},
          {"sampled_us", samples.sampled_us},
          {"overhead", samples.overhead},
          {"kernels", std::move(kernels)}};
}

}  // namespace baton
