#pragma once
// Which of the models that were compared is kept: the fastest mapping is chosen in some rounds, and judged by
// others, since the rounds that choose among many flatter the one that they choose.
#include <string>
#include <vector>

#include "baton/map/model/map_report.h"

namespace baton {

/// The fastest model and the fastest single backend: by measured times, else modelled ones; of equal ones the
/// first, and single backends come first. `usable`: by model; the others, and those without a time, do not
/// count.
MapChoice choose(const std::vector<MappedModel>& models, const std::vector<bool>& usable, bool predicted);

/// What the choice is to be measured beside: the single backends that may be the best one, the best first.
std::vector<size_t> rivals_of(const std::vector<MappedModel>& models, const std::vector<bool>& usable,
                              const MapChoice& choice);

struct JudgedChoice {
  MapChoice choice;
  std::string note = {};  ///< why the mapping is not kept; empty: it is
};

/// By MappedModel::verified, of which the fastest single backend is the best one. A mapping is kept when it
/// is faster than the fastest of the single backends by more than noise could have made, by energy when it
/// needs that much less of it.
JudgedChoice judge(const std::vector<MappedModel>& models, const MapChoice& choice, MapObjective objective);

}  // namespace baton
