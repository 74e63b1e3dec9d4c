#pragma once
// The output of `baton explain`, by section; each ends with a newline.
#include <string>
#include <vector>

#include "baton/cli/explain/explain_subject.h"

namespace baton::cli {

/// "taken, in the composite dnnl.conv2d_relu", "not taken: why".
std::string taken_text(const TakenOperator& taken);

/// One line: the operator and its kernels; and one for each of these that falls back, and for each backend
/// that was asked.
std::string summary_line(const Subject& subject, uint32_t id);

/// The operator's line, types, inputs, the effect of every pass, fusion decisions, and its kernels.
std::string operator_section(const Subject& subject, uint32_t id);

/// A kernel and the nodes that call it (not empty): operators, fusion, code, Relay.
std::string kernel_section(const Subject& subject, const std::vector<uint32_t>& nodes);

}  // namespace baton::cli
