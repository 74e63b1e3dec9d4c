#pragma once
// What is cut out, as text that can be read back.
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "baton/driver/cut/cut.h"

namespace baton {

/// Types, no spans; constants that are no scalars with their values.
std::string readable_text(const IRModuleNode& module);

/// The same of a cut, with `title` and its operators, inputs and outputs in comments.
std::string cut_text(const Cut& cut, const std::string& title);

/// For machines: id, op, name, line, column, why.
nlohmann::ordered_json operators_json(const OriginTable& table, const std::vector<CutOperator>& operators);

}  // namespace baton
