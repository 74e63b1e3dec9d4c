// Predictors against their bars: prediction STORE [BACKEND]. Holds out models, families and the largest
// models of the store's measurements, and times the prediction of ResNet-50; prediction --larger STORE
// [BACKEND] and prediction --time PREDICTOR only do one of these. Prints `bar, measured, ok` and exits with 1
// when one does not hold.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/driver/load_model.h"
#include "baton/predict/evaluation.h"
#include "baton/predict/model/predict_model.h"
#include "baton/predict/predictor_file.h"
#include "baton/store/store.h"
#include "baton/support/base/statistics.h"

#include "bars/bar.h"

namespace baton {
namespace {

constexpr int kRuns = 21;

void report_models(const Evaluation& evaluation, const std::string& backend) {
  const std::string of = ", models of " + backend;
  const AccuracyRow* noise = evaluation.find("models", backend, "-", "measured again");
  if (noise)
    std::printf(
        "%-62s the same model measured twice: median %.2f %%, %.1f %% within 10 %%, %.1f %% within 5 %%\n",
        ("measured again" + of).c_str(), 100 * noise->accuracy.median_error, 100 * noise->accuracy.within_10,
        100 * noise->accuracy.within_5);
  if (const AccuracyRow* row = evaluation.find("models", backend, "model", "baton")) {
    const Accuracy& a = row->accuracy;
    bars::report_least(("within 10 %, held-out" + of).c_str(), 99, 100 * a.within_10, "%");
    bars::report_least(("within 5 %, held-out" + of).c_str(), 85, 100 * a.within_5, "%");
    bars::report(("90 % intervals cover, held-out" + of).c_str(), 87, 93, 100 * a.coverage, "%");
    bars::report(("median width of intervals, held-out" + of).c_str(), 12, 100 * a.width, "%");
    bars::report(("flagged, held-out" + of).c_str(), 10, 100 * a.flagged, "%");
  }
  if (const AccuracyRow* row = evaluation.find("models", backend, "model, seen kernels allowed", "baton"))
    std::printf("%-62s %.1f %% within 10 %%, %.1f %% within 5 %%\n",
                ("seen kernels allowed, held-out" + of).c_str(), 100 * row->accuracy.within_10,
                100 * row->accuracy.within_5);
  if (const AccuracyRow* row = evaluation.find("models", backend, "family", "baton")) {
    const Accuracy& a = row->accuracy;
    bars::report(("median error, family held out" + of).c_str(), 7, 100 * a.median_error, "%");
    bars::report_least(("within 10 %, family held out" + of).c_str(), 80, 100 * a.within_10, "%");
    bars::report_least(("Kendall tau, family held out" + of).c_str(), 0.95, a.kendall_tau, "");
    if (a.large > 0)
      bars::report_least(("errors over 20 % that are flagged, family held out" + of).c_str(), 90,
                         100 * a.large_flagged, "%");
  }
}

void report_larger(const Evaluation& evaluation, const std::string& backend) {
  const AccuracyRow* row = evaluation.find("models", backend, "larger", "baton");
  if (!row) return;
  const std::string of = ", the largest fifth of the models of " + backend;
  const Accuracy& a = row->accuracy;
  bars::report(("median error" + of).c_str(), 3, 100 * a.median_error, "%");
  bars::report_least(("within 10 %" + of).c_str(), 90, 100 * a.within_10, "%");
  bars::report(("90 % intervals cover" + of).c_str(), 87, 93, 100 * a.coverage, "%");
  std::printf("%-62s %.1f %% within 5 %%, %.1f %% within 20 %%, %.1f %% flagged\n", "", 100 * a.within_5,
              100 * a.within_20, 100 * a.flagged);
}

void report_kernels(const Evaluation& evaluation, const std::string& backend) {
  for (const AccuracyRow& row : evaluation.rows) {
    if (row.of != "kernels" || row.backend != backend || row.held_out != "model") continue;
    if (row.predictor == "baton")
      bars::report(("median error, kernels of " + backend).c_str(), 6, 100 * row.accuracy.median_error, "%");
    else
      std::printf("%-62s median error %.2f %%\n", ("  by " + row.predictor).c_str(),
                  100 * row.accuracy.median_error);
  }
}

/// Milliseconds from the fused module and its schedules to all times.
void report_time(const Predictor& predictor) {
  if (!predictor.kernels.count("llvm")) return;
  const PredictedDevice device{predictor.machines.front().sheets, predictor.machines.front().name, false};
  const LoadedModel model = load_model("resnet-50");
  BuildOptions how{.context = context_of_device(device, host_context())};
  how.params = load_params(model, "");
  how.context.passes->opt_level = 3;
  const auto start = std::chrono::steady_clock::now();
  const BuildResult planned = plan_build(model.module, how);
  const double plan_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  PredictOptions options;
  options.predictor = &predictor;
  options.device = device;
  options.context = how.context;
  std::vector<double> ms;
  double schedules_s = 0;
  for (int i = 0; i < kRuns; ++i) {
    const PredictedReport made = predict(planned, options);
    ms.push_back(1e3 * made.predict_s);
    schedules_s = made.schedules_s;
  }
  std::printf("%-62s %.0f ms, schedules %.0f ms\n", "ResNet-50 to its fused module", 1e3 * plan_s,
              1e3 * schedules_s);
  bars::report("prediction of ResNet-50", 5, median(ms), "ms");
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  using namespace baton;
  if (argc < 2) {
    std::fprintf(stderr, "usage: prediction [--larger] STORE [BACKEND], or prediction --time PREDICTOR\n");
    return 2;
  }
  initialize();
  try {
    if (argc == 3 && argv[1] == std::string("--time")) {
      report_time(load_predictor(argv[2]));
      return bars::all_hold ? 0 : 1;
    }
    const bool only_larger = argc > 2 && argv[1] == std::string("--larger");
    if (only_larger) ++argv, --argc;
    const Dataset data = dataset_of(Store::open(argv[1], Store::Mode::kRead), argc > 2 ? argv[2] : "");
    EvaluateOptions options;
    if (only_larger) options.folds = 0, options.families = options.baselines = false;
    if (argc > 2) options.train.only_backend = argv[2];
    options.train.progress = [](const std::string& what, int done, int total) {
      std::fprintf(stderr, "%s %d/%d\n", what.c_str(), done, total);
    };
    const Evaluation evaluation = evaluate(data, options);
    for (const std::string& backend : data.backends()) {
      report_kernels(evaluation, backend);
      report_models(evaluation, backend);
      report_larger(evaluation, backend);
    }
    if (!only_larger) report_time(train(data, options.train));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "prediction: %s\n", error.what());
    return 1;
  }
  return bars::all_hold ? 0 : 1;
}
