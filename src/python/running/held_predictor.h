#pragma once
// A predictor as held by Python.
#include <memory>
#include <string>

#include "baton/predict/model/predict_model.h"

namespace baton::python {

struct HeldPredictor {
  std::shared_ptr<const Predictor> of;
  std::string name;  ///< in reports
};

}  // namespace baton::python
