#include "baton/predict/evaluation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>

#include "baton/predict/least_squares.h"
#include "baton/support/base/statistics.h"
#include "baton/support/error.h"

namespace baton {

namespace {

constexpr std::array kLevels{0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99};
constexpr double kShownLevel = 0.9;
constexpr size_t kMostPairs = 3000;  // times for Kendall's tau: it compares all pairs
constexpr double kLarge = 0.2;
constexpr int kForestTrees = 100;
constexpr int kCurveRepeats = 3;

double kendall_tau(std::vector<std::pair<double, double>> pairs) {
  if (pairs.size() > kMostPairs) {
    std::mt19937 random(1);
    std::ranges::shuffle(pairs, random);
    pairs.resize(kMostPairs);
  }
  int64_t agree = 0, all = 0;
  for (size_t i = 0; i < pairs.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const double product = (pairs[i].first - pairs[j].first) * (pairs[i].second - pairs[j].second);
      agree += product > 0 ? 1 : product < 0 ? -1 : 0;
      ++all;
    }
  return all ? static_cast<double>(agree) / static_cast<double>(all) : 0;
}

/// A simpler predictor: microseconds of a kernel.
using Simple = std::function<double(const KernelSample&)>;

std::vector<const KernelSample*> learned_from(const Dataset& data, const std::vector<int>& chosen,
                                              const std::string& backend) {
  std::vector<const KernelSample*> all;
  for (const int i : chosen) {
    const KernelSample& each = data.kernels[static_cast<size_t>(i)];
    if (each.kernel.backend == backend && each.weight > 0) all.push_back(&each);
  }
  return all;
}

/// Time = a * operations + b.
Simple by_operations(const std::vector<const KernelSample*>& learned) {
  std::vector<TimeEquation> equations;
  for (const KernelSample* each : learned) equations.push_back({{each->kernel.kernel.flops, 1, 0}, each->us});
  const auto found = least_relative_squares(equations, 2);
  std::vector<double> times;
  for (const KernelSample* each : learned) times.push_back(each->us);
  const double middle = median(times);
  return [found, middle](const KernelSample& kernel) {
    const double us = found ? (*found)[0] * kernel.kernel.kernel.flops + (*found)[1] : middle;
    return std::max(us, middle * 1e-3);
  };
}

Simple by_roofline(const std::vector<const KernelSample*>& learned) {
  std::vector<double> ratios;
  for (const KernelSample* each : learned)
    ratios.push_back(std::log(each->us) - log_roofline_us(each->kernel));
  return [middle = median(ratios)](const KernelSample& kernel) {
    return std::exp(log_roofline_us(kernel.kernel) + middle);
  };
}

/// nn-Meter's way: a random forest on shapes, which knows neither schedule nor device.
Simple by_forest(const std::vector<const KernelSample*>& learned, const BoostOptions& boost_options) {
  std::vector<const KernelCase*> cases;
  for (const KernelSample* each : learned) cases.push_back(&each->kernel);
  auto space = std::make_shared<const FeatureSpace>(cases);
  std::vector<size_t> shape;
  for (size_t i = 0; i < space->size(); ++i)
    if (space->features()[i].is_shape) shape.push_back(i);
  const auto row_of = [space, shape](const KernelCase& kernel) {
    const std::vector<float> all = space->values(kernel);
    std::vector<float> row;
    for (const size_t i : shape) row.push_back(all[i]);
    return row;
  };
  FeatureRows rows{shape.size(), {}};
  std::vector<float> labels, weights(learned.size(), 1);
  double mean = 0;
  for (const KernelSample* each : learned) mean += std::log(each->us) / static_cast<double>(learned.size());
  for (const KernelSample* each : learned) {
    const std::vector<float> row = row_of(each->kernel);
    rows.values.insert(rows.values.end(), row.begin(), row.end());
    labels.push_back(static_cast<float>(std::log(each->us) - mean));
  }
  BoostOptions options = boost_options;
  options.forest = kForestTrees;
  options.min_child_weight = 1;
  auto trees = std::make_shared<const Trees>(boost(rows, labels, weights, options));
  return [row_of, trees, mean](const KernelSample& kernel) {
    return std::exp(mean + trees->sum(row_of(kernel.kernel)));
  };
}

struct Key {
  std::string of, backend, held_out, predictor;
  auto operator<=>(const Key&) const = default;
};

class Evaluating {
 public:
  Evaluating(const Dataset& data, const EvaluateOptions& options) : data_(data), options_(options) {}

  Evaluation run() {
    const std::vector<int> kernels = all_indices(data_.kernels.size()),
                           models = all_indices(data_.models.size());
    const std::vector<Split> splits =
        options_.folds > 0 ? model_splits(data_, kernels, models, options_.folds, options_.train.seed + 17)
                           : std::vector<Split>();
    const std::vector<Split> families =
        options_.families ? family_splits(data_, kernels, models) : std::vector<Split>();
    const std::optional<Split> sizes =
        options_.sizes ? size_split(data_, kernels, models) : std::optional<Split>();
    trainings_ =
        static_cast<int>(splits.size() * (options_.seen_kernels ? 2 : 1) + families.size() + (sizes ? 1 : 0));
    for (size_t i = 0; i < splits.size(); ++i) {
      say("held-out models, part " + std::to_string(i + 1) + " of " + std::to_string(splits.size()));
      judge(splits[i], "model", options_.baselines);
      if (!options_.seen_kernels) continue;
      say("held-out models, seen kernels allowed, part " + std::to_string(i + 1));
      judge(with_seen_kernels(data_, splits[i]), "model, seen kernels allowed", false);
    }
    for (const Split& split : families) {
      say("held-out family " + split.name);
      judge(split, "family", options_.baselines);
    }
    if (sizes) {
      say("the largest models");
      judge(*sizes, "larger", options_.baselines);
    }
    if (times_.empty())
      throw Error(
          "no model could be held out: measure whole models with their kernels (`baton profile --store`)");
    add_rows();
    add_noise();
    return std::move(made_);
  }

 private:
  void say(const std::string& what) {
    if (options_.train.progress) options_.train.progress(what, ++said_, trainings_);
  }

  void judge(const Split& split, const std::string& held_out, bool baselines) {
    if (split.test_kernels.empty()) return;
    TrainOptions quiet = options_.train;
    quiet.progress = {};
    Predictor predictor;
    try {
      predictor = train(data_, split.train_kernels, split.train_models, quiet);
    } catch (const Error& error) {
      made_.left_out.push_back(held_out + " " + split.name + ": " + error.what());
      return;
    }
    // Kernels.
    std::map<int, TimePrediction> predicted;
    std::vector<int> wanted;
    std::set<int> asked;
    const auto want = [&](int i) {
      if (predictor.kernels.count(data_.kernels[static_cast<size_t>(i)].kernel.backend) &&
          asked.insert(i).second)
        wanted.push_back(i);
    };
    for (const int i : split.test_kernels) want(i);
    for (const int model : split.test_models)
      for (const auto& [i, calls] : data_.models[static_cast<size_t>(model)].kernels) want(i);
    std::vector<const KernelCase*> cases;
    for (const int i : wanted) cases.push_back(&data_.kernels[static_cast<size_t>(i)].kernel);
    std::vector<TimePrediction> all = predictor.predict(cases, kShownLevel);
    for (size_t i = 0; i < wanted.size(); ++i) predicted.emplace(wanted[i], std::move(all[i]));
    for (const int i : split.test_kernels) {
      const KernelSample& kernel = data_.kernels[static_cast<size_t>(i)];
      const auto at = predicted.find(i);
      if (at == predicted.end() || kernel.weight <= 0) continue;
      const std::string& backend = kernel.kernel.backend;
      times_[{"kernels", backend, held_out, "baton"}].push_back(
          {kernel.brief, kernel.family, kernel.us, at->second});
      calibrate("kernels", backend, held_out, predictor.kernels.at(backend).scores, kernel.us, at->second);
    }
    // Models.
    for (const int m : split.test_models) {
      const ModelSample& model = data_.models[static_cast<size_t>(m)];
      std::vector<ModelKernel> parts;
      for (const auto& [i, calls] : model.kernels)
        if (const auto at = predicted.find(i); at != predicted.end()) parts.push_back({at->second, calls});
      if (parts.size() != model.kernels.size() || !predictor.totals.count(model.backend)) continue;
      const TimePrediction time = predictor.predict_model(model.backend, parts, 0, kShownLevel);
      times_[{"models", model.backend, held_out, "baton"}].push_back(
          {model.name, model.family, model.us, time});
      calibrate("models", model.backend, held_out, predictor.totals.at(model.backend).scores, model.us, time);
    }
    if (!baselines) return;
    for (const std::string& backend : data_.backends()) {
      const auto learned = learned_from(data_, split.train_kernels, backend);
      if (!predictor.kernels.count(backend) || learned.size() < kLeastKernels) continue;
      judge_simple(split, held_out, backend, "operations", by_operations(learned));
      judge_simple(split, held_out, backend, "roofline", by_roofline(learned));
      judge_simple(split, held_out, backend, "forest on shapes",
                   by_forest(learned, options_.train.regressor.boost));
    }
  }

  void judge_simple(const Split& split, const std::string& held_out, const std::string& backend,
                    const std::string& name, const Simple& predict) {
    const auto time = [](double us) {
      TimePrediction one;
      one.us = us;
      return one;
    };
    for (const int i : split.test_kernels) {
      const KernelSample& kernel = data_.kernels[static_cast<size_t>(i)];
      if (kernel.kernel.backend != backend || kernel.weight <= 0) continue;
      times_[{"kernels", backend, held_out, name}].push_back(
          {kernel.brief, kernel.family, kernel.us, time(predict(kernel))});
    }
    // A model: the sum, scaled as models in training were longer than the sum of their kernels.
    const auto sum_of_model = [&](const ModelSample& model, const Simple& of) {
      double sum = 0;
      for (const auto& [i, calls] : model.kernels) sum += calls * of(data_.kernels[static_cast<size_t>(i)]);
      return sum;
    };
    std::vector<double> ratios;
    for (const int m : split.train_models) {
      const ModelSample& model = data_.models[static_cast<size_t>(m)];
      if (model.backend == backend)
        ratios.push_back(model.us /
                         sum_of_model(model, [](const KernelSample& kernel) { return kernel.us; }));
    }
    const double scale = ratios.empty() ? 1 : median(ratios);
    for (const int m : split.test_models) {
      const ModelSample& model = data_.models[static_cast<size_t>(m)];
      if (model.backend != backend) continue;
      times_[{"models", backend, held_out, name}].push_back(
          {model.name, model.family, model.us, time(scale * sum_of_model(model, predict))});
    }
  }

  void calibrate(const std::string& of, const std::string& backend, const std::string& held_out,
                 std::span<const double> scores, double measured_us, const TimePrediction& time) {
    const double score = std::abs(std::log(measured_us / time.us)) / time.doubts.spread;
    auto& counts = calibration_[{of, backend, held_out, ""}];
    for (size_t i = 0; i < kLevels.size(); ++i)
      counts.hits[i] += score <= conformal_score(scores, kLevels[i]);
    ++counts.all;
  }

  void add_rows() {
    for (const auto& [key, times] : times_) {
      const bool ours = key.predictor == "baton";
      made_.rows.push_back({key.of, key.backend, key.held_out, key.predictor, accuracy_of(times, ours)});
      if (!ours) continue;
      made_.points.push_back({key.of, key.backend, key.held_out, times});
      if (key.held_out != "family" || key.of != "models") continue;
      std::map<std::string, std::vector<PredictedTime>> by_family;
      for (const PredictedTime& each : times) by_family[each.family].push_back(each);
      for (const auto& [family, mine] : by_family)
        made_.rows.push_back(
            {key.of, key.backend, "family " + family, key.predictor, accuracy_of(mine, true)});
    }
    for (const auto& [key, counts] : calibration_)
      for (size_t i = 0; i < kLevels.size(); ++i)
        made_.calibration.push_back({key.of, key.backend, key.held_out, kLevels[i],
                                     static_cast<double>(counts.hits[i]) / static_cast<double>(counts.all)});
  }

  void add_noise() {
    std::map<std::string, std::vector<PredictedTime>> models;
    for (const ModelSample& model : data_.models)
      for (size_t i = 1; i < model.again_us.size(); ++i) {
        PredictedTime pair{model.name, model.family, model.again_us[i], {}};
        pair.predicted.us = model.again_us[i - 1];
        models[model.backend].push_back(pair);
      }
    for (const auto& [backend, pairs] : models)
      made_.rows.push_back({"models", backend, "-", "measured again", accuracy_of(pairs, false)});
    std::vector<PredictedTime> kernels;
    for (const auto& [first, last] : data_.repeats) {
      PredictedTime pair{"", "", last, {}};
      pair.predicted.us = first;
      kernels.push_back(pair);
    }
    if (!kernels.empty())
      made_.rows.push_back({"kernels", "all", "-", "measured again", accuracy_of(kernels, false)});
  }

  struct Counts {
    std::array<int64_t, kLevels.size()> hits{};
    int64_t all = 0;
  };
  const Dataset& data_;
  const EvaluateOptions& options_;
  std::map<Key, std::vector<PredictedTime>> times_;
  std::map<Key, Counts> calibration_;
  int said_ = 0, trainings_ = 0;
  Evaluation made_;
};

}  // namespace

Accuracy accuracy_of(std::span<const PredictedTime> times, bool has_intervals) {
  Accuracy made;
  made.count = static_cast<int64_t>(times.size());
  if (times.empty()) return made;
  std::vector<double> errors, widths;
  std::vector<std::pair<double, double>> pairs;
  int64_t hits = 0, flagged = 0, large_flagged = 0;
  for (const PredictedTime& each : times) {
    const double error = std::abs(each.predicted.us / each.measured_us - 1);
    const bool is_flagged = !each.predicted.out_of_range.empty();
    errors.push_back(error);
    pairs.emplace_back(each.measured_us, each.predicted.us);
    widths.push_back((each.predicted.high_us - each.predicted.low_us) / each.predicted.us);
    hits += each.measured_us >= each.predicted.low_us && each.measured_us <= each.predicted.high_us;
    flagged += is_flagged;
    made.large += error > kLarge;
    large_flagged += error > kLarge && is_flagged;
  }
  std::ranges::sort(errors);
  const auto n = static_cast<double>(times.size());
  const auto within = [&](double most) {
    return static_cast<double>(std::ranges::upper_bound(errors, most) - errors.begin()) / n;
  };
  made.median_error = quantile(errors, 0.5);
  made.p90_error = quantile(errors, 0.9);
  made.within_5 = within(0.05);
  made.within_10 = within(0.1);
  made.within_20 = within(0.2);
  made.kendall_tau = kendall_tau(std::move(pairs));
  if (has_intervals) {
    made.coverage = static_cast<double>(hits) / n;
    made.width = median(widths);
  }
  made.flagged = static_cast<double>(flagged) / n;
  if (made.large > 0)
    made.large_flagged = static_cast<double>(large_flagged) / static_cast<double>(made.large);
  return made;
}

const AccuracyRow* Evaluation::find(std::string_view of, std::string_view backend, std::string_view held_out,
                                    std::string_view predictor) const {
  for (const AccuracyRow& row : rows)
    if (row.of == of && row.backend == backend && row.held_out == held_out && row.predictor == predictor)
      return &row;
  return nullptr;
}

Evaluation evaluate(const Dataset& data, const EvaluateOptions& options) {
  return Evaluating(data, options).run();
}

BoostOptions few_kernels_options(BoostOptions options) {
  options.rounds = 150;
  options.depth = 3;
  options.min_child_weight = 2;
  return options;
}

std::vector<CarryRow> carry_curve(const Dataset& data, const std::string& backend,
                                  std::shared_ptr<const Predictor> from, std::span<const int> sizes,
                                  const TrainOptions& options) {
  std::map<std::string, std::vector<int>> by_work;  // of kernels that can be learned from
  for (size_t i = 0; i < data.kernels.size(); ++i)
    if (data.kernels[i].kernel.backend == backend && data.kernels[i].weight > 0)
      by_work[data.kernels[i].work_id].push_back(static_cast<int>(i));
  std::vector<std::string> works;
  for (const auto& [work, members] : by_work) works.push_back(work);
  std::vector<CarryRow> rows;
  for (const int size : sizes) {
    if (static_cast<size_t>(size) * 10 > works.size() * 9) continue;  // nothing would be left to judge by
    CarryRow& row = rows.emplace_back();
    row.kernels = size;
    std::vector<PredictedTime> carried, scratch;
    for (int repeat = 0; repeat < kCurveRepeats; ++repeat) {
      std::mt19937 random(options.seed + static_cast<uint32_t>(repeat));
      std::vector<std::string> order = works;
      std::ranges::shuffle(order, random);
      std::vector<int> train_with, rest;
      for (size_t i = 0; i < order.size(); ++i)
        for (const int each : by_work[order[i]])
          (i < static_cast<size_t>(size) ? train_with : rest).push_back(each);
      const auto judge = [&](std::shared_ptr<const Predictor> source, std::vector<PredictedTime>& times) {
        std::vector<const KernelCase*> cases;
        for (const int i : rest) cases.push_back(&data.kernels[static_cast<size_t>(i)].kernel);
        std::vector<TimePrediction> predicted;
        if (size == 0) {
          if (!source) return;
          const auto at = source->kernels.find(backend);
          predicted = (at == source->kernels.end() ? source->kernels.begin()->second : at->second)
                          .predict(cases, kShownLevel);
        } else {
          TrainOptions few = options;
          few.from = source;
          few.only_backend = backend;
          few.regressor.boost = few_kernels_options(few.regressor.boost);
          few.progress = {};
          try {
            predicted = train(data, train_with, {}, few).predict(cases, kShownLevel);
          } catch (const Error&) {
            return;  // fewer than a predictor needs
          }
        }
        for (size_t i = 0; i < rest.size(); ++i) {
          const KernelSample& kernel = data.kernels[static_cast<size_t>(rest[i])];
          times.push_back({kernel.brief, kernel.family, kernel.us, predicted[i]});
        }
      };
      judge(from, carried);
      judge(nullptr, scratch);
    }
    row.carried = accuracy_of(carried, true);
    row.scratch = accuracy_of(scratch, true);
  }
  return rows;
}

}  // namespace baton
