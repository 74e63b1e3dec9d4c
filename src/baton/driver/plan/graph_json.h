#pragma once
// A plan as graph.json, in the format and layout of TVM. Read by Plan::parse().
#include <string>

#include "baton/runtime/plan.h"

namespace baton {

std::string graph_json(const Plan& plan);

}  // namespace baton
