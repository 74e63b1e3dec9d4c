#pragma once
// JSON form of a comparison of backends, a part of a profile's: docs/design/0032.
#include <nlohmann/json_fwd.hpp>

#include "baton/profile/report/comparison.h"

namespace baton {

nlohmann::ordered_json comparison_json(const Comparison& comparison);
/// The inverse. Throws Error or nlohmann's exceptions for malformed input.
Comparison read_comparison(const nlohmann::ordered_json& json);

}  // namespace baton
