#pragma once
#include <string>

#include "baton/profile/write/tables.h"

namespace baton {

/// A table as RFC 4180 has it: a line of names, CR LF after every line, quotes around what holds a comma, a
/// quote or a line end. Numbers in full precision with a point; flags are true and false; ids stand with
/// spaces between them; what is not known is empty. UTF-8, no byte order mark.
std::string csv(const ReportTable& table);

}  // namespace baton
