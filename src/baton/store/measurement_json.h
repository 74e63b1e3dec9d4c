#pragma once
// A measurement as one line of JSON: what `baton store export` writes and processes send each other. The
// format is a contract: design note 0036.
#include <string>
#include <string_view>

#include "baton/store/measurement.h"
#include "baton/support/json.h"

namespace baton {

Json measurement_json(const Measurement& measurement);
/// The inverse. Throws Error for what is missing, malformed, or of another version.
Measurement read_measurement(const Json& json);

/// One line, without its end. Every double is written in digits that read back as the same one; bytes that
/// are not UTF-8 are replaced.
std::string measurement_line(const Measurement& measurement);
/// The inverse. Throws Error.
Measurement measurement_from_line(std::string_view line);

}  // namespace baton
