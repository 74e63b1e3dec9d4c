#pragma once
// From builds of a model, each in another division over the backends, to a mapping problem: what a backend
// fuses in one of them is a candidate at its measured or predicted time, in the layouts that it has there.
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baton/driver/origins/operator_record.h"
#include "baton/map/problem.h"
#include "baton/runtime/plan.h"
#include "baton/schedule/layer_variant.h"

namespace baton {

/// A backend that may compute operators.
struct MappedBackend {
  std::string name;
  int device = 0;            ///< index into ModelPrices::devices
  MappingConversion layout;  ///< between its blocked layouts and the source program's, on its device
};

/// The model built in some division over the backends, and the time of each node of the plan.
struct MeasuredBuild {
  std::string name;
  std::shared_ptr<const Plan> plan;
  OriginReport origins;
  std::vector<double> node_us = {};     ///< by node; 0 of inputs; not a number: not known
  std::vector<int> node_backend = {};   ///< by node: index into ModelPrices::backends; empty: 0 for all
  std::vector<double> node_bytes = {};  ///< by node: that it needs of its device's memory; may be empty
  std::vector<bool> constants = {};     ///< by node: an input whose value is part of the model; may be empty
  /// By node: a hash of its kernel, so that the same one is known in another build; 0: not known; may be
  /// empty.
  std::vector<uint64_t> node_kernel = {};
  std::vector<LayerVariant> node_variant = {};  ///< by node: of its layer; may be empty
};

struct ModelPrices {
  std::vector<MappedBackend> backends;  ///< the first computes whatever no other takes
  std::vector<std::string> devices;     ///< the first has the inputs and gets the results
  std::vector<std::vector<std::optional<MappingConversion>>>
      links;                          ///< [from][to] between memories of devices
  std::vector<double> memory_limits;  ///< bytes per device; 0: none
  /// The time of some operators of a build's group as a kernel of their own, in the source program's layouts;
  /// nullopt: not known.
  std::function<std::optional<double>(size_t backend, const std::vector<uint32_t>& operators)> piece_us = {};
  /// Whether such a part without a price is a candidate nevertheless, at the least that it could cost: its
  /// share of the group by operations. To find which prices matter; null: none is.
  std::function<bool(size_t backend, const std::vector<uint32_t>& operators)> guesses_piece = {};
  /// Whether a backend may compute an operator; null: all may.
  std::function<bool(size_t backend, uint32_t id)> allowed = {};
};

struct ModelProblem {
  MappingProblem problem;
  std::vector<std::vector<uint32_t>> operators;  ///< of each node of the problem, ascending
  struct Candidate {
    size_t backend = 0, build = 0;                 ///< of several builds that have it, the first
    std::vector<uint32_t> nodes;                   ///< of that build's plan; empty: a piece of a group
    LayerVariant variant = LayerVariant::kByCost;  ///< of the layer that it computes
    bool guessed = false;                          ///< its price is the least it could be
  };
  std::vector<Candidate> candidates;  ///< as those of the problem
  std::vector<uint32_t>
      values;  ///< the operator that makes each value of the problem; those given: UINT32_MAX
  /// Parts of groups that have no price, so that they are no candidates.
  struct Piece {
    size_t backend;
    std::vector<uint32_t> operators;
  };
  std::vector<Piece> without_price;
  /// By build: the candidates that make it up; empty where one is not allowed, or has kernels of two devices.
  std::vector<std::vector<int>> whole;

  /// By operator, of `count`: the index of the backend that a choice gives it to; -1: no kernel computes it.
  std::vector<int> backend_of(std::span<const int> chosen, size_t count) const;
  /// The operators of a candidate, ascending.
  std::vector<uint32_t> operators_of(int candidate) const;
};

/// All builds are of one source program. Throws Error when they are not, when a plan has no origins, or,
/// naming them, when operators have no backend left that is allowed, or no price.
ModelProblem model_problem(const std::vector<MeasuredBuild>& builds, const ModelPrices& prices);

}  // namespace baton
