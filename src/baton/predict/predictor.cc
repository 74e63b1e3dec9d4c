#include "baton/predict/predictor.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>

#include "baton/predict/device_match.h"
#include "baton/predict/least_squares.h"
#include "baton/support/base/checksum.h"
#include "baton/support/base/statistics.h"
#include "baton/support/error.h"
#include "baton/support/version.h"

namespace baton {

namespace {

constexpr double kLeastModelSpread = 0.005;
constexpr double kMostNovelty = 4;  // that one kernel adds to its model's
// Measurements do not fit when a model's time over the sum of its kernels is so far from the median, in
// logarithms.
constexpr double kFarTotal = 0.1;
constexpr size_t kLeastParts = 60;
constexpr double kMostHalf = 3;  // of an interval, in the logarithm: twenty times as long says "unknown"

/// A model of the data as its kernels' predictions add up.
struct ModelSum {
  double sum_us = 0, calls = 0;
  ModelDoubts doubts;
};

/// The errors of kernels are taken as independent: their squares add up. (Intervals of held-out models are a
/// tenth narrower than with a sum of the errors, and cover as much.)
ModelSum sum_of(std::span<const ModelKernel> kernels) {
  ModelSum sum;
  ModelDoubts& doubts = sum.doubts;
  for (const ModelKernel& each : kernels) {
    const double us = each.time.us * each.calls;
    sum.sum_us += us;
    sum.calls += each.calls;
    doubts.spread += us * each.time.doubts.spread * (us * each.time.doubts.spread);
    doubts.novelty += us * std::min(each.time.doubts.novelty, kMostNovelty);
    doubts.disagreement += us * each.time.doubts.disagreement;
    if (each.time.doubts.novelty >= kUnseenNovelty) doubts.unseen += us;
  }
  if (sum.sum_us > 0) {
    doubts.spread = std::sqrt(doubts.spread) / sum.sum_us;
    for (double* each : {&doubts.novelty, &doubts.disagreement, &doubts.unseen}) *each /= sum.sum_us;
  }
  doubts.spread += kLeastModelSpread;
  return sum;
}

/// The most terms whose solution is physical: a scale near 1 and no negative times. Models whose
/// ratio of both is far from the median of all are left out: they would shift all others.
void fit_terms(std::vector<TimeEquation> equations, ModelTotal& total) {
  std::vector<double> ratios;
  for (const TimeEquation& each : equations) ratios.push_back(each.us / each.terms[0]);
  const double usual = median(ratios);
  std::erase_if(equations, [&](const TimeEquation& each) {
    return std::abs(std::log(each.us / each.terms[0] / usual)) > kFarTotal;
  });
  for (int terms = 3; terms >= 1; --terms) {
    const auto found = least_relative_squares(equations, terms);
    if (!found) continue;
    const auto& [scale, per_call, once] = *found;
    if (scale < 0.5 || scale > 2 || per_call < 0 || once < 0) continue;
    total.scale = scale;
    total.per_call_us = per_call;
    total.once_us = once;
    return;
  }
}

class Training {
 public:
  Training(const Dataset& data, std::span<const int> kernels, std::span<const int> models,
           const TrainOptions& options)
      : data_(data),
        learned_(kernels.begin(), kernels.end()),
        kernels_(with_those_of_models(data, learned_, models)),
        options_(options),
        splits_(model_splits(data, kernels_, models, options.folds, options.seed)) {}

  Predictor run() {
    held_.resize(splits_.size());
    std::map<std::string, std::vector<int>> by_backend;
    for (const int i : kernels_) by_backend[kernel(i).kernel.backend].push_back(i);
    std::string refused;
    for (const auto& [backend, members] : by_backend) {
      if (!options_.only_backend.empty() && backend != options_.only_backend) continue;
      try {
        fit_kernels(backend, members);
      } catch (const Error& error) {
        const std::string all = error.what(), why = backend + ": " + all.substr(0, all.find('\n'));
        refused += (refused.empty() ? "" : "; ") + why;
        made_.card.left_out["kernels of " + why] = static_cast<int64_t>(members.size());
      }
    }
    if (made_.kernels.empty())
      throw Error(refused.empty() ? "there is no kernel to train with" +
                                        (options_.only_backend.empty() ? "" : " on " + options_.only_backend)
                                  : refused);
    fit_totals();
    fit_parts();
    fit_transfers();
    for (auto& [name, machine] : machines_) {
      machine.name = name;
      made_.machines.push_back(std::move(machine));
    }
    std::ranges::stable_sort(made_.machines, std::greater(), &TrainedMachine::kernels);
    return std::move(made_);
  }

 private:
  /// Kernels that were held out and that models in training have too: predicted for these, not learned from.
  static std::vector<int> with_those_of_models(const Dataset& data, const std::set<int>& learned,
                                               std::span<const int> models) {
    std::set<int> all = learned;
    for (const int model : models)
      for (const auto& [kernel, calls] : data.models[static_cast<size_t>(model)].kernels) all.insert(kernel);
    return {all.begin(), all.end()};
  }

  /// Another backend's regressor where there is but one: the shapes are the same, and the sheet tells the
  /// devices apart.
  static std::shared_ptr<const Regressor> source_of(const std::shared_ptr<const Predictor>& from,
                                                    const std::string& backend) {
    const auto at = from->kernels.find(backend);
    if (at != from->kernels.end()) return {from, &at->second};
    return from->kernels.size() == 1 ? std::shared_ptr<const Regressor>(from, &from->kernels.begin()->second)
                                     : nullptr;
  }

  /// The same, which say how far they are.
  RegressorOptions watched(RegressorOptions options, size_t folds, const std::string& what) const {
    if (!options_.progress) return options;
    const int all = trees_to_fit(folds, options);
    // Options are copied for each set of trees; what is done is counted over all of them.
    struct Done {
      std::mutex guard;
      int trees = 0;
    };
    options.boost.made = [this, what, all, done = std::make_shared<Done>()](int more) {
      const std::lock_guard lock(done->guard);
      options_.progress(what, done->trees += more, all);
    };
    return options;
  }

  const KernelSample& kernel(int i) const { return data_.kernels[static_cast<size_t>(i)]; }

  void fit_kernels(const std::string& backend, const std::vector<int>& members) {
    LearningSet set;
    std::map<int, int> place;
    for (const int i : members) {
      place[i] = static_cast<int>(set.cases.size());
      set.cases.push_back(&kernel(i).kernel);
      set.us.push_back(kernel(i).us);
      set.weights.push_back(learned_.count(i) ? kernel(i).weight : 0);
    }
    const auto chosen = [&](const std::vector<int>& all) {
      std::vector<int> mine;
      for (const int i : all)
        if (const auto at = place.find(i); at != place.end()) mine.push_back(at->second);
      return mine;
    };
    std::vector<Fold> folds;
    for (const Split& split : splits_)
      folds.push_back({chosen(split.train_kernels), chosen(split.test_kernels)});
    std::shared_ptr<const Regressor> source;
    if (options_.from) source = source_of(options_.from, backend);
    const RegressorOptions options =
        watched(options_.regressor, folds.size(), "training on kernels of " + backend + ", trees");
    FittedRegressor fitted = fit_regressor(set, folds, options, std::move(source));
    for (size_t f = 0; f < folds.size(); ++f)
      for (size_t i = 0; i < fitted.held_out[f].size(); ++i)
        held_[f][members[static_cast<size_t>(folds[f].test[i])]] = fitted.held_out[f][i];
    made_.card.held_out["kernels of " + backend] = held_out_kernels(members);
    made_.kernels.emplace(backend, std::move(fitted.regressor));
    for (const int i : members) {
      if (kernel(i).weight <= 0 || !learned_.count(i)) continue;
      TrainedMachine& machine = machines_[kernel(i).machine];
      machine.sheets.emplace(backend, *kernel(i).kernel.sheet);
      ++machine.kernels;
    }
  }

  static HeldOutErrors errors_of(std::vector<double> errors) {
    HeldOutErrors made;
    if (errors.empty()) return made;
    std::ranges::sort(errors);
    made.count = static_cast<int64_t>(errors.size());
    made.median = quantile(errors, 0.5);
    made.within_10 = static_cast<double>(std::ranges::upper_bound(errors, 0.1) - errors.begin()) /
                     static_cast<double>(errors.size());
    return made;
  }

  /// By the member that has not seen it.
  HeldOutErrors held_out_kernels(const std::vector<int>& members) const {
    std::vector<double> errors;
    for (const int i : members) {
      if (kernel(i).weight <= 0) continue;
      for (const std::map<int, LogTime>& fold : held_)
        if (const auto at = fold.find(i); at != fold.end()) {
          errors.push_back(std::abs(std::exp(at->second.log_us) / kernel(i).us - 1));
          break;
        }
    }
    return errors_of(std::move(errors));
  }

  /// The model's sum by members that have not seen its kernels; nullopt where a kernel has no predictor.
  std::optional<ModelSum> held_out_sum(size_t fold, const ModelSample& model) const {
    std::vector<ModelKernel> all;
    for (const auto& [i, calls] : model.kernels) {
      const auto at = held_[fold].find(i);
      if (at == held_[fold].end()) return std::nullopt;
      ModelKernel one;
      one.time.us = std::exp(at->second.log_us);
      one.time.doubts = at->second.doubts;
      one.calls = calls;
      all.push_back(one);
    }
    return sum_of(all);
  }

  double measured_sum_us(const ModelSample& model) const {
    double us = 0;
    for (const auto& [i, calls] : model.kernels) us += calls * kernel(i).us;
    return us;
  }

  void fit_totals() {
    struct Held {
      ModelSum sum;
      double us, measured_sum_us;
    };
    std::map<std::string, std::vector<Held>> by_backend;
    for (size_t f = 0; f < splits_.size(); ++f)
      for (const int i : splits_[f].test_models) {
        const ModelSample& model = data_.models[static_cast<size_t>(i)];
        if (const auto sum = held_out_sum(f, model))
          by_backend[model.backend].push_back({*sum, model.us, measured_sum_us(model)});
      }
    for (const auto& [backend, held] : by_backend) {
      ModelTotal& total = made_.totals[backend];
      std::vector<TimeEquation> equations;
      // What the kernels add up to is a matter of measured times, whatever the predictor's errors are.
      for (const Held& each : held) equations.push_back({{each.measured_sum_us, each.sum.calls, 1}, each.us});
      fit_terms(equations, total);
      std::vector<ModelDoubts> doubts;
      std::vector<double> errors;
      for (const Held& each : held) {
        errors.push_back(std::abs(total.us(each.sum.sum_us, each.sum.calls) / each.us - 1));
        total.scores.push_back(std::abs(std::log(each.us / total.us(each.sum.sum_us, each.sum.calls))) /
                               each.sum.doubts.spread);
        doubts.push_back(each.sum.doubts);
      }
      made_.card.held_out["models of " + backend] = errors_of(std::move(errors));
      std::ranges::sort(total.scores);
      total.range = ModelRange::of(doubts);
      total.trained_on = static_cast<int64_t>(held.size());
    }
  }

  void fit_parts() {
    std::map<std::string, std::vector<const PartSample*>> by_backend;
    for (const PartSample& part : data_.parts) by_backend[part.part.backend].push_back(&part);
    for (const auto& [backend, parts] : by_backend) {
      if (parts.size() < kLeastParts || !made_.kernels.count(backend)) continue;
      LearningSet set;
      std::vector<Fold> folds(static_cast<size_t>(options_.folds));
      for (const PartSample* part : parts) {
        const size_t fold = checksum64(part->group.data(), part->group.size()) % folds.size();
        const int at = static_cast<int>(set.cases.size());
        for (size_t f = 0; f < folds.size(); ++f) (f == fold ? folds[f].test : folds[f].train).push_back(at);
        set.cases.push_back(&part->part);
        set.us.push_back(part->us);
        set.weights.push_back(1);
      }
      RegressorOptions options = options_.regressor;
      options.boost.rounds = std::min(options.boost.rounds, 300);
      options.disagreement = false;  // of whole models only
      options = watched(options, folds.size(), "training inside kernels of " + backend + ", trees");
      made_.parts.emplace(backend, fit_regressor(set, folds, options).regressor);
    }
  }

  void fit_transfers() {
    std::map<std::string, std::vector<TransferSample>> by_link;
    for (const TransferSample& each : data_.transfers) by_link[each.from + " " + each.to].push_back(each);
    for (const auto& [link, all] : by_link) {
      TransferTime& time = made_.transfers[link];
      std::vector<TimeEquation> equations;
      time.least_bytes = time.most_bytes = all.front().bytes;
      for (const TransferSample& each : all) {
        equations.push_back({{each.bytes, 1, 0}, each.us});
        time.least_bytes = std::min(time.least_bytes, each.bytes);
        time.most_bytes = std::max(time.most_bytes, each.bytes);
      }
      const auto both = least_relative_squares(equations, 2);
      if (both && (*both)[0] >= 0 && (*both)[1] >= 0) {
        time.us_per_byte = (*both)[0];
        time.latency_us = (*both)[1];
      } else {  // of one size only, or faster the larger
        std::vector<double> times;
        for (const TransferSample& each : all) times.push_back(each.us);
        time.latency_us = median(times);
      }
      for (const TransferSample& each : all)
        time.scores.push_back(std::abs(std::log(each.us / std::max(1e-6, time.us(each.bytes)))));
      std::ranges::sort(time.scores);
    }
  }

  const Dataset& data_;
  const std::set<int> learned_;
  const std::vector<int> kernels_;
  const TrainOptions& options_;
  const std::vector<Split> splits_;
  std::vector<std::map<int, LogTime>> held_;  ///< by fold and kernel
  std::map<std::string, TrainedMachine> machines_;
  Predictor made_;
};

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

std::string listed(const std::map<std::string, Regressor>& all) {
  std::string text;
  for (const auto& [name, regressor] : all) text += (text.empty() ? "" : ", ") + name;
  return text;
}

TimePrediction around(double us, double half) {
  half = std::min(half, kMostHalf);
  TimePrediction one;
  one.us = us;
  one.low_us = us * std::exp(-half);
  one.high_us = us * std::exp(half);
  return one;
}

}  // namespace

std::vector<int> all_indices(size_t count) {
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Predictor train(const Dataset& data, std::span<const int> kernels, std::span<const int> models,
                const TrainOptions& options) {
  return Training(data, kernels, models, options).run();
}

Predictor train(const Dataset& data, const TrainOptions& options) {
  Predictor made = train(data, all_indices(data.kernels.size()), all_indices(data.models.size()), options);
  ModelCard& card = made.card;
  card.version = version();
  card.date = today();
  card.machines.assign(data.machines.begin(), data.machines.end());
  card.campaigns.assign(data.campaigns.begin(), data.campaigns.end());
  for (const auto& [backend, regressor] : made.kernels) {
    card.backends.push_back(backend);
    card.kernels += regressor.trained_on;
  }
  std::set<int> threads;
  std::set<std::string> precisions;
  for (const KernelSample& kernel : data.kernels) {
    threads.insert(kernel.kernel.threads);
    precisions.insert(kernel.precision);
  }
  card.precisions.assign(precisions.begin(), precisions.end());
  card.threads.assign(threads.begin(), threads.end());
  for (const ModelSample& model : data.models) ++card.families[model.family];
  card.rows = data.rows;
  card.without_clock = data.without_clock;
  card.models = static_cast<int64_t>(data.models.size());
  card.left_out.insert(data.left_out.begin(), data.left_out.end());
  card.name = options.name;
  if (options.from && !options.from->machines.empty())
    card.carried_from = device_title(options.from->machines.front().sheets.begin()->second);
  return made;
}

std::vector<TimePrediction> Predictor::predict(std::span<const KernelCase* const> cases, double level) const {
  std::map<std::string, std::vector<size_t>> by_backend;
  for (size_t i = 0; i < cases.size(); ++i) by_backend[cases[i]->backend].push_back(i);
  std::vector<TimePrediction> all(cases.size());
  for (const auto& [backend, members] : by_backend) {
    const auto at = kernels.find(backend);
    if (at == kernels.end())
      throw Error("the predictor has no kernels of backend " + backend + " (it has " + listed(kernels) +
                  "): train one with measurements of it");
    std::vector<const KernelCase*> mine;
    for (const size_t i : members) mine.push_back(cases[i]);
    std::vector<TimePrediction> times = at->second.predict(mine, level);
    for (size_t i = 0; i < members.size(); ++i) all[members[i]] = std::move(times[i]);
  }
  return all;
}

TimePrediction Predictor::predict_model(const std::string& backend, std::span<const ModelKernel> kernels,
                                        double transfers_us, double level) const {
  const ModelSum sum = sum_of(kernels);
  const auto at = totals.find(backend);
  if (at == totals.end()) {
    TimePrediction one = around(sum.sum_us + transfers_us, 2 * sum.doubts.spread);
    one.doubts = {sum.doubts.spread, sum.doubts.novelty, sum.doubts.disagreement};
    one.out_of_range = "no whole model of this backend was measured: the sum of its kernels";
    return one;
  }
  const ModelTotal& total = at->second;
  TimePrediction one = around(total.us(sum.sum_us + transfers_us, sum.calls),
                              conformal_score(total.scores, level) * sum.doubts.spread);
  one.doubts = {sum.doubts.spread, total.range.relative(sum.doubts), sum.doubts.disagreement};
  one.out_of_range = total.range.outside(sum.doubts);
  return one;
}

std::vector<double> Predictor::shares(std::span<const KernelCase* const> of) const {
  std::vector<double> times;
  const auto at = of.empty() ? parts.end() : parts.find(of.front()->backend);
  if (at == parts.end()) return times;
  for (const LogTime& each : at->second.log_times(of)) times.push_back(std::exp(each.log_us));
  const double all = std::accumulate(times.begin(), times.end(), 0.0);
  for (double& each : times) each /= all;
  return times;
}

TimePrediction Predictor::predict_transfer(const std::string& from, const std::string& to, double bytes,
                                           const DeviceSheet& sheet, double level) const {
  if (const auto at = transfers.find(from + " " + to); at != transfers.end()) {
    TimePrediction one = around(at->second.us(bytes), conformal_score(at->second.scores, level));
    if (bytes > 2 * at->second.most_bytes || bytes < at->second.least_bytes / 2)
      one.out_of_range = "copies of this size were not measured";
    return one;
  }
  for (const DeviceLink& link : sheet.links) {
    // Sheets of devices name the host's processor, whose memory is called "cpu".
    if (link.to != from && link.to != to && from != "cpu" && to != "cpu") continue;
    TimePrediction one =
        around(link.latency_us + bytes / std::max(link.gbytes_per_s, 1e-3) / 1e3, std::log(2));
    one.out_of_range = "no copy was measured: from the link in the device sheet";
    return one;
  }
  throw Error("no copy from " + from + " to " + to +
              " was measured, and the device sheet has no link between them: measure transfers, then train");
}

std::vector<std::string> Predictor::device_names() const {
  std::vector<std::string> names;
  if (!card.name.empty()) names.push_back(card.name);
  for (const TrainedMachine& machine : machines)
    if (!std::ranges::count(names, machine.name)) names.push_back(machine.name);
  return names;
}

const TrainedMachine* Predictor::machine_named(const std::string& name) const {
  for (const TrainedMachine& machine : machines)
    if (machine.name == name || (!card.name.empty() && card.name == name)) return &machine;
  return nullptr;
}

double error_spread(const Predictor& predictor, const Dataset& data, const std::string& backend) {
  const auto at = predictor.kernels.find(backend);
  std::vector<const KernelCase*> cases;
  std::vector<double> off;
  for (const KernelSample& each : data.kernels) {
    if (each.kernel.backend != backend || each.weight <= 0) continue;
    cases.push_back(&each.kernel);
    off.push_back(std::log(each.us));
  }
  if (at == predictor.kernels.end() || cases.empty()) return std::numeric_limits<double>::infinity();
  const std::vector<LogTime> times = at->second.log_times(cases);
  for (size_t i = 0; i < off.size(); ++i) off[i] -= times[i].log_us;
  return robust_deviation(off);
}

BoostOptions best_options(const Dataset& data, std::span<const BoostOptions> candidates,
                          const TrainOptions& options) {
  const std::vector<int> kernels = all_indices(data.kernels.size()), models = all_indices(data.models.size());
  std::vector<Split> splits = family_splits(data, kernels, models);
  if (splits.empty()) splits = model_splits(data, kernels, models, options.folds, options.seed);
  const BoostOptions* best = &candidates.front();
  double least = 1e300;
  for (const BoostOptions& candidate : candidates) {
    std::vector<double> errors;
    for (const std::string& backend : data.backends()) {
      if (!options.only_backend.empty() && backend != options.only_backend) continue;
      LearningSet set;
      std::map<int, int> place;
      for (const int i : kernels) {
        const KernelSample& each = data.kernels[static_cast<size_t>(i)];
        if (each.kernel.backend != backend) continue;
        place[i] = static_cast<int>(set.cases.size());
        set.cases.push_back(&each.kernel);
        set.us.push_back(each.us);
        set.weights.push_back(each.weight);
      }
      std::vector<Fold> folds;
      for (const Split& split : splits) {
        Fold& fold = folds.emplace_back();
        for (const int i : split.train_kernels)
          if (place.count(i)) fold.train.push_back(place[i]);
        for (const int i : split.test_kernels)
          if (place.count(i)) fold.test.push_back(place[i]);
      }
      RegressorOptions tried = options.regressor;
      tried.boost = candidate;
      tried.spread_rounds = 1;
      tried.disagreement = false;
      try {
        const FittedRegressor fitted = fit_regressor(set, folds, tried);
        for (size_t f = 0; f < folds.size(); ++f)
          for (size_t i = 0; i < fitted.held_out[f].size(); ++i) {
            const auto at = static_cast<size_t>(folds[f].test[i]);
            if (set.weights[at] > 0)
              errors.push_back(std::abs(std::log(set.us[at]) - fitted.held_out[f][i].log_us));
          }
      } catch (const Error&) {  // too few kernels of this backend: training says so
      }
    }
    if (errors.empty()) continue;
    const double error =
        std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
    if (options.progress) {
      char text[120];
      std::snprintf(text, sizeof text, "trying trees of depth %d, %d of them: mean error %.2f %%",
                    candidate.depth, candidate.rounds, 100 * error);
      options.progress(text, static_cast<int>(&candidate - candidates.data()) + 1,
                       static_cast<int>(candidates.size()));
    }
    if (error < least) {
      least = error;
      best = &candidate;
    }
  }
  return *best;
}

}  // namespace baton
