#pragma once
// Where prices come from that are not measured now.
#include "baton/predict/model/predicted_device.h"
#include "baton/predict/predictor.h"
#include "baton/store/store.h"

namespace baton {

/// Kernels that the store has are priced by it, the others by the predictor. Null: there is none.
struct PriceSource {
  const Predictor* predictor = nullptr;
  PredictedDevice device;  ///< whose times the predictor tells
  const Store* store = nullptr;
  bool any() const { return predictor || store; }
};

}  // namespace baton
