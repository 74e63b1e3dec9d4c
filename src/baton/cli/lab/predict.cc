#include <algorithm>

#include "baton/cli/common.h"
#include "baton/cli/outputs.h"
#include "baton/driver/shape_points.h"
#include "baton/predict/model/run_predict.h"
#include "baton/profile/report/report.h"
#include "baton/profile/views/source_times.h"
#include "baton/support/error.h"

namespace baton::cli {

namespace {

class PredictVerb final : public Verb {
 public:
  using Verb::Verb;

  void flags(Flags& flags) override {
    flags_.add(flags);
    flags.at("shape").doc += "; a range, n=1:512:x2 or n=16:64:16, gives curves";
    flags_.add_target(flags);
    command_.add(flags);
    outputs_.add(flags);
  }

  int run(Io& io) override {
    const bool curve = has_ranges(flags_.shapes);
    if (curve) outputs_.as_curve();
    outputs_.check();
    outputs_.refuse_ignored(io, false);
    const std::vector<ShapePoint> points = shape_points(flags_.shapes);
    if (curve && flags_.model == "-")
      throw UsageError("standard input can be read once, and a range of shapes reads the model for each");
    const bool given = !flags_.shapes.empty() && flags_.model != "-" && leaves_extents_open();
    const FoundPredictor found = predictor_of(command_);
    std::vector<ProfileReport> reports;
    for (const ShapePoint& point : points) {
      ProfileReport report = predicted(found, point.shapes, io);
      if (given) note_given_extents(report, point.shapes);
      if (curve) report.point = {point.name, point.value};
      outputs_.table(report, io);
      reports.push_back(std::move(report));
    }
    outputs_.write(reports, io);
    return 0;
  }

 private:
  bool leaves_extents_open() const {
    const Function main = load_model(flags_.model).module->find("main");
    return main &&
           !std::ranges::all_of(main->params(), [](const Var& param) { return is_static(type_of(*param)); });
  }

  ProfileReport predicted(const FoundPredictor& found, const std::vector<std::string>& shapes, Io& io) const {
    ModelFlags flags = flags_;
    flags.shapes = shapes;
    ProfileReport report;
    const BuiltModel planned = build_model(
        flags, io, nullptr,
        [&](const IRModule& module, const BuildOptions& how) {
          report = run_predict(command_, found.predictor, found.path, module, how);
          return BuildResult();
        },
        /*programs=*/true);
    static_cast<ReportHead&>(report) = report_head(planned.model, flags_.opt_level);
    add_source_files(report);
    return report;
  }

  ModelFlags flags_;
  PredictCommand command_;
  ProfileOutputs outputs_;
};

}  // namespace

std::unique_ptr<Verb> predict_verb(std::string name, std::string doc) {
  return std::make_unique<PredictVerb>(std::move(name), std::move(doc));
}

}  // namespace baton::cli
