#include "baton/predict/dataset.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "baton/support/base/checksum.h"
#include "baton/support/base/statistics.h"
#include "baton/support/error.h"

namespace baton {

namespace {

constexpr double kSureCv = 0.03;                           // spread below which measurements are equally good
constexpr double kMostCv = 1;                              // above which one is no measurement
constexpr double kSizesPerOctave = 8;                      // of models whose kernels are alike
constexpr double kLeastOfModel = 0.5, kMostOfModel = 1.5;  // of a model's time that its kernels sum up to

std::string key_of(std::initializer_list<std::string> parts) {
  std::string key;
  for (const std::string& part : parts) key += part + '\x1f';
  return key;
}

uint64_t hash_of(const std::string& text, uint32_t seed) {
  return checksum64(text.data(), text.size(), seed);
}

/// The time of something that was measured several times. Other programs and virtual machines only ever make
/// it take longer: the shorter times are nearer to what it takes by itself.
double typical_of(std::vector<double> times) {
  std::ranges::sort(times);
  return quantile(times, 0.25);
}

/// The rows of one build of a model: those of one configuration of a campaign (a second visit measures the
/// same), or of one profile. Not its target: kernels of a model that was divided between backends name the
/// backend of their part, and only the row of the whole model says what was asked for.
std::string session_key(const std::string& id, const Measurement& m) {
  return key_of({id, m.machine, std::to_string(m.threads), std::to_string(m.build.opt_level),
                 m.build.precision,
                 m.configuration.empty() ? std::to_string(m.begun_s)
                                         : m.configuration.substr(0, m.configuration.find('#'))});
}

/// Empty for rows of campaigns, whose configurations tell.
std::string program_key(const std::string& id, const Measurement& m) {
  if (!m.configuration.empty()) return "";
  return key_of(
      {id, m.machine, std::to_string(m.threads), std::to_string(m.build.opt_level), m.build.precision});
}

/// What several profiles of one model have in common.
std::string model_key(const std::string& id, const Measurement& m) {
  return key_of({id, m.machine, std::to_string(m.threads), std::to_string(m.build.opt_level), m.build.backend,
                 m.build.precision, m.build.target, m.configuration.substr(0, m.configuration.find('#'))});
}

double size_of(double bytes) { return std::round(kSizesPerOctave * std::log2(std::max(bytes, 1.0))); }

}  // namespace

std::set<std::string> Dataset::backends() const {
  std::set<std::string> all;
  for (const KernelSample& each : kernels) all.insert(each.kernel.backend);
  return all;
}

std::set<std::string> Dataset::families() const {
  std::set<std::string> all;
  for (const ModelSample& each : models) all.insert(each.family);
  return all;
}

std::set<std::string> Dataset::works_of(int model) const {
  std::set<std::string> works;
  for (const auto& [kernel, calls] : models[static_cast<size_t>(model)].kernels)
    works.insert(kernels[static_cast<size_t>(kernel)].work_id);
  return works;
}

struct DatasetBuilder::State {
  struct Time {
    int64_t begun_s = 0;
    double us = 0, cv = 0;
    double core_ns = 0;                  ///< Measurement::core_ns
    bool simulated = false;              ///< the clock does not matter
    const DeviceSheet* sheet = nullptr;  ///< of its machine and device
    bool knows_clock() const { return core_ns > 0 || simulated; }
  };
  struct Kernel {
    std::string group;  ///< of all that differ in the model only
    KernelSample of;
    std::vector<Time> times;
    std::set<std::string> models;
  };
  struct Member {
    std::string kernel;
    int calls = 1;
  };
  struct Model {
    ModelSample of;
    std::vector<Time> times;
    std::map<uint32_t, Member> members;  ///< by node
    std::string key;                     ///< model_key(); empty: the whole model was not measured
    std::string program;  ///< what all sessions of profiles share, whenever they were; empty: of a campaign
  };
  Dataset data;
  std::map<std::string, std::shared_ptr<DeviceSheet>> sheets;
  std::map<std::string, Kernel> kernels;
  std::map<std::string, Model> models;                        ///< by session_key(), later by model_key()
  std::map<std::string, KernelDescription> descriptions;      ///< by work
  std::map<const DeviceSheet*, std::vector<double>> core_ns;  ///< by machine and device, which share a sheet

  Time time_of(const Measurement& m) {
    const Time time{m.begun_s, m.median_us, m.cv, m.core_ns, !m.simulated.empty(), sheet_of(m).get()};
    if (time.core_ns > 0) core_ns[time.sheet].push_back(time.core_ns);
    return time;
  }

  /// The clock of a virtual machine's processor changes by some percent from minute to minute: times become
  /// those at the clock that is usual where they were measured. Call once, when all rows are there.
  void scale_to_usual_clock() {
    std::map<const DeviceSheet*, double> usual;
    for (const auto& [sheet, readings] : core_ns) usual[sheet] = median(readings);
    const auto scale = [&](std::vector<Time>& times) {
      for (Time& time : times)
        if (time.core_ns > 0) time.us *= usual.at(time.sheet) / time.core_ns;
    };
    for (auto& [key, kernel] : kernels) scale(kernel.times);
    for (auto& [key, model] : models) scale(model.times);
  }

  /// Where some times of one thing say the core's clock and others do not, keeps the former: they would be on
  /// two clocks. Call once, when all times of one thing are together.
  void keep_one_clock() {
    const auto keep = [this](std::vector<Time>& times) {
      const auto without = std::ranges::stable_partition(times, &Time::knows_clock);
      const auto count = static_cast<int64_t>(without.size());
      if (without.size() == times.size()) {
        data.without_clock += count;
      } else if (count > 0) {
        data.left_out["times without the core's clock, of what has others with it"] += count;
        times.erase(without.begin(), without.end());
      }
    };
    for (auto& [key, kernel] : kernels) keep(kernel.times);
    for (auto& [key, model] : models) keep(model.times);
  }

  /// Peaks differ a little each time they are measured: one sheet per machine and kind of device.
  std::shared_ptr<const DeviceSheet> sheet_of(const Measurement& m) {
    auto& sheet = sheets[key_of({m.machine, m.device.kind, std::to_string(m.device.code_hash())})];
    if (!sheet) sheet = std::make_shared<DeviceSheet>(m.device);
    if (!sheet->peaks && m.device.peaks) sheet->peaks = m.device.peaks;
    if (sheet->processor.empty()) sheet->processor = m.device.processor;
    return sheet;
  }
  void leave_out(const std::string& why) { ++data.left_out[why]; }

  const KernelDescription& description_of(const Measurement& m) {
    const std::string id = m.work.id();
    const auto at = descriptions.find(id);
    return at != descriptions.end() ? at->second : descriptions.emplace(id, describe(m.work)).first->second;
  }

  void add_kernel(const Measurement& m) {
    const std::string work = m.work.id();
    // A kernel too short for the clock is called in a loop, and still stands for its node of the model.
    const bool in_model = !m.model_id.empty() && m.method.empty();
    const CacheState cache = in_model ? CacheState::kInModel : m.cache;
    const std::string schedule =
        knows_schedules(m.build.backend) ? m.build.template_name + m.build.parameters : std::string();
    const std::string model = in_model ? session_key(m.model_id, m) : std::string();
    const std::string group = key_of({work, m.build.backend, m.build.precision, schedule, m.machine,
                                      std::to_string(m.device.code_hash()), std::to_string(m.threads),
                                      std::string(cache_state_name(cache))});
    const std::string key = key_of({group, model});
    const auto [at, is_new] = kernels.try_emplace(key);
    Kernel& kernel = at->second;
    if (is_new) {
      try {
        kernel.of.kernel = case_of(m, description_of(m), sheet_of(m));
      } catch (const Error&) {
        kernels.erase(at);
        return leave_out("operators that cannot be read");
      }
      kernel.group = group;
      kernel.of.kernel.cache = cache;
      kernel.of.work_id = work;
      kernel.of.brief = m.work.brief;
      kernel.of.machine = m.machine;
      kernel.of.precision = m.build.precision;
    }
    if (kernel.of.family.empty()) kernel.of.family = m.family;
    if (m.unreliable.empty() && m.cv <= kMostCv) {
      kernel.times.push_back(time_of(m));
    } else {
      leave_out("disturbed while it was measured");
      if (kernel.times.empty()) kernel.of.us = m.median_us;
    }
    if (!in_model) return;
    kernel.models.insert(model);
    models[model].members[m.node] = {key, m.calls};
    models[model].program = program_key(m.model_id, m);
  }

  void add_model(const Measurement& m) {
    if (!m.unreliable.empty() || m.cv > kMostCv) return leave_out("disturbed while it was measured");
    const std::string id = m.work.id();
    Model& model = models[session_key(id, m)];
    model.key = model_key(id, m);
    model.program = program_key(id, m);
    model.of.id = id;
    if (!m.model.empty()) model.of.name = m.model;
    if (model.of.name.empty()) model.of.name = m.work.brief.empty() ? id : m.work.brief;
    model.of.family = m.family.empty() ? "none" : m.family;
    model.of.backend = m.build.backend;
    model.of.target = m.build.target;
    model.of.sheet = sheet_of(m);
    model.of.threads = m.threads;
    model.times.push_back(time_of(m));
  }

  void add_part(const Measurement& m) {
    if (!m.unreliable.empty() || m.share <= 0 || m.work.operators.empty()) return;
    PartSample part;
    try {
      part.part = case_of(m, describe(m.work), sheet_of(m));
    } catch (const Error&) {
      return leave_out("operators that cannot be read");
    }
    part.work_id = m.work.id();
    part.group = m.work.text.substr(0, m.work.text.find("\npart "));
    part.us = m.median_us;
    part.share = m.share;
    data.parts.push_back(std::move(part));
  }

  void add_transfer(const Measurement& m) {
    char from[128], to[128];
    double bytes = 0;
    if (std::sscanf(m.work.text.c_str(), "copy %lf from %127s to %127s", &bytes, from, to) != 3)
      return leave_out("transfers that cannot be read");
    data.transfers.push_back({from, to, bytes > 0 ? bytes : m.work.bytes, m.median_us});
  }

  static std::vector<double> values_of(const std::vector<Time>& times, double Time::* member) {
    std::vector<double> values;
    for (const Time& time : times) values.push_back(time.*member);
    return values;
  }

  /// By kernel.
  static std::map<std::string, double> calls_of(const Model& model) {
    std::map<std::string, double> calls;
    for (const auto& [node, member] : model.members) calls[member.kernel] += 1;
    if (calls.size() == model.members.size())  // one row stands for all nodes of a kernel
      for (const auto& [node, member] : model.members) calls[member.kernel] = std::max(1, member.calls);
    return calls;
  }

  /// One kernel takes longer in a model whose weights and results pass through its caches between two calls:
  /// one sample per size of these. Call once, when all rows are there.
  void merge_kernels() {
    std::map<std::string, std::string> moved;
    for (auto& [key, model] : models) {
      CalledKernels all;
      for (const auto& [kernel, calls] : calls_of(model))
        all.emplace_back(&kernels.at(kernel).of.kernel.kernel, calls);
      const ModelTraffic model_traffic = traffic_of(all);
      const double size = size_of(model_traffic.working_set), distinct = size_of(model_traffic.distinct);
      for (const auto& [node, member] : model.members) {
        Kernel& kernel = kernels.at(member.kernel);
        kernel.of.kernel.model = {std::exp2(size / kSizesPerOctave), std::exp2(distinct / kSizesPerOctave),
                                  std::exp2(size_of(model_traffic.moved) / kSizesPerOctave)};
        moved[member.kernel] = key_of({kernel.group, std::to_string(static_cast<int>(size)),
                                       std::to_string(static_cast<int>(distinct))});
      }
      for (auto& [node, member] : model.members) member.kernel = moved.at(member.kernel);
    }
    std::map<std::string, Kernel> merged;
    for (auto& [key, kernel] : kernels) {
      const auto to = moved.find(key);
      const auto [at, is_new] = merged.try_emplace(to == moved.end() ? key : to->second, kernel);
      if (is_new) continue;
      Kernel& all = at->second;
      all.times.insert(all.times.end(), kernel.times.begin(), kernel.times.end());
      all.models.merge(kernel.models);
      if (all.of.family.empty()) all.of.family = kernel.of.family;
    }
    kernels = std::move(merged);
  }

  /// Models whose kernels were measured at other times have those of their program, where it is one build.
  void adopt(std::map<std::string, Model>& merged, std::map<std::string, std::string>& moved) const {
    std::map<std::string, int> builds;
    for (const auto& [key, model] : merged) ++builds[model.program];
    for (const auto& [session, kernels_only] : models) {
      if (!kernels_only.key.empty() || kernels_only.program.empty()) continue;
      for (auto& [key, model] : merged) {
        if (model.program != kernels_only.program || builds[model.program] > 1) continue;
        model.members.insert(kernels_only.members.begin(), kernels_only.members.end());
        moved[session] = key;
      }
    }
  }

  /// The sessions of one model together. Call after merge_kernels(), which all of them count for.
  void merge_models() {
    std::map<std::string, std::string> moved;
    std::map<std::string, Model> merged;
    for (auto& [session, model] : models) {
      if (model.key.empty()) continue;
      moved[session] = model.key;
      const auto [at, is_new] = merged.try_emplace(model.key, model);
      if (is_new) continue;
      Model& all = at->second;
      all.times.insert(all.times.end(), model.times.begin(), model.times.end());
      if (all.members.empty()) all.members = model.members;
    }
    adopt(merged, moved);
    models = std::move(merged);
    for (auto& [key, kernel] : kernels) {
      std::set<std::string> its;
      for (const std::string& session : kernel.models)
        if (const auto at = moved.find(session); at != moved.end()) its.insert(at->second);
      kernel.models = std::move(its);
    }
  }

  void finish_kernels(std::map<std::string, int>& indices, const std::map<std::string, int>& model_indices) {
    for (auto& [key, kernel] : kernels) {
      indices[key] = static_cast<int>(data.kernels.size());
      KernelSample& of = kernel.of;
      std::map<int64_t, double> sessions;
      for (const Time& time : kernel.times) sessions.emplace(time.begun_s, time.us);
      of.weight = 0;
      if (const auto count = static_cast<double>(kernel.times.size()); count > 0) {
        of.us = typical_of(values_of(kernel.times, &Time::us));
        const double cv = std::max(median(values_of(kernel.times, &Time::cv)), kSureCv);
        of.weight = kSureCv * kSureCv / (cv * cv) * std::min(3.0, std::sqrt(count));
        of.weight = std::max(of.weight, 0.05);
      }
      if (sessions.size() > 1) data.repeats.emplace_back(sessions.begin()->second, sessions.rbegin()->second);
      for (const std::string& model : kernel.models)
        if (const auto at = model_indices.find(model); at != model_indices.end())
          of.models.push_back(at->second);
      data.kernels.push_back(std::move(of));
    }
  }

  void finish_models(std::map<std::string, int>& indices) {
    for (auto& [key, model] : models) {
      if (model.members.empty()) {
        leave_out("whole models none of whose kernels were measured");
        continue;
      }
      std::map<std::string, double> calls = calls_of(model);
      double sum = 0;
      for (const auto& [kernel, count] : calls) {
        const Kernel& of = kernels.at(kernel);
        sum += count * (of.times.empty() ? of.of.us : typical_of(values_of(of.times, &Time::us)));
      }
      model.of.again_us = values_of(model.times, &Time::us);
      model.of.us = typical_of(model.of.again_us);
      model.of.cv = median(values_of(model.times, &Time::cv));
      if (sum < kLeastOfModel * model.of.us || sum > kMostOfModel * model.of.us) {
        leave_out("models whose kernels do not sum up to their time");
        continue;
      }
      indices[key] = static_cast<int>(data.models.size());
      data.models.push_back(std::move(model.of));
      pending.push_back(std::move(calls));
    }
  }
  std::vector<std::map<std::string, double>> pending;  ///< calls by kernel key, of each model
};

DatasetBuilder::DatasetBuilder() : state_(std::make_unique<State>()) {}
DatasetBuilder::~DatasetBuilder() = default;

void DatasetBuilder::add(const Measurement& m) {
  Dataset& data = state_->data;
  if (m.work.kind == WorkKind::kReference) return;
  ++data.rows;
  // Its calls of kernels stand in loops and branches, and some kernels are for all extents.
  if (m.protocol == "program") return state_->leave_out("programs of the virtual machine");
  if (!std::isfinite(m.median_us) || m.median_us <= 0 || !std::isfinite(m.cv) || m.cv < 0 ||
      !std::isfinite(m.work.flops) || !std::isfinite(m.work.bytes) || m.work.flops < 0 || m.work.bytes < 0)
    return state_->leave_out("a time, operations or bytes that are no positive number");
  if (!m.campaign.empty()) data.campaigns.insert(m.campaign);
  if (!m.machine.empty()) data.machines.insert(m.machine);
  switch (m.work.kind) {
    case WorkKind::kKernel:
      return state_->add_kernel(m);
    case WorkKind::kModel:
      return state_->add_model(m);
    case WorkKind::kPart:
      return state_->add_part(m);
    case WorkKind::kTransfer:
      return state_->add_transfer(m);
    case WorkKind::kReference:
      return;
  }
}

Dataset DatasetBuilder::finish() {
  std::map<std::string, int> kernels, models;
  state_->scale_to_usual_clock();
  state_->merge_kernels();
  state_->merge_models();
  state_->keep_one_clock();
  state_->finish_models(models);
  state_->finish_kernels(kernels, models);
  for (size_t i = 0; i < state_->pending.size(); ++i)
    for (const auto& [key, calls] : state_->pending[i])
      state_->data.models[i].kernels.emplace_back(kernels.at(key), calls);
  return std::move(state_->data);
}

Dataset dataset_of(const Store& store, const std::string& backend) {
  DatasetBuilder builder;
  store.each({}, [&](const Measurement& measurement) {
    builder.add(measurement);
    return true;
  });
  Dataset data = builder.finish();
  if (data.rows == 0)
    throw Error(store.path() + " holds no measurements: `baton profile MODEL --store` adds some");
  if (backend.empty() || data.backends().count(backend)) return data;
  std::string there;
  for (const std::string& each : data.backends()) there += (there.empty() ? "" : ", ") + each;
  throw Error(store.path() + " has no kernels of backend " + backend +
              (there.empty() ? "" : "; it has " + there));
}

namespace {

/// Splits by what is held out: its models, and all kernels with a work of theirs.
Split split_without(const Dataset& data, std::span<const int> kernels, std::span<const int> models,
                    const std::set<int>& held_models, const std::set<std::string>& held_works) {
  Split split;
  for (const int model : models)
    (held_models.count(model) ? split.test_models : split.train_models).push_back(model);
  for (const int kernel : kernels) {
    const bool held = held_works.count(data.kernels[static_cast<size_t>(kernel)].work_id) > 0;
    (held ? split.test_kernels : split.train_kernels).push_back(kernel);
  }
  return split;
}

}  // namespace

std::vector<Split> model_splits(const Dataset& data, std::span<const int> kernels,
                                std::span<const int> models, int count, uint32_t seed) {
  // By identity, not by place: a model on three backends is one model.
  std::map<std::string, std::set<std::string>> by_family;
  for (const int model : models) {
    const ModelSample& of = data.models[static_cast<size_t>(model)];
    by_family[of.family].insert(of.id);
  }
  std::map<std::string, int> fold_of;
  int next = 0;
  for (const auto& [family, ids] : by_family) {
    std::vector<std::string> order(ids.begin(), ids.end());
    std::ranges::sort(order, {}, [&](const std::string& id) { return hash_of(id, seed); });
    for (const std::string& id : order) fold_of[id] = next++ % count;
  }
  std::vector<std::set<int>> held(static_cast<size_t>(count));
  std::vector<std::set<std::string>> works(static_cast<size_t>(count));
  std::set<std::string> in_models;
  for (const int model : models) {
    const auto fold = static_cast<size_t>(fold_of.at(data.models[static_cast<size_t>(model)].id));
    held[fold].insert(model);
    for (const std::string& work : data.works_of(model)) {
      works[fold].insert(work);
      in_models.insert(work);
    }
  }
  for (const int kernel : kernels) {
    const std::string& work = data.kernels[static_cast<size_t>(kernel)].work_id;
    if (!in_models.count(work)) works[hash_of(work, seed) % static_cast<uint64_t>(count)].insert(work);
  }
  std::vector<Split> splits;
  for (size_t i = 0; i < held.size(); ++i)
    splits.push_back(split_without(data, kernels, models, held[i], works[i]));
  return splits;
}

std::vector<Split> family_splits(const Dataset& data, std::span<const int> kernels,
                                 std::span<const int> models) {
  std::map<std::string, std::set<int>> by_family;
  for (const int model : models) {
    const std::string& family = data.models[static_cast<size_t>(model)].family;
    by_family[family.substr(0, family.find("-v"))].insert(model);
  }
  std::vector<Split> splits;
  if (by_family.size() < 2) return splits;
  for (const auto& [family, held] : by_family) {
    if (held.size() < 2) continue;
    std::set<std::string> works;
    for (const int model : held) works.merge(data.works_of(model));
    splits.push_back(split_without(data, kernels, models, held, works));
    splits.back().name = family;
  }
  return splits;
}

std::optional<Split> size_split(const Dataset& data, std::span<const int> kernels,
                                std::span<const int> models) {
  constexpr size_t kFewest = 10, kParts = 5;
  if (models.size() < kFewest) return std::nullopt;
  const auto us_of = [&](int model) { return data.models[static_cast<size_t>(model)].us; };
  std::map<std::string, std::vector<int>> by_backend;
  for (const int model : models) by_backend[data.models[static_cast<size_t>(model)].backend].push_back(model);
  std::set<int> held;
  for (auto& [backend, mine] : by_backend) {
    std::ranges::stable_sort(mine, {}, us_of);
    held.insert(mine.end() - static_cast<std::ptrdiff_t>(mine.size() / kParts), mine.end());
  }
  std::set<std::string> works;
  for (const int model : held) works.merge(data.works_of(model));
  std::map<std::string, double> longest;  // kernel of a model that is left, by backend
  for (const int model : models)
    if (!held.count(model))
      for (const auto& [kernel, calls] : data.models[static_cast<size_t>(model)].kernels) {
        const KernelSample& one = data.kernels[static_cast<size_t>(kernel)];
        if (works.count(one.work_id)) continue;
        double& most = longest[one.kernel.backend];
        most = std::max(most, one.us);
      }
  for (const int kernel : kernels) {
    const KernelSample& one = data.kernels[static_cast<size_t>(kernel)];
    const auto at = longest.find(one.kernel.backend);
    if (at == longest.end() || one.us > at->second) works.insert(one.work_id);
  }
  return split_without(data, kernels, models, held, works);
}

Split with_seen_kernels(const Dataset& data, const Split& split) {
  Split seen = split;
  std::set<std::string> elsewhere;  // works of models in training
  for (const int model : split.train_models) elsewhere.merge(data.works_of(model));
  for (const int kernel : split.test_kernels)
    if (elsewhere.count(data.kernels[static_cast<size_t>(kernel)].work_id))
      seen.train_kernels.push_back(kernel);
  return seen;
}

}  // namespace baton
