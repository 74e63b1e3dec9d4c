#include "baton/map/model/piece_prices.h"

#include <cmath>

#include "baton/driver/cut/cut.h"
#include "baton/driver/mapping/mapping.h"
#include "baton/ir/structural.h"
#include "baton/map/frontier.h"
#include "baton/map/model/subject.h"
#include "baton/profile/compare/offload.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"

namespace baton {

namespace {

// Compiling included: a part of the time for measuring, and this.
constexpr double kForPieces = 0.1, kPieceSeconds = 5;
constexpr int kMostMeasuredPieces = 16;

}  // namespace

std::optional<double> PiecePrices::price(const std::string& backend, const std::vector<uint32_t>& operators) {
  try {
    if (!graph_) graph_.emplace(cut_source(module_, options_.build.context));
    std::vector<ChosenOperator> wanted;
    for (const uint32_t id : operators)
      wanted.push_back({&module_->origins().at(OriginId(id)), "a part of a group"});
    const Cut cut = cut_out(*graph_, choose_steps(*graph_, wanted, [] { return CutPlan(); }));
    // Whatever the values of its weights.
    const auto key = std::pair(backend, structural_hash(Expr(cut.module->find("main"))));
    if (const auto at = known_.find(key); at != known_.end()) return at->second;
    return known_[key] = found(backend, bind_params(cut.module, cut_constants(cut, {})));
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception&) {  // not convex, or nothing that the backend compiles
    return std::nullopt;
  }
}

std::optional<double> PiecePrices::found(const std::string& backend, const IRModule& piece) {
  const std::vector<std::string> there(piece->origins().size(), backend);
  const IRModule split = apply_mapping(piece, there, {}, options_.host, options_.build.context);
  const auto is_taken = [&](const MapSubject& subject) {
    const std::vector<int> owners = subject.owners({options_.host, backend}, there.size());
    return backend == options_.host || std::ranges::count(owners, 0) == 0;
  };
  if (options_.prices.any()) {
    MapSubject planned(split, options_.build, options_.threads, /*code=*/false);
    if (!is_taken(planned)) return std::nullopt;
    planned.predict(options_.prices, options_.threads, options_.build.context);
    if (const double us = planned.kernels_us(); std::isfinite(us) && us > 0) return us;
  }
  if (!options_.measures) return std::nullopt;
  MapSubject subject(split, options_.build, options_.threads, /*code=*/true);
  if (!is_taken(subject)) return std::nullopt;
  MeasureOptions how;
  how.rounds = 3;
  how.max_seconds = options_.seconds;
  how.min_seconds = options_.seconds / 2;
  how.interrupt = options_.build.context.interrupt;
  how.system = options_.system;
  how.exchange = [](int) { return std::nullopt; };
  const std::vector<MeasuredModel> models{subject.measured(MapObjective::kSerial)};
  subject.set_times(measure_in_turns(models, how).front());
  ++measured_;
  const double us = subject.kernels_us();
  return us > 0 ? std::optional(us) : std::nullopt;
}

PieceTimes price_pieces(const MapTask& task, MapRun& run, const MapModels& models, const MapPrices& prices) {
  MapPrices known = prices;
  if (!run.partial.empty()) return known.pieces;
  PiecePrices alone(task.module, {.build = run.build,
                                  .host = task.host,
                                  .threads = task.options.threads,
                                  .prices = task.options.prices,
                                  .measures = task.options.measures,
                                  .seconds = task.options.max_seconds * kForPieces / kMostMeasuredPieces,
                                  .system = task.options.system});
  const int64_t begin = monotonic_ns();
  const double limit_s = kPieceSeconds + task.options.max_seconds * kForPieces;
  try {
    for (bool any = true; any;) {
      any = false;
      const ModelProblem model = priced_problem(task, models, known, {}, /*guesses=*/true);
      const auto best = search_frontier(model.problem, {.interrupt = run.build.context.interrupt});
      for (const int c : best ? best->chosen : std::vector<int>()) {
        const ModelProblem::Candidate& candidate = model.candidates[static_cast<size_t>(c)];
        if (!candidate.guessed) continue;
        if (seconds_since(begin) > limit_s || alone.measured() >= kMostMeasuredPieces) {
          run.notes.push_back("some parts of fused groups have no price: the time for them was over");
          return known.pieces;
        }
        any = true;
        task.show("pricing parts of kernels", static_cast<int>(seconds_since(begin)),
                  static_cast<int>(limit_s) + 1);
        const std::vector<uint32_t> operators = model.operators_of(c);
        known.pieces[{candidate.backend, operators}] =
            alone.price(task.backends[candidate.backend], operators);
      }
    }
  } catch (const Interrupted&) {
    run.partial = "interrupted";
  }
  return known.pieces;
}

}  // namespace baton
