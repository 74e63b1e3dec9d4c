// Predictors of times: training, probing, files, and a model's times by one.
#include <optional>

#include "baton/predict/model/run_predict.h"
#include "baton/predict/predictor_file.h"
#include "baton/probe/run_probe.h"

#include "python/door.h"
#include "python/keywords.h"
#include "python/running/held_predictor.h"
#include "python/running/profile_report.h"
#include "python/running/progress_call.h"

namespace baton::python {

namespace {

HeldPredictor held(FoundPredictor found) {
  return {std::make_shared<const Predictor>(std::move(found.predictor)), found.path};
}

HeldPredictor train_with(const nb::dict& options, const HeldPredictor* source) {
  Called<TrainCommand> command("train", options);
  if (source) command.options.from = source->of;
  const nb::gil_scoped_release released;
  Predictor made = run_train(command, training_data(command)).predictor;
  return {std::make_shared<const Predictor>(std::move(made)), "the predictor trained with " + command.store};
}

Report predict_module(const nb::dict& options, const HeldPredictor* by, const IRModule& module,
                      const nb::dict& params, std::string name, const std::vector<std::string>& shapes) {
  const Called<PredictCommand> command("predict", options);
  BuildOptions how{.params = arrays_from_python(params), .context = door_context()};
  const nb::gil_scoped_release released;
  const HeldPredictor found = by ? *by : held(predictor_of(command));
  Report made{run_predict(command, *found.of, found.name, module, how)};
  if (!shapes.empty()) note_given_extents(made.report, shapes);
  made.report.model = std::move(name);
  made.report.opt_level = how.context.passes->opt_level;
  return made;
}

/// What `progress` raises ends the probe and goes on to the caller. An interrupt ends it, too: the report
/// says so.
Json probe(const nb::dict& options, const nb::object& progress) {
  Called<ProbeCommand> command("probe", options);
  return interruptible([&](const std::atomic<bool>* stop) {
    ProgressCall call(progress, stop);
    command.interrupt = call.flag();
    command.progress = [&](const ProbeProgress& now) {
      call(now.phase, now.done, now.total, now.seconds_left);
    };
    const auto made = [&]() -> std::optional<ProbeReport> {
      try {
        return command.run([&] { return run_probe(command); });
      } catch (const Interrupted&) {
        if (!call.failed()) throw;
        return std::nullopt;
      }
    }();
    call.finish();
    return probe_json(made.value());
  });
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
            return held(find_predictor(DeviceSheet::host(), name));
          },
          nb::arg("name") = "",
          "The predictor that comes with Baton for the device of that name, or for this machine. Raises "
          "TVMError, which lists those there are.")
      .def(
          "save", [](const HeldPredictor& p, const std::string& path) { save_predictor(*p.of, path); },
          nb::arg("path"), "Replaces the file atomically.")
      .def("_card", [](const HeldPredictor& p) { return card_json(p.of->card); })
      .def(
          "_importance",
          [](const HeldPredictor& p, const std::string& backend) {
            const auto at = p.of->kernels.find(backend);
            if (at == p.of->kernels.end()) throw nb::key_error(backend.c_str());
            return at->second.importance();
          },
          nb::arg("backend"));
  bind_options<TrainCommand>(m, "train");
  bind_options<PredictCommand>(m, "predict");
  bind_options<ProbeCommand>(m, "probe");
  m.def("train", &train_with, nb::arg("options"), nb::arg("source").none());
  m.def("probe", &probe, nb::arg("options"), nb::arg("progress").none());
  m.def("predict", &predict_module, nb::arg("options"), nb::arg("predictor").none(), nb::arg("module"),
        nb::arg("params"), nb::arg("name"), nb::arg("shapes"));
}

}  // namespace baton::python
