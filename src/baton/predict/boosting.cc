// The only file that knows XGBoost.
#include "baton/predict/boosting.h"

#include <cstdlib>

#include <dlfcn.h>
#include <xgboost/c_api.h>

#include "baton/support/base/environment.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton {

namespace {

constexpr int kTreesTold = 10;

struct Library {
  std::string why_not;
  decltype(&XGBGetLastError) last_error = nullptr;
  decltype(&XGBSetGlobalConfig) set_config = nullptr;
  decltype(&XGDMatrixCreateFromMat) matrix = nullptr;
  decltype(&XGDMatrixFree) matrix_free = nullptr;
  decltype(&XGDMatrixSetFloatInfo) info = nullptr;
  decltype(&XGBoosterCreate) create = nullptr;
  decltype(&XGBoosterFree) free = nullptr;
  decltype(&XGBoosterSetParam) param = nullptr;
  decltype(&XGBoosterUpdateOneIter) update = nullptr;
  decltype(&XGBoosterSaveModelToBuffer) save = nullptr;
};

template <class F>
void find(void* handle, const char* name, F& function, std::string& why_not) {
  function = reinterpret_cast<F>(dlsym(handle, name));
  if (!function) why_not = std::string("its library has no ") + name + " (version 1.6 or newer is needed)";
}

Library open_library() {
  Library library;
  void* handle = nullptr;
  if (const std::string own = environment()->xgboost; !own.empty()) {
    handle = dlopen(own.c_str(), RTLD_NOW | RTLD_LOCAL);
  } else {
    for (const char* name : {"libxgboost.so.0", "libxgboost.so"})
      if (!handle) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (!handle) {
    const char* said = dlerror();
    library.why_not = said ? said : "its library cannot be loaded";
    return library;
  }
  find(handle, "XGBGetLastError", library.last_error, library.why_not);
  find(handle, "XGBSetGlobalConfig", library.set_config, library.why_not);
  find(handle, "XGDMatrixCreateFromMat", library.matrix, library.why_not);
  find(handle, "XGDMatrixFree", library.matrix_free, library.why_not);
  find(handle, "XGDMatrixSetFloatInfo", library.info, library.why_not);
  find(handle, "XGBoosterCreate", library.create, library.why_not);
  find(handle, "XGBoosterFree", library.free, library.why_not);
  find(handle, "XGBoosterSetParam", library.param, library.why_not);
  find(handle, "XGBoosterUpdateOneIter", library.update, library.why_not);
  find(handle, "XGBoosterSaveModelToBuffer", library.save, library.why_not);
  if (library.why_not.empty()) library.set_config(R"({"verbosity": 0})");
  return library;
}

const Library& library() {
  static const Library loaded = open_library();
  return loaded;
}

class Booster {
 public:
  Booster(const FeatureRows& rows, std::span<const float> labels, std::span<const float> weights) {
    check(xgboost_.matrix(rows.values.data(), rows.rows(), rows.columns, std::nanf(""), &matrix_));
    check(xgboost_.info(matrix_, "label", labels.data(), labels.size()));
    check(xgboost_.info(matrix_, "weight", weights.data(), weights.size()));
    check(xgboost_.create(&matrix_, 1, &booster_));
  }
  ~Booster() {
    if (booster_) xgboost_.free(booster_);
    if (matrix_) xgboost_.matrix_free(matrix_);
  }
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;

  void set(const char* name, const std::string& value) {
    check(xgboost_.param(booster_, name, value.c_str()));
  }
  void set(const char* name, double value) { set(name, std::to_string(value)); }
  void set(const char* name, int value) { set(name, std::to_string(value)); }
  void update(int round) { check(xgboost_.update(booster_, round, matrix_)); }
  Json model() {
    bst_ulong length = 0;
    const char* text = nullptr;
    check(xgboost_.save(booster_, R"({"format": "json"})", &length, &text));
    return Json::parse({text, length});
  }

 private:
  void check(int status) const {
    if (status != 0) throw Error(std::string("XGBoost: ") + xgboost_.last_error());
  }
  const Library& xgboost_ = library();
  DMatrixHandle matrix_ = nullptr;
  BoosterHandle booster_ = nullptr;
};

std::vector<TreeNode> tree_of(const Json& tree) {
  const auto left = tree.at("left_children").get<std::vector<int32_t>>();
  const auto right = tree.at("right_children").get<std::vector<int32_t>>();
  const auto feature = tree.at("split_indices").get<std::vector<int32_t>>();
  const auto value = tree.at("split_conditions").get<std::vector<float>>();
  const Json& unknown_left = tree.at("default_left");
  std::vector<TreeNode> nodes(left.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].value = value[i];
    if (left[i] < 0) continue;
    const Json& flag = unknown_left[i];
    const bool goes_left = flag.is_boolean() ? flag.get<bool>() : flag.get<int>() != 0;
    nodes[i].feature = feature[i];
    nodes[i].left = left[i];
    nodes[i].right = right[i];
    nodes[i].unknown = goes_left ? left[i] : right[i];
  }
  return nodes;
}

}  // namespace

std::string no_xgboost() {
  const std::string& why = library().why_not;
  return why.empty()
             ? ""
             : "training needs XGBoost: install libxgboost0 (Debian), or the wheel `xgboost` and name its "
               "libxgboost.so in BATON_XGBOOST (" +
                   why + ")";
}

Trees boost(const FeatureRows& rows, std::span<const float> labels, std::span<const float> weights,
            const BoostOptions& options) {
  if (const std::string why = no_xgboost(); !why.empty()) throw Error(why);
  BATON_CHECK(rows.rows() == labels.size() && labels.size() == weights.size(),
              "rows, labels and weights differ");
  if (labels.empty()) throw Error("there are no measurements to train with");
  Booster booster(rows, labels, weights);
  booster.set("objective", "reg:squarederror");
  booster.set("base_score", 0.0);
  booster.set("tree_method", "hist");
  booster.set("max_bin", options.bins);
  booster.set("max_depth", options.forest ? 14 : options.depth);
  booster.set("eta", options.forest ? 1.0 : options.eta);
  booster.set("min_child_weight", options.min_child_weight);
  booster.set("subsample", options.forest ? 0.632 : options.row_part);
  booster.set(options.forest ? "colsample_bynode" : "colsample_bytree",
              options.forest ? 0.4 : options.column_part);
  booster.set("lambda", options.forest ? 0.01 : options.lambda);
  booster.set("num_parallel_tree", options.forest ? options.forest : 1);
  booster.set("seed", static_cast<int>(options.seed));
  booster.set("nthread", options.threads);
  const int rounds = options.forest ? 1 : options.rounds;
  for (int round = 0; round < rounds; ++round) {
    booster.update(round);
    const bool told = (round + 1) % kTreesTold == 0 || round + 1 == rounds;
    if (told && options.made) options.made(round % kTreesTold + 1);
  }
  const Json model = booster.model();
  Trees trees;
  for (const auto& tree : model.at("learner").at("gradient_booster").at("model").at("trees"))
    trees.add(tree_of(tree));
  return trees;
}

}  // namespace baton
