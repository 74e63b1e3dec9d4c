#pragma once
// `baton probe`: a predictor of this machine in five minutes. Measures the networks and kernels that tell
// most, and carries a predictor of another machine over.
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baton/predict/predictor.h"
#include "baton/support/options/flags.h"

namespace baton {

struct ProbeProgress {
  std::string phase;        ///< "measuring"
  int done = 0, total = 0;  ///< 0: not known
  std::optional<double> seconds_left = {};
};

struct ProbeCommand {
  double minutes = 5;
  int kernels = 50, networks = 40;
  std::string from, name, output;
  int seed = 1;
  bool again = false;       ///< what an earlier call has measured is not taken
  bool under_load = false;  ///< rates that were measured beside other programs are taken
  std::function<void(const ProbeProgress&)> progress = {};
  const std::atomic<bool>* interrupt = nullptr;

  void add(Flags& flags);
};

struct ProbeReport {
  std::string path;   ///< of the predictor; empty: it was not made, `partial` says why
  std::string store;  ///< what was measured: the same command goes on from there
  std::string device, from;
  DeviceSheet sheet;
  std::string busy;               ///< what disturbed the measuring of the rates; empty: nothing did
  int networks = 0, kernels = 0;  ///< programs that were chosen
  double doubt_left = 1;          ///< of the variance, by the choice
  int measured = 0, measured_before = 0, failed = 0;
  int64_t rows = 0;                         ///< times of kernels and networks
  std::map<std::string, int64_t> left_out;  ///< of these, by reason
  double seconds = 0, measure_s = 0;
  std::string partial;  ///< why not all that was chosen is measured: "interrupted", "time"; empty: it is
  ModelCard card;       ///< of the predictor, with the errors on what each member had not seen

  /// The part of the times that other programs spoiled.
  double spoiled() const;
};

/// Throws Error where the machine is busy (unless `under_load`), where XGBoost is missing, the file cannot be
/// written, and where nothing can be measured or learned.
ProbeReport run_probe(const ProbeCommand& command);

Json probe_json(const ProbeReport& report);

}  // namespace baton
