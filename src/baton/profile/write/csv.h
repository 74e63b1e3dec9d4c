#pragma once
#include <string>

#include "baton/profile/write/tables.h"

namespace baton {

/// A table in RFC 4180 format: a header line, CR LF line ends, quotes around cells with a comma, a quote or a
/// line end. Numbers in full precision with a decimal point; flags are true and false; ids are separated by
/// spaces; unknown values are empty. UTF-8, no byte order mark.
std::string csv(const ReportTable& table);

}  // namespace baton
