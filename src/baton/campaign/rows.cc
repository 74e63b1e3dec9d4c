#include "baton/campaign/rows.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "baton/clock/estimate.h"
#include "baton/profile/record/set_time.h"
#include "baton/profile/record/work.h"
#include "baton/profile/report/report.h"
#include "baton/support/error.h"
#include "baton/target/machine_name.h"

namespace baton {

namespace {

constexpr char kCampaign[] = "campaign";  // the protocol

class Rows {
 public:
  Rows(const JobResult& result, const RowSource& source)
      : result_(result), source_(source), plan_(*source.built->plan.graph) {
    for (const BuiltKernel& kernel : source.built->kernels) kernels_[kernel.func_name] = &kernel;
    for (uint32_t node = 0; node < plan_.nodes.size(); ++node) {
      nodes_[plan_.nodes[node].name] = node;
      ++calls_[plan_.nodes[node].func_name];
      if (plan_.is_simulated(node)) any_simulated_ = simulated_device(plan_, node);
    }
  }

  std::vector<Measurement> all() const {
    std::vector<Measurement> rows;
    for (const JobRow& row : result_.rows) {
      if (row.node.empty()) {
        if (source_.subject->kind == Subject::Kind::kModel) rows.push_back(model(row));
        continue;
      }
      const auto node = nodes_.find(row.node);
      if (node == nodes_.end()) throw Error("there is no node `" + row.node + "` in the program");
      if (plan_.nodes[node->second].kind == PlanNode::Kind::kCopy)
        rows.push_back(transfer(row, node->second));
      else
        rows.push_back(kernel(row, node->second));
    }
    return rows;
  }

 private:
  Measurement common(const JobRow& row) const {
    Measurement m;
    m.machine = result_.machine;
    m.device = result_.device;
    m.threads = source_.configuration->threads;
    m.cache = row.cache;
    set_time(m, time_of(row));
    m.protocol = kCampaign;
    if (!source_.unreliable.empty()) m.unreliable = source_.unreliable;
    m.load = row.load;
    m.others_busy = row.others_busy;
    m.reference_us = source_.reference_us;
    m.begun_s = source_.begun_s;
    m.family = source_.subject->family;
    m.campaign = source_.campaign;
    m.configuration = source_.configuration->key + source_.visit;
    if (source_.subject->kind == Subject::Kind::kModel) {
      m.model = source_.subject->name;
      m.model_id = source_.subject->work.id();
    }
    return m;
  }

  Estimate time_of(const JobRow& row) const {
    const std::vector<double> kept = samples_without(row.samples_us, row.disturbed);
    Estimate time = estimate_of_one_process(kept);
    if (row.under_load) {
      time.us = least_disturbed_us(kept);
      time.plus_minus_us = apart_from_quiet(
          kept, time.us, row.interrupted,
          contending_threads(source_.configuration->threads, row.others_busy, result_.device.cores));
      char text[100];
      std::snprintf(text, sizeof text, "measured beside other programs, which used %.1f processors",
                    row.others_busy);
      time.under_load = text;
    }
    for (const uint32_t i : row.disturbed) time.disturbed_us.push_back(row.samples_us.at(i));
    time.core_ns = row.core_ns;
    return time;
  }

  int opt_level() const { return source_.context->passes->opt_level; }

  Measurement model(const JobRow& row) const {
    Measurement m = common(row);
    m.work = source_.subject->work;
    m.build = build_facts(*source_.built, opt_level());
    m.build.backend = source_.configuration->backend;
    m.simulated = any_simulated_;
    // A run is longer than all threads have a processor at the same time.
    if (row.under_load && m.threads > 1 && m.unreliable.empty())
      m.unreliable = "on several threads beside other programs";
    return m;
  }

  Measurement kernel(const JobRow& row, uint32_t number) const {
    const PlanNode& node = plan_.nodes[number];
    Measurement m = of_node(row, number);
    const auto built = kernels_.find(node.func_name);
    const Function& function = source_.built->plan.nodes[number].function;
    m.work =
        kernel_work(built != kernels_.end() && built->second->function ? built->second->function : function);
    m.build = built != kernels_.end() ? build_facts(*built->second, *source_.built, opt_level())
                                      : build_facts(*source_.built, opt_level());
    set_device(m, node.backend);
    return m;
  }

  Measurement transfer(const JobRow& row, uint32_t number) const {
    const PlanNode& node = plan_.nodes[number];
    const PlanEntry& to = plan_.entries[node.first_entry];
    const std::string source = device_of(plan_, node.inputs[0]), target = device_of(plan_, node.first_entry);
    Measurement m = of_node(row, number);
    m.work = transfer_work(static_cast<double>(to.bytes()), source, target);
    m.build = build_facts(*source_.built, opt_level());
    m.build.backend = m.build.target = source == "cpu" ? target : source;
    set_device(m, m.build.backend);
    m.calls = 1;
    return m;
  }

  Measurement of_node(const JobRow& row, uint32_t number) const {
    const PlanNode& node = plan_.nodes[number];
    Measurement m = common(row);
    m.node = number;
    m.calls = calls_.at(node.func_name);
    m.origins = origins(node.origins);
    m.made_for = origins(node.made_for);
    m.simulated = simulated_device(plan_, number);
    if (!m.simulated.empty()) m.plus_minus_us = 0;
    return m;
  }

  std::vector<WorkOrigin> origins(const std::vector<uint32_t>& ids) const {
    if (!source_.built->origins) return {};
    return work_origins(source_.built->origins->operators, ids);
  }

  void set_device(Measurement& m, const std::string& backend) const {
    if (const DeviceSheet* sheet = backend.empty() ? nullptr : source_.context->sheet_of(backend))
      m.device = *sheet;
  }

  const JobResult& result_;
  const RowSource& source_;
  const Plan& plan_;
  std::map<std::string, const BuiltKernel*> kernels_;
  std::map<std::string, uint32_t> nodes_;
  std::map<std::string, int> calls_;
  std::string any_simulated_;
};

}  // namespace

std::vector<double> samples_without(const std::vector<double>& samples,
                                    const std::vector<uint32_t>& left_out) {
  std::vector<double> kept;
  for (uint32_t i = 0; i < samples.size(); ++i)
    if (std::ranges::find(left_out, i) == left_out.end()) kept.push_back(samples[i]);
  return kept;
}

std::string configuration_key(const Subject& subject, const std::string& backend, int threads,
                              const Design& design) {
  std::string text = subject.work.id() + " " + backend + " " + std::to_string(threads) + " " +
                     std::to_string(static_cast<int>(subject.kind)) + " level " +
                     std::to_string(design.opt_level);
  for (const CacheState cache : design.caches) text += " " + std::string(cache_state_name(cache));
  return digest128(text.data(), text.size()).hex();
}

std::vector<Measurement> measurements_of_job(const JobResult& result, const RowSource& source) {
  return Rows(result, source).all();
}

Measurement failed_measurement(const RowSource& source, const std::string& why) {
  Measurement m;
  m.work = source.subject->work;
  m.build.backend = source.configuration->backend;
  m.build.target = source.configuration->backend;
  m.device = source.context->host();
  m.machine = machine_name();
  m.threads = source.configuration->threads;
  m.protocol = kCampaign;
  m.unreliable = "failed: " + why;
  m.reference_us = source.reference_us;
  m.begun_s = source.begun_s;
  m.family = source.subject->family;
  m.campaign = source.campaign;
  m.configuration = source.configuration->key + source.visit;
  return m;
}

}  // namespace baton
