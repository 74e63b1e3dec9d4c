#include <algorithm>
#include <filesystem>
#include <optional>

#include "baton/cli/common.h"
#include "baton/cli/lab/feature_tables.h"
#include "baton/cli/outputs.h"
#include "baton/driver/initialize.h"
#include "baton/predict/evaluation.h"
#include "baton/predict/predictor_file.h"
#include "baton/profile/write/csv.h"
#include "baton/profile/write/files.h"
#include "baton/store/store.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton::cli {

namespace {

class TrainVerb final : public Verb {
 public:
  using Verb::Verb;

  void flags(Flags& flags) override {
    flags.option("store", &store_, "measurements of kernels, and of the models that they are from")
        .required();
    flags.option("o,output", &output_, "the predictor's file");
    flags.option("name", &options_.name,
                 "of the device, for `--for-device`; by default those of the machines in the store");
    flags.option("backend", &backend_, "kernels of this backend only: llvm, dnnl, opencl, sim_npu");
    flags.option(
        "from", &from_,
        "a predictor of another device: carried over to the device of the store, whose few kernels (50 to "
        "200) correct it; the accuracy by their number is printed beside training from nothing");
    flags.flag(
        "evaluate", &evaluate_,
        "hold out models and families, and print how good predictions are, beside simpler predictors and the "
        "noise of the measurements; kept in the file's card");
    flags.option("report", &report_, "with --evaluate: a page with calibration plots, FILE.html");
    features_.add(
        flags, feature_kinds(), "features",
        "what predictors are trained with, for one of your own. How the name ends says what is written:");
    flags.flag("search", &search_, "choose the size of the trees by families held out");
    flags.option("rounds", &options_.regressor.boost.rounds, "trees of each predictor")
        .show_default()
        .range(1, 5000);
    flags.option("eta", &options_.regressor.boost.eta, "how much of an error each tree corrects")
        .show_default()
        .range(0.001, 1);
    flags.option("depth", &options_.regressor.boost.depth, "of a tree").show_default().range(1, 12);
    flags.option("seed", &seed_, "the same seed and store, the same predictor")
        .show_default()
        .range(0, 1000000);
    flags.option("threads", &options_.regressor.boost.threads, "for training").show_default().range(1, 256);
    flags.flag("json", &json_, "one JSON object on standard output: the card, with the accuracy");
  }

  int run(Io& io) override {
    const bool trains = !output_.empty() || evaluate_;
    if (!trains && !features_.any())
      throw UsageError("there is nothing to do: give -o FILE, --evaluate or --features FILE.csv");
    if (!report_.empty() && !evaluate_) throw UsageError("--report shows an evaluation: give --evaluate too");
    if (!trains)
      refuse_options(io, {"name", "from", "search", "rounds", "eta", "depth", "seed", "threads", "json"},
                     "--features alone trains nothing");
    if (search_) refuse_options(io, {"depth"}, "--search chooses it");
    for (const std::string& path : {output_, report_})
      if (!path.empty()) check_writable(path);
    features_.check();
    if (const std::string why = trains ? no_xgboost() : ""; !why.empty()) throw Error(why);
    initialize();
    Progress progress(io);
    options_.seed = options_.regressor.boost.seed = static_cast<uint32_t>(seed_);
    options_.only_backend = backend_;
    options_.progress = [&](const std::string& what, int done, int total) {
      progress.show(what, done, total);
    };
    const Dataset data = dataset_of(Store::open(store_, Store::Mode::kRead), backend_);
    if (features_.any()) write_features(io, data);
    if (!trains) return 0;
    if (!from_.empty()) options_.from = std::make_shared<const Predictor>(load_predictor(from_));
    if (search_) options_.regressor.boost = best_options(data, candidates(), options_);
    TrainOptions whole = options_;
    if (options_.from) whole.regressor.boost = few_kernels_options(whole.regressor.boost);
    Predictor predictor = train(data, whole);
    std::optional<Evaluation> evaluation;
    if (evaluate_) {
      evaluation = evaluate(data, EvaluateOptions{whole});
      predictor.card.accuracy = evaluation_json(*evaluation);
    }
    std::vector<CarryRow> curve;
    if (options_.from)
      for (const auto& [backend, regressor] : predictor.kernels) {
        constexpr int kSizes[] = {0, 50, 100, 200};
        const auto rows = carry_curve(data, backend, options_.from, kSizes, options_);
        curve.insert(curve.end(), rows.begin(), rows.end());
      }
    progress.clear();
    if (!output_.empty()) save_predictor(predictor, output_);
    if (!report_.empty()) write_file(report_, evaluation_page(*evaluation, predictor));
    json_ ? print_json(io, predictor, curve) : print(io, predictor, evaluation, curve);
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

  std::vector<BoostOptions> candidates() const {
    std::vector<BoostOptions> all;
    for (const int depth : {5, 7, 9})
      for (const double least : {1.0, 4.0}) {
        all.push_back(options_.regressor.boost);
        all.back().depth = depth;
        all.back().min_child_weight = least;
      }
    return all;
  }

  void print(Io& io, const Predictor& predictor, const std::optional<Evaluation>& evaluation,
             const std::vector<CarryRow>& curve) const {
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

  void print_json(Io& io, const Predictor& predictor, const std::vector<CarryRow>& curve) const {
    Json json = card_json(predictor.card);
    Json importance = Json::object();
    for (const auto& [backend, regressor] : predictor.kernels)
      for (const auto& [feature, part] : regressor.importance()) importance[backend][feature] = part;
    json["importance"] = importance;
    Json& rows = json["carried"] = Json::array();
    for (const CarryRow& row : curve)
      rows.push_back(
          {{"kernels", row.kernels},
           {"carried_median_error", row.carried.median_error},
           {"carried_within_10", row.carried.within_10},
           {"scratch_median_error", row.scratch.count ? Json(row.scratch.median_error) : Json(nullptr)},
           {"scratch_within_10", row.scratch.count ? Json(row.scratch.within_10) : Json(nullptr)}});
    io.out << json.dump() << '\n';
  }

  std::string store_, output_, backend_, from_, report_;
  OutputFiles features_;
  TrainOptions options_;
  int seed_ = 1;
  bool evaluate_ = false, search_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> train_verb(std::string name, std::string doc) {
  return std::make_unique<TrainVerb>(std::move(name), std::move(doc));
}

}  // namespace baton::cli
