#pragma once
// `baton map`: mappings over backends, and sweeps over other machines.
#include <functional>
#include <string>
#include <vector>

#include "baton/map/model/sweep.h"
#include "baton/support/options/flags.h"

namespace baton {

/// A predictor that the caller has opened.
struct OpenedPredictor {
  std::shared_ptr<const Predictor> predictor = {};
  std::string name = {};  ///< in errors
};

struct MapCommand {
  /// Of its members the options set some; the caller sets `build` and what it has in another form: rules,
  /// limits of memory. Those of prices are set by the members below.
  MapOptions options;
  std::vector<std::string> pins, forbids, memory, also, sweeps;
  std::string objective = "serial", predictor, for_device, prices, store;
  bool measure = true;                  ///< unless there is a `predictor`
  OpenedPredictor opened;               ///< in place of the file of `predictor` or `prices`
  std::function<void()> ready = [] {};  ///< called when all is checked

  void add(Flags& flags);
  bool measures() const { return measure && predictor.empty(); }
  /// Throws UsageError for options that contradict each other.
  void check() const;
};

struct SweptMap {
  MapResult result;
  std::vector<MapSweep> sweeps = {};
};

/// As map_model() and sweep(). `name`: of the model.
SweptMap run_map(MapCommand command, const IRModule& module, const std::string& name);

}  // namespace baton
