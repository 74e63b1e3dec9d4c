#pragma once
// Recurrent networks: what LSTM and its quantised form have in common.
#include <functional>

#include "baton/frontend/onnx/conversion.h"

namespace baton::onnx {

/// Products with the weights of one direction.
struct GateProducts {
  /// (length, batch, inputs) with the weights of the inputs.
  std::function<Expr(int64_t direction, const Expr& data)> inputs;
  /// (batch, hidden) with the recurrent weights.
  std::function<Expr(int64_t direction, const Expr& hidden)> hidden;
};

/// Where the inputs of an LSTM are, whose first one is the data.
struct LstmInputs {
  size_t bias = 3, lengths = 4, hidden = 5, cell = 6, peepholes = 7;
};

Values lstm_by(Conversion& c, const GateProducts& products, const LstmInputs& at, int64_t hidden_size);

}  // namespace baton::onnx
