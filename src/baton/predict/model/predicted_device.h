#pragma once
// The device whose times are predicted: this machine, if the predictor was trained there, or another one that
// was asked for by name; and the predictors that come with Baton.
#include <map>
#include <string>

#include "baton/pass/build_context.h"
#include "baton/predict/predictor.h"

namespace baton {

struct PredictedDevice {
  std::map<std::string, DeviceSheet> sheets;  ///< by backend
  std::string title;    ///< "AMD EPYC (znver5)"; of another machine its name first: "zen5: AMD EPYC (znver5)"
  bool is_here = true;  ///< it is this machine
};

/// `here`: the sheet of this machine's processor; its rates are measured where they tell (0.1 s, kept for a
/// day). `asked`: as of --for-device; empty: this machine. Throws Error where this machine is none that the
/// predictor was trained on, and for a name that it does not have. `shown`: the predictor's file.
PredictedDevice predicted_device(const Predictor& predictor, const std::string& shown,
                                 const DeviceSheet& here, const std::string& asked);

/// The context with the device's sheets. Throws Error for a target that names another processor than the
/// device's, unless the device was asked for by name.
BuildContext context_of_device(const PredictedDevice& device, BuildContext context);

struct FoundPredictor {
  std::string path;
  Predictor predictor;
};
/// One of the predictors that come with Baton, or lie in the folder of the environment variable
/// BATON_PREDICTORS: that of the device `asked` (Predictor::device_names()), or of this machine. Throws Error
/// that lists what there is.
FoundPredictor find_predictor(const DeviceSheet& here, const std::string& asked);

}  // namespace baton
