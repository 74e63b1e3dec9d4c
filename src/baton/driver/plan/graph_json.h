#pragma once
// Serializes a plan as graph.json, in TVM's format. Parsed by Plan::parse().
#include <string>

#include "baton/runtime/plan.h"

namespace baton {

std::string graph_json(const Plan& plan);

}  // namespace baton
