// Predictors of times: training, files, and a model's times by one.
#include "baton/driver/initialize.h"
#include "baton/predict/evaluation.h"
#include "baton/predict/predictor_file.h"
#include "baton/store/store.h"

#include "python/door.h"
#include "python/running/held_predictor.h"
#include "python/running/profile_report.h"

namespace baton::python {

namespace {

HeldPredictor train_with(const std::string& store, const std::string& backend, const HeldPredictor* from,
                         bool evaluated, std::optional<int> rounds, int seed, int threads,
                         const std::string& name) {
  read_environment();
  const nb::gil_scoped_release released;
  initialize();
  TrainOptions options;
  options.only_backend = backend;
  options.name = name;
  if (rounds) options.regressor.boost.rounds = *rounds;
  options.regressor.boost.threads = threads;
  options.seed = options.regressor.boost.seed = static_cast<uint32_t>(seed);
  if (from) {
    options.from = from->of;
    options.regressor.boost = few_kernels_options(options.regressor.boost);
  }
  const Dataset data = dataset_of(Store::open(store, Store::Mode::kRead), backend);
  Predictor made = train(data, options);
  if (evaluated) made.card.accuracy = evaluation_json(evaluate(data, EvaluateOptions{options}));
  return {std::make_shared<const Predictor>(std::move(made)), "the predictor trained with " + store};
}

Report predict_module(const IRModule& module, const nb::dict& params, const HeldPredictor& by,
                      const std::string& store, int threads, double level, std::string name,
                      const std::string& for_device) {
  const NamedArrays weights = arrays_from_python(params);
  if (threads < 0 || !(level > 0 && level < 1))
    throw nb::value_error("predict: threads is not negative, and level is between 0 and 1");
  BuildOptions how;
  how.params = weights;
  how.context = door_context();
  const nb::gil_scoped_release released;
  PredictOptions options;
  options.device = predicted_device(*by.of, by.name, DeviceSheet::host(), for_device);
  how.context = context_of_device(options.device, how.context);
  std::optional<Store> measured;
  if (!store.empty()) measured = Store::open(store, Store::Mode::kRead);
  const BuildResult planned = plan_build(module, how);
  options.predictor = by.of.get();
  options.predictor_name = by.name;
  options.store = measured ? &*measured : nullptr;
  options.threads = threads;
  options.level = level;
  options.context = how.context;
  Report made{predict(planned, options).report};
  made.report.model = std::move(name);
  made.report.opt_level = how.context.passes->opt_level;
  return made;
}

}  // namespace

void bind_predict(nb::module_& m) {
  nb::class_<HeldPredictor>(m, "Predictor", "Predicts times of kernels and models: baton.train, or load().")
      .def_static(
          "load",
          [](const std::string& path) {
            return HeldPredictor{std::make_shared<const Predictor>(load_predictor(path)), path};
          },
          nb::arg("path"),
          "A file of save() or `baton train -o`. Raises TVMError when it is none, damaged or newer.")
      .def_static(
          "of_device",
          [](const std::string& name) {
            read_environment();
            FoundPredictor found = find_predictor(DeviceSheet::host(), name);
            return HeldPredictor{std::make_shared<const Predictor>(std::move(found.predictor)), found.path};
          },
          nb::arg("name") = "",
          "The predictor that comes with Baton for the device of that name, or for this machine. Raises "
          "TVMError, which lists those there are.")
      .def(
          "save", [](const HeldPredictor& p, const std::string& path) { save_predictor(*p.of, path); },
          nb::arg("path"), "Replaces the file atomically.")
      .def(
          "_card", [](const HeldPredictor& p) { return card_json(p.of->card).dump(2); },
          "The model card as JSON.")
      .def(
          "_importance",
          [](const HeldPredictor& p, const std::string& backend) {
            const auto at = p.of->kernels.find(backend);
            if (at == p.of->kernels.end()) throw nb::key_error(backend.c_str());
            return at->second.importance();
          },
          nb::arg("backend"));
  m.def("train", &train_with, nb::arg("store"), nb::arg("backend"), nb::arg("source").none(),
        nb::arg("evaluated"), nb::arg("rounds").none(), nb::arg("seed"), nb::arg("threads"), nb::arg("name"));
  m.def("predict", &predict_module, nb::arg("module"), nb::arg("params"), nb::arg("predictor"),
        nb::arg("store"), nb::arg("threads"), nb::arg("level"), nb::arg("name"), nb::arg("for_device"));
}

}  // namespace baton::python
