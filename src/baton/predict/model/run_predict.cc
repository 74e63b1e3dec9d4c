#include "baton/predict/model/run_predict.h"

#include "baton/driver/initialize.h"
#include "baton/driver/vm/build_program.h"
#include "baton/predict/predictor_file.h"

namespace baton {

void TrainCommand::add(Flags& flags) {
  flags.option("store", &store, "measurements of kernels, and of the models that they are from").required();
  flags.option("name", &options.name,
               "of the device, for `--for-device`; by default those of the machines in the store");
  flags.option("backend", &options.only_backend, "kernels of this backend only: llvm, dnnl, opencl, sim_npu");
  flags
      .option("from", &from,
              "a predictor of another device: carried over to the device of the store, whose few kernels (50 "
              "to 200) correct it; the accuracy by their number is printed beside training from nothing")
      .in_python("source");
  flags.flag(
      "evaluate", &evaluate,
      "hold out models, families and the largest models, and print how good predictions are, beside simpler "
      "predictors and the "
      "noise of the measurements; kept in the file's card");
  flags.flag("search", &search, "choose the size of the trees by families held out");
  BoostOptions& boost = options.regressor.boost;
  flags.option("rounds", &boost.rounds, "trees of each predictor").show_default().range(1, 5000);
  flags.option("eta", &boost.eta, "how much of an error each tree corrects").show_default().range(0.001, 1);
  flags.option("depth", &boost.depth, "of a tree").show_default().range(1, 12);
  flags.option("seed", &seed, "the same seed and store, the same predictor").show_default().range(0, 1000000);
  flags.option("threads", &boost.threads, "for training").show_default().range(1, 256);
}

Dataset training_data(const TrainCommand& command) {
  initialize();
  return dataset_of(Store::open(command.store, Store::Mode::kRead), command.options.only_backend);
}

namespace {

std::vector<BoostOptions> candidates(const BoostOptions& given) {
  std::vector<BoostOptions> all;
  for (const int depth : {5, 7, 9})
    for (const double least : {1.0, 4.0}) {
      all.push_back(given);
      all.back().depth = depth;
      all.back().min_child_weight = least;
    }
  return all;
}

std::vector<CarryRow> carried(const Predictor& predictor, const Dataset& data, const TrainOptions& options) {
  constexpr int kSizes[] = {0, 50, 100, 200};
  std::vector<CarryRow> curve;
  for (const auto& [backend, regressor] : predictor.kernels) {
    const auto rows = carry_curve(data, backend, options.from, kSizes, options);
    curve.insert(curve.end(), rows.begin(), rows.end());
  }
  return curve;
}

}  // namespace

Trained run_train(const TrainCommand& command, const Dataset& data) {
  TrainOptions options = command.options;
  options.seed = options.regressor.boost.seed = static_cast<uint32_t>(command.seed);
  if (!command.from.empty()) options.from = std::make_shared<const Predictor>(load_predictor(command.from));
  BoostOptions& boost = options.regressor.boost;
  if (command.search) boost = best_options(data, candidates(boost), options);
  TrainOptions whole = options;
  if (options.from) whole.regressor.boost = few_kernels_options(boost);
  Trained made{train(data, whole)};
  if (command.evaluate) {
    made.evaluation = evaluate(data, EvaluateOptions{whole});
    made.predictor.card.accuracy = evaluation_json(*made.evaluation);
  }
  if (options.from && command.curve) made.curve = carried(made.predictor, data, options);
  return made;
}

void PredictCommand::add(Flags& flags) {
  flags.option(
      "predictor", &predictor,
      "the file that `baton train` wrote; by default the one of this machine that `baton probe` made, or "
      "that comes with Baton");
  flags.option("for-device", &for_device,
               "predict for this device, by the name that the predictor has for it (zen5), and not for this "
               "machine");
  flags.option("store", &store, "measurements: where they are of this very kernel, they answer");
  flags.option("threads", &threads, "threads of the runs; 0: the most that the predictor was trained with")
      .range(0, 256);
  flags.option("level", &level, "of the intervals: 0.9 holds the time in 9 of 10 cases")
      .show_default()
      .range(0.01, 0.999);
}

FoundPredictor predictor_of(const PredictCommand& command) {
  if (command.predictor.empty()) return find_predictor(DeviceSheet::host(), command.for_device);
  return {command.predictor, load_predictor(command.predictor)};
}

ProfileReport run_predict(const PredictCommand& command, const Predictor& predictor, const std::string& shown,
                          const IRModule& module, BuildOptions how) {
  std::optional<Store> store;
  if (!command.store.empty()) store = Store::open(command.store, Store::Mode::kRead);
  PredictOptions options;
  options.predictor = &predictor;
  options.predictor_name = shown;
  options.device = predicted_device(predictor, shown, DeviceSheet::host(), command.for_device);
  options.store = store ? &*store : nullptr;
  options.threads = command.threads;
  options.level = command.level;
  options.context = how.context = context_of_device(options.device, how.context);
  options.context.progress = {};
  const BuildResult planned =
      for_plans(module, "times are predicted", [&] { return plan_build(module, how); });
  return predict(planned, options).report;
}

void note_given_extents(ProfileReport& report, const std::vector<std::string>& shapes) {
  std::string all;
  for (const std::string& shape : shapes) all += (all.empty() ? "" : ", ") + shape;
  report.predicted += ", for static kernels of " + all;  // in all outputs, also those without notes
  report.notes.push_back("the model leaves extents open: these are times of kernels built for " + all +
                         ", as the predictor was trained with; one build for all extents has others, most of "
                         "them as fast within a tenth (docs/design/0047)");
}

}  // namespace baton
