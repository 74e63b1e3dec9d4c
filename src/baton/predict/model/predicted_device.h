#pragma once
// The device whose times are predicted: this machine, if the predictor was trained there, or another one that
// was asked for by name; and the predictors that come with Baton.
#include <map>
#include <string>
#include <vector>

#include "baton/pass/build_context.h"
#include "baton/predict/predictor.h"

namespace baton {

struct PredictedDevice {
  std::map<std::string, DeviceSheet> sheets;  ///< by backend
  std::string title;    ///< "AMD EPYC (znver5)"; of another machine its name first: "zen5: AMD EPYC (znver5)"
  bool is_here = true;  ///< it is this machine
  /// Why this machine is only like the one in training: times are rescaled by its rates, and their intervals
  /// wider (moved_half()). Empty: it is the same, or another one was asked for.
  std::string rescaled = {};
  std::string busy = {};  ///< what disturbed the measuring of this machine's rates; empty: nothing did
};

/// `here`: the sheet of this machine's processor; its rates are measured where they tell (0.1 s, kept for a
/// day; two seconds beside other programs, and then not kept). `asked`: as of --for-device; empty: this
/// machine. Throws Error where this machine is neither one that the predictor was trained on nor like it, and
/// for a name that it does not have. `shown`: the predictor's file.
PredictedDevice predicted_device(const Predictor& predictor, const std::string& shown,
                                 const DeviceSheet& here, const std::string& asked);

/// Half of an interval, in the logarithm, by what moving a predictor to another machine has cost.
double moved_half(bool whole_model, double level);

/// The context with the device's sheets. Throws Error for a target that names another processor than the
/// device's, unless the device was asked for by name.
BuildContext context_of_device(const PredictedDevice& device, BuildContext context);

struct FoundPredictor {
  std::string path;
  Predictor predictor;
};
/// One of the predictors in user_predictors() and of those that come with Baton, or only of those in the
/// folder of the environment variable BATON_PREDICTORS: that of the device `asked`
/// (Predictor::device_names()), or of this machine, or of one like it. Throws Error that lists what there is.
FoundPredictor find_predictor(const DeviceSheet& here, const std::string& asked);

/// The folder of the user's own predictors, which `baton probe` writes: beside the cache of kernels; empty
/// where there is none.
std::string user_predictors();
/// Those that come with Baton, or that BATON_PREDICTORS names.
std::vector<std::string> shipped_predictors();

/// The sheet of the processor that a predictor's machine was; null: of other devices only.
const DeviceSheet* processor_of(const TrainedMachine& machine);

}  // namespace baton
