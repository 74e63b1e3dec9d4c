#pragma once
// Prices of parts of fused groups, as kernels of their own: by a store, by a predictor, or by building and
// measuring them alone.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baton/clock/disturbance.h"
#include "baton/driver/build.h"
#include "baton/driver/cut/cut_graph.h"
#include "baton/map/model/price_source.h"
#include "baton/map/model/priced_problem.h"

namespace baton {

struct PieceOptions {
  BuildOptions build;
  std::string host;
  int threads = 0;
  PriceSource prices;    ///< asked first
  bool measures = true;  ///< builds and measures what no source has
  double seconds = 0.1;  ///< for measuring each
  SystemSource system = read_system;
};

class PiecePrices {
 public:
  /// `module`: typed, with its weights as constants.
  PiecePrices(const IRModule& module, PieceOptions options) : module_(module), options_(std::move(options)) {}

  /// The time of these operators on `backend` as a program of its own, in microseconds, changes of layout
  /// included and copies not; nullopt: they are no program of their own, the backend does not take all of
  /// them, or no source has a price. Throws Interrupted.
  std::optional<double> price(const std::string& backend, const std::vector<uint32_t>& operators);
  int measured() const { return measured_; }

 private:
  std::optional<double> found(const std::string& backend, const IRModule& piece);

  const IRModule module_;
  const PieceOptions options_;
  std::optional<CutGraph> graph_;
  std::map<std::pair<std::string, uint64_t>, std::optional<double>> known_;  ///< by backend and program
  int measured_ = 0;
};

/// Those that could make a mapping faster: at the least that they could cost, the best mapping would use
/// them. An interrupt ends it.
PieceTimes price_pieces(const MapTask& task, MapRun& run, const MapModels& models, const MapPrices& prices);

}  // namespace baton
