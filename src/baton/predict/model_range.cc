#include "baton/predict/model_range.h"

#include <algorithm>
#include <cmath>

#include "baton/predict/dataset.h"
#include "baton/support/base/statistics.h"

namespace baton {

namespace {

constexpr double kModelsInRange = 0.9;  // of the models held out
constexpr double kMostUnseen = 0.1;     // of a model's time
constexpr size_t kLeastModels = 8;      // to take a limit from
constexpr const char* kReasons[] = {"its kernels are far from those in training",
                                    "it spends its time in kernels whose predictions are often far off",
                                    "predictors trained with other models disagree about its kernels"};

std::array<double, 3> listed(const ModelDoubts& model) {
  return {model.novelty, model.spread, model.disagreement};
}

}  // namespace

ModelRange ModelRange::of(std::span<const ModelDoubts> held_out) {
  ModelRange range;
  for (const ModelDoubts& model : held_out) {
    const auto values = listed(model);
    for (size_t i = 0; i < values.size(); ++i) range.doubts[i].push_back(values[i]);
  }
  for (std::vector<double>& each : range.doubts) std::ranges::sort(each);
  if (held_out.size() < kLeastModels) return range;
  std::vector<double> all;
  for (const ModelDoubts& model : held_out) all.push_back(range.strangeness(model));
  std::ranges::sort(all);
  range.limit = quantile(all, kModelsInRange);
  return range;
}

std::array<double, 3> ModelRange::p_values(const ModelDoubts& model) const {
  const auto values = listed(model);
  std::array<double, 3> all{};
  for (size_t i = 0; i < values.size(); ++i) {
    const std::vector<double>& known = doubts[i];
    const auto as_great = static_cast<double>(known.end() - std::ranges::lower_bound(known, values[i]));
    all[i] = (as_great + 1) / static_cast<double>(known.size() + 1);  // the model itself is one of them
  }
  return all;
}

double ModelRange::strangeness(const ModelDoubts& model) const {
  double sum = 0;
  for (const double p : p_values(model)) sum -= std::log(p);
  return sum;
}

double ModelRange::relative(const ModelDoubts& model) const {
  return std::max(model.unseen / kMostUnseen, limit > 0 ? strangeness(model) / limit : model.novelty);
}

std::string ModelRange::outside(const ModelDoubts& model) const {
  if (relative(model) <= 1) return "";
  if (model.unseen > kMostUnseen) return "it spends its time in kernels unlike all in training";
  if (limit <= 0) return kReasons[0];
  const auto all = p_values(model);
  return kReasons[std::ranges::min_element(all) - all.begin()];
}

}  // namespace baton
