#pragma once
// JSON form of a comparison of backends, a part of a profile's: docs/design/0032.
#include "baton/profile/report/comparison.h"
#include "baton/support/json.h"

namespace baton {

Json comparison_json(const Comparison& comparison);
/// The inverse. Throws Error for malformed input.
Comparison read_comparison(const Json& json);

}  // namespace baton
