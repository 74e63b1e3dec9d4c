#pragma once
// Cuts as parsable text.
#include <string>
#include <vector>

#include "baton/driver/cut/cut.h"
#include "baton/support/json.h"

namespace baton {

/// With types, without spans; non-scalar constants are printed with their values.
std::string readable_text(const IRModuleNode& module);

/// The same for a cut, with `title`, its operators, inputs and outputs as comments.
std::string cut_text(const Cut& cut, const std::string& title);

/// JSON rows: id, op, name, line, column, why.
Json operators_json(const OriginTable& table, const std::vector<CutOperator>& operators);

}  // namespace baton
