#pragma once
// From whole builds of a model, each by one backend, to a mapping problem: what each backend fuses is a
// candidate at its measured or predicted time, in the layouts that it has there.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/driver/origins/operator_record.h"
#include "baton/map/problem.h"
#include "baton/runtime/plan.h"

namespace baton {

/// The model built by one backend, and the time of each node of the plan.
struct BackendBuild {
  std::string backend;
  int device = 0;  ///< index into ModelPrices::devices
  std::shared_ptr<const Plan> plan;
  OriginReport origins;
  std::vector<double> node_us;     ///< by node; 0 of inputs
  MappingConversion layout;        ///< between its blocked layouts and the source program's, on its device
  std::vector<double> node_bytes;  ///< by node: of its constants on the device; may be empty
};

struct ModelPrices {
  std::vector<std::string> devices;  ///< the first has the inputs and gets the results
  std::vector<std::vector<std::optional<MappingConversion>>>
      links;                          ///< [from][to] between memories of devices
  std::vector<double> memory_limits;  ///< bytes per device; 0: none
  /// The time of some operators of a build's group as a kernel of their own; nullopt: not known.
  std::function<std::optional<double>(size_t build, const std::vector<uint32_t>& operators)> piece_us = {};
};

struct ModelProblem {
  MappingProblem problem;
  std::vector<std::vector<uint32_t>> operators;  ///< of each node of the problem, ascending
  struct Candidate {
    size_t build = 0;
    std::vector<uint32_t> nodes;  ///< of that build's plan; empty: a piece of a group
  };
  std::vector<Candidate> candidates;  ///< as those of the problem
  std::vector<uint32_t>
      values;  ///< the operator that makes each value of the problem; those given: UINT32_MAX
  /// Parts of groups that have no price, so that they are no candidates.
  struct Piece {
    size_t build;
    std::vector<uint32_t> operators;
  };
  std::vector<Piece> without_price;

  /// The candidates that make up the whole build.
  std::vector<int> whole(size_t build) const;
};

/// All builds are of one source program. Throws Error when they are not, or when a plan has no origins.
ModelProblem model_problem(const std::vector<BackendBuild>& builds, const ModelPrices& prices);

}  // namespace baton
