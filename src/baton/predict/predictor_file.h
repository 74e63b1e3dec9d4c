#pragma once
// A predictor as one file: a line that says what it is, a checksum, and, compressed, JSON with the model card
// and the trees.
#include <string>

#include "baton/predict/predictor.h"
#include "baton/support/json.h"

namespace baton {

constexpr int kPredictorFormat = 5;

std::string predictor_bytes(const Predictor& predictor);
/// `shown`: the file's name, in errors. Throws Error when it is no predictor, damaged, of a newer format or
/// of other features.
Predictor parse_predictor(const std::string& bytes, const std::string& shown);

/// Replaces the file atomically.
void save_predictor(const Predictor& predictor, const std::string& path);
Predictor load_predictor(const std::string& path);

/// The card as JSON, with the accuracy table where it was evaluated.
Json card_json(const ModelCard& card);

}  // namespace baton
