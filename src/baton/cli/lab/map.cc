// Maps a model onto several backends.
#include <optional>

#include "baton/cli/common.h"
#include "baton/cli/outputs.h"
#include "baton/driver/case_file.h"
#include "baton/driver/cut/cut_text.h"
#include "baton/driver/initialize.h"
#include "baton/driver/shape_points.h"
#include "baton/driver/vm/build_program.h"
#include "baton/map/model/map_text.h"
#include "baton/map/model/run_map.h"
#include "baton/map/write/map_page.h"
#include "baton/support/error.h"

namespace baton::cli {

namespace {

class MapVerb final : public Verb {
 public:
  using Verb::Verb;

  void flags(Flags& flags) override {
    flags_.add(flags);
    command_.add(flags);
    flags.files("backend", &flags_.own_backends, "a backend of your own: a shared library (docs/guide.md)");
    add_wait(flags, &wait_);
    outputs_.add(flags, map_file_kinds());
    flags.option("module", &module_, "write the partitioned program to this .relay file");
    flags.option("artifact", &artifact_, "build the mapping, and write it to this .baton file");
    flags.flag("json", &json_, "the report as JSON on standard output (docs/design/0040-mapping.md)");
  }

  int run(Io& io) override {
    const bool measures = command_.measures();
    const std::string without = command_.predictor.empty() ? "--no-measure" : "--predictor";
    if (!artifact_.empty() && !measures)
      throw UsageError("--artifact builds the mapping, " + without + " builds nothing: choose one");
    command_.check();
    if (has_ranges(flags_.shapes)) throw UsageError("a mapping is of one shape, and --shape has a range");
    if (!measures)
      refuse_options(io, {"max-seconds", "tries", "also", "wait"}, "nothing is measured with " + without);
    // The page shows times, and what they would be at other prices of transfers.
    if (command_.objective == "energy") outputs_.set_kinds({map_file_kinds().front()});
    outputs_.check();
    initialize();
    BuildOptions& how = command_.options.build;
    how.context = flags_.context();
    const LoadedModel model = load_model(flags_.model, flags_.shapes);
    how.params = load_params(model, flags_.params, flags_.inputs, nullptr, !is_plan(model.module));
    command_.ready = [&] {
      if (measures) wait_for_quiet(wait_, io);
    };
    const InterruptScope interrupt;
    Progress progress(io);
    how.context.interrupt = interrupt.flag();
    command_.options.progress = [&](const std::string& phase, int done, int total) {
      progress.show(phase, done, total);
    };
    const auto [result, sweeps] = run_map(command_, model.module, model.name);
    std::optional<MapSweep> prices;  // only the page shows them
    outputs_.write(io, [&](const WantedFile& file) {
      if (file.suffix == ".json") return mapping_json(result.report.mapping);
      if (!prices) prices = other_prices(result, interrupt.flag(), progress);
      progress.clear();
      return map_page(result, sweeps, *prices);
    });
    progress.clear();
    if (!module_.empty()) write_text_file(module_, readable_text(*result.module));
    if (!artifact_.empty()) write_artifact(build(result.module, how), artifact_);
    if (json_) {
      io.out << map_json(result, sweeps).dump() << '\n';
    } else {
      io.out << model.name << " over " << joined(result.report.backends) << ", " << result.report.threads
             << (result.report.threads == 1 ? " thread" : " threads") << ", opt level " << flags_.opt_level
             << ", " << result.report.machine << "\n\n"
             << map_table(result.report);
      for (const MapSweep& each : sweeps) io.out << sweep_table(each);
    }
    return InterruptScope::exit_status();
  }

 private:
  static std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  static MapSweep other_prices(const MapResult& result, const std::atomic<bool>* interrupt,
                               Progress& progress) {
    SweepOptions how = transfer_price_options();
    how.interrupt = interrupt;
    how.progress = [&](int done, int total) { progress.show("other prices of transfers", done, total); };
    return sweep(result, transfer_prices(), how);
  }

  ModelFlags flags_;
  MapCommand command_;
  OutputFiles outputs_;
  std::string module_, artifact_;
  double wait_ = 0;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> map_verb(std::string name, std::string doc) {
  return std::make_unique<MapVerb>(std::move(name), std::move(doc));
}

}  // namespace baton::cli
