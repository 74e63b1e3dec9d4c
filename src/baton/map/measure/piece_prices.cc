#include "baton/map/measure/piece_prices.h"

#include <cmath>

#include "baton/driver/cut/cut.h"
#include "baton/driver/mapping/mapping.h"
#include "baton/ir/structural.h"
#include "baton/map/measure/subject.h"
#include "baton/profile/compare/offload.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"

namespace baton {

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

}  // namespace baton
