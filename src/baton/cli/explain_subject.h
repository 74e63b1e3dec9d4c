#pragma once
// What `baton explain` explains: a model that goes through the passes of a build, or an artifact.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/cli/common.h"
#include "baton/driver/build.h"
#include "baton/driver/origins/operator_map.h"

namespace baton::cli {

/// What is known of a compiled kernel. An artifact knows less: what is empty there.
struct KernelFacts {
  std::string relay;  ///< the fused function, each call with the operators it comes from; empty: artifact
  std::string template_name;                        ///< empty: it is no code (a reshape in place)
  std::vector<std::pair<std::string, int>> params;  ///< of the template
  std::optional<std::vector<std::string>> skipped;  ///< "template: why it was not taken"; none: artifact
  std::optional<double> flops, bytes;
};

/// What a pass did with an operator.
struct Step {
  std::string pass, change;
};

struct Subject {
  std::string name;
  OperatorMap map;
  std::string version;  ///< of Baton that built it
  // A model.
  IRModule optimized;
  GraphPlan plan;
  std::vector<std::vector<Step>> steps;  ///< by operator
  std::vector<std::string> ends;         ///< by node: why what uses its result is not in it; may be empty
  // An artifact.
  std::shared_ptr<const Artifact> artifact;

  /// A request for the kernel that `node` calls; none for an artifact, an input, or a reshape in place.
  std::optional<KernelRequest> request(uint32_t node) const;
  /// Compiles the kernel, unless it is in the cache, or reads the artifact's meta.json.
  KernelFacts facts(uint32_t node) const;
};

/// Throws Error for what cannot be loaded: a file that is no artifact, one of another version or without
/// origins.
Subject load_subject(const ModelFlags& flags);

}  // namespace baton::cli
