#pragma once
// What the user demands of a mapping, and whether it can be kept.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/map/model_problem.h"

namespace baton {

/// Operators that a backend has to compute, or must not.
struct MapRule {
  std::string text;  ///< as the user gave it: "--pin %3,%5=dnnl"
  std::string backend;
  std::vector<uint32_t> operators;  ///< ids, ascending
  bool forbids = false;
};

/// Throws UsageError, naming the operator and both rules, for one that is pinned to two backends, pinned and
/// forbidden, or forbidden everywhere; and for a rule of a backend that is not among `backends`.
void check_rules(const std::vector<MapRule>& rules, const std::vector<std::string>& backends,
                 const OriginTable& table);

/// Pinned operators go where they have to, also beside a single backend; forbidden ones to the processor, the
/// first of `backends`. `backend_of`: by operator.
void restrict_to_rules(const std::vector<MapRule>& rules, const std::vector<std::string>& backends,
                       std::vector<int>& backend_of);

/// Whether the rules let `backend` compute the operator.
bool allows(const std::vector<MapRule>& rules, const std::string& backend, uint32_t id);

/// Why a search found nothing: the limits of memory and the rules that it had to keep.
std::string no_mapping_text(const std::vector<MapRule>& rules, const ModelPrices& prices);

/// Regions as they will be merged: neighbours of one backend beside the processor, the first. `backend_of`:
/// by operator; negative: no kernel computes it.
std::vector<std::set<uint32_t>> regions_of(const std::vector<int>& backend_of, const OriginReport& origins);

}  // namespace baton
