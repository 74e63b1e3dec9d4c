#include <algorithm>

#include "baton/cli/common.h"
#include "baton/cli/lab/feature_tables.h"
#include "baton/cli/outputs.h"
#include "baton/predict/model/run_predict.h"
#include "baton/predict/predictor_file.h"
#include "baton/profile/write/csv.h"
#include "baton/profile/write/files.h"
#include "baton/support/error.h"

namespace baton::cli {

namespace {

class TrainVerb final : public Verb {
 public:
  using Verb::Verb;

  void flags(Flags& flags) override {
    command_.add(flags);
    flags.option("o,output", &output_, "the predictor's file");
    flags.option("report", &report_, "with --evaluate: a page with calibration plots, FILE.html");
    features_.add(
        flags, feature_kinds(), "features",
        "what predictors are trained with, for one of your own. How the name ends says what is written:");
    flags.flag("json", &json_, "one JSON object on standard output: the card, with the accuracy");
  }

  int run(Io& io) override {
    const bool trains = !output_.empty() || command_.evaluate;
    if (!trains && !features_.any())
      throw UsageError("there is nothing to do: give -o FILE, --evaluate or --features FILE.csv");
    if (!report_.empty() && !command_.evaluate)
      throw UsageError("--report shows an evaluation: give --evaluate too");
    if (!trains)
      refuse_options(io, {"name", "from", "search", "rounds", "eta", "depth", "seed", "threads", "json"},
                     "--features alone trains nothing");
    if (command_.search) refuse_options(io, {"depth"}, "--search chooses it");
    for (const std::string& path : {output_, report_})
      if (!path.empty()) check_writable(path);
    features_.check();
    if (const std::string why = trains ? no_xgboost() : ""; !why.empty()) throw Error(why);
    Progress progress(io);
    command_.options.progress = [&](const std::string& what, int done, int total) {
      progress.show(what, done, total);
    };
    command_.curve = true;
    const Dataset data = training_data(command_);
    if (features_.any()) write_features(io, data);
    if (!trains) return 0;
    const Trained made = run_train(command_, data);
    progress.clear();
    if (!output_.empty()) save_predictor(made.predictor, output_);
    if (!report_.empty()) write_file(report_, evaluation_page(*made.evaluation, made.predictor));
    json_ ? print_json(io, made) : print(io, made);
    return 0;
  }

 private:
  void write_features(Io& io, const Dataset& data) {
    const std::vector<ReportTable> tables = feature_tables(data);
    features_.write(io, [&](const WantedFile& file) {
      const ReportTable& table = *std::ranges::find(tables, file.part, &ReportTable::name);
      return file.suffix == ".csv" ? csv(table) : table_json(table).dump();
    });
  }

  void print(Io& io, const Trained& made) const {
    const auto& [predictor, evaluation, curve] = made;
    const ModelCard& card = predictor.card;
    io.out << card.rows << " measurements: " << card.kernels << " kernels, " << card.models << " models of "
           << card.families.size() << (card.families.size() == 1 ? " family\n" : " families\n");
    for (const auto& [why, count] : card.left_out) io.out << "  left out: " << count << ", " << why << '\n';
    if (card.without_clock > 0)
      io.out << "  note: " << card.without_clock
             << " of these times do not say the core's clock and are used as they were measured\n";
    if (card.machines.size() > 1)
      io.out << "  note: of " << card.machines.size()
             << " machines; their device sheets tell their kernels apart\n";
    for (const auto& [backend, regressor] : predictor.kernels)
      io.out << "  " << backend << ": " << regressor.trained_on << " kernels, " << regressor.space.size()
             << " features\n";
    for (const auto& [of, errors] : card.held_out) {
      char text[120];
      std::snprintf(text, sizeof text, "  held out: %lld %s, median error %.1f %%, %.1f %% within 10 %%\n",
                    static_cast<long long>(errors.count), of.c_str(), 100 * errors.median,
                    100 * errors.within_10);
      io.out << text;
    }
    if (card.families.size() == 1) io.out << "  note: one family only: other networks will be out of range\n";
    if (evaluation) {
      io.out << '\n';
      write_evaluation(io.out, *evaluation);
    }
    if (!curve.empty()) {
      io.out << "\ncarried over from " << card.carried_from << '\n';
      write_carry_curve(io.out, curve);
    }
    if (!output_.empty()) io.err << "wrote " << output_ << '\n';
  }

  void print_json(Io& io, const Trained& made) const {
    Json json = card_json(made.predictor.card);
    Json importance = Json::object();
    for (const auto& [backend, regressor] : made.predictor.kernels)
      for (const auto& [feature, part] : regressor.importance()) importance[backend][feature] = part;
    json["importance"] = importance;
    Json& rows = json["carried"] = Json::array();
    for (const CarryRow& row : made.curve)
      rows.push_back(
          {{"kernels", row.kernels},
           {"carried_median_error", row.carried.median_error},
           {"carried_within_10", row.carried.within_10},
           {"scratch_median_error", row.scratch.count ? Json(row.scratch.median_error) : Json(nullptr)},
           {"scratch_within_10", row.scratch.count ? Json(row.scratch.within_10) : Json(nullptr)}});
    io.out << json.dump() << '\n';
  }

  TrainCommand command_;
  std::string output_, report_;
  OutputFiles features_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> train_verb(std::string name, std::string doc) {
  return std::make_unique<TrainVerb>(std::move(name), std::move(doc));
}

}  // namespace baton::cli
