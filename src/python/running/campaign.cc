// Campaigns of measurements.
#include "baton/campaign/run_measure.h"

#include "python/keywords.h"
#include "python/running/progress_call.h"

namespace baton::python {

namespace {

/// What `progress` raises ends the campaign and goes on to the caller. An interrupt ends it, too: the report
/// says so.
Json measure(const nb::dict& options, std::vector<std::string> models, nb::handle design,
             const std::string& python, const nb::object& progress) {
  Called<MeasureCommand> command("measure", options);
  command.models = std::move(models);
  command.design = json_from_python(design);
  command.place.python = python;
  return interruptible([&](const std::atomic<bool>* stop) {
    ProgressCall call(progress, stop);
    command.interrupt = call.flag();
    command.progress = [&](const CampaignProgress& now) {
      call(now.phase, now.done, now.total, now.seconds_left);
    };
    const CampaignReport report = command.run([&] { return run_measure(command); });
    call.finish();
    return campaign_json(report);
  });
}

}  // namespace

void bind_campaign(nb::module_& m) {
  bind_options<MeasureCommand>(m, "measure");
  m.def("measure", &measure, nb::arg("options"), nb::arg("models"), nb::arg("design"), nb::arg("python"),
        nb::arg("progress").none(),
        "Measures what a design and options name into a store; see baton.measure.");
}

}  // namespace baton::python
