#pragma once
// What predictors are trained and judged with: the measurements of a store, one case per kernel, build, place
// and state of the caches, and the models that they were measured in.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "baton/predict/kernel_case.h"
#include "baton/store/store.h"

namespace baton {

struct KernelSample {
  KernelCase kernel;
  std::string work_id, brief, family, machine;
  std::string precision = "f32";  ///< BuildFacts::precision
  double us = 0;                  ///< the median of its measurements
  double weight = 1;  ///< reliability, from the spread of its samples; 0: only a guess, not for training
  std::vector<int> models;  ///< indices into Dataset::models
};

struct ModelSample {
  std::string id, name, family, backend, target;
  std::shared_ptr<const DeviceSheet> sheet;
  int threads = 1;
  double us = 0, cv = 0;
  std::vector<std::pair<int, double>> kernels;  ///< index into Dataset::kernels, and how often it is called
  std::vector<double>
      again_us;  ///< of each time that it was measured, which is as far as times of one machine repeat
};

struct PartSample {
  KernelCase part;
  std::string work_id;  ///< of the part
  std::string group;    ///< the kernel's text: its parts are held out together
  double us = 0, share = 0;
};

struct TransferSample {
  std::string from, to;
  double bytes = 0, us = 0;
};

struct Dataset {
  std::vector<KernelSample> kernels;
  std::vector<ModelSample> models;
  std::vector<PartSample> parts;
  std::vector<TransferSample> transfers;
  std::vector<std::pair<double, double>>
      repeats;  ///< one kernel's times in two sessions, which is as far as times of one machine repeat
  std::map<std::string, int64_t> left_out;  ///< rows by reason
  /// Times of kernels and models that do not say the core's clock, as those of an older Baton do not: they
  /// are used as they were measured. Of what has others that do they are left out.
  int64_t without_clock = 0;
  std::set<std::string> campaigns, machines;
  int64_t rows = 0;  ///< measurements read

  std::set<std::string> backends() const;
  std::set<std::string> families() const;  ///< of models
  std::set<std::string> works_of(int model) const;
};

class DatasetBuilder {
 public:
  DatasetBuilder();
  ~DatasetBuilder();
  /// Rows that nothing can be learned from (NaN, zero, negative times; types that cannot be read) are left
  /// out and counted.
  void add(const Measurement& measurement);
  Dataset finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// All measurements of a store. Throws Error when there are none, or none of `backend` (unless it is empty).
Dataset dataset_of(const Store& store, const std::string& backend = {});

/// Indices of kernels and models, to train with and to judge by. No fused function is in both, and no model.
struct Split {
  std::string name;  ///< of a family: "resnet"
  std::vector<int> train_kernels, train_models, test_kernels, test_models;
};

/// `count` splits over the given kernels and models: models of each family in turn, kernels with their models
/// (what several models share is in the tests of each), others by their hash. The same `seed`, the same
/// splits.
std::vector<Split> model_splits(const Dataset& data, std::span<const int> kernels,
                                std::span<const int> models, int count, uint32_t seed);
/// One split per family of at least two models, where there are at least two families. Versions of one family
/// (resnet and resnet-v1.5) are one.
std::vector<Split> family_splits(const Dataset& data, std::span<const int> kernels,
                                 std::span<const int> models);
/// Tests are the fifth of each backend's models that takes longest, with all their kernels, and all kernels
/// that take longer than any that is left in the models. Nullopt where there are fewer than ten models.
std::optional<Split> size_split(const Dataset& data, std::span<const int> kernels,
                                std::span<const int> models);
/// The same tests with all kernels of other models in training: `seen kernels allowed`.
Split with_seen_kernels(const Dataset& data, const Split& split);

}  // namespace baton
