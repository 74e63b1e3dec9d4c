#pragma once
// What `baton explain` prints, section by section; each ends with a newline.
#include <string>
#include <vector>

#include "baton/cli/explain/explain_subject.h"

namespace baton::cli {

/// One line: the operator and where it ended.
std::string summary_line(const Subject& subject, uint32_t id);

/// The operator's line, types, inputs, what every pass did to it, what it was fused with and why, where it
/// ended.
std::string operator_section(const Subject& subject, uint32_t id);

/// A kernel and the nodes that call it (not empty): operators of each, fusion, code, Relay.
std::string kernel_section(const Subject& subject, const std::vector<uint32_t>& nodes);

}  // namespace baton::cli
