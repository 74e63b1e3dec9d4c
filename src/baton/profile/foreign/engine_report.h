#pragma once
// Another engine's profile as one of Baton's reports, so that it is shown, written and drawn like them.
#include <string>
#include <vector>

#include "baton/profile/foreign/join.h"
#include "baton/profile/report/rows.h"

namespace baton {

/// Steps are kernels, nodes of the file operators. A step of several nodes is not split: engines do not say
/// how long each of them takes. `model`: the file as given.
ProfileReport engine_report(const EngineProfile& profile, const std::vector<onnx::SourceNode>& nodes,
                            const std::string& model);

}  // namespace baton
