#pragma once
// Maps a model onto several backends: prices by measuring each of them, or by a predictor; the search; and
// the check, in which the best mappings and every single backend are built and measured in turns. See
// docs/design/0040-mapping.md.
#include <vector>

#include "baton/driver/origins/operator_record.h"
#include "baton/map/model/map_report.h"
#include "baton/map/model/map_task.h"
#include "baton/map/model_problem.h"

namespace baton {

struct MapResult {
  MapReport report;
  ModelProblem priced;  ///< with the prices found
  /// By backend: the candidates of the model on it alone, with the processor for what it does not take;
  /// empty: not known.
  std::vector<std::vector<int>> singles;
  std::vector<std::vector<int>> known;  ///< the candidates of all mappings that were priced as a whole
  OriginReport origins;                 ///< the operators of the program and their edges
  IRModule module;                      ///< partitioned as chosen; weights are constants
};

/// `module`: typed. Throws Error for rules that contradict each other or leave an operator without a backend,
/// for costs that are not known, zero or infinite, and when nothing could be built; Interrupted when nothing
/// was measured yet.
MapResult map_model(const IRModule& module, const MapOptions& options);

}  // namespace baton
