#pragma once
// The subject of `baton explain`: a model compiled through the passes of a build, or an artifact.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/cli/common.h"
#include "baton/driver/build.h"
#include "baton/driver/origins/operator_map.h"
#include "baton/driver/partition_for.h"

namespace baton::cli {

/// Facts about a compiled kernel. For an artifact some are empty.
struct KernelFacts {
  std::string relay;          ///< the fused function, each call with its origins; empty: artifact
  std::string template_name;  ///< empty: no code (a reshape in place)
  std::vector<std::pair<std::string, int>> params;  ///< of the template
  std::vector<ExtentCase> cases;  ///< of symbolic extents, with their names; empty: one schedule for all
  std::string chosen_by;          ///< who chose the schedule, and what came second; empty: artifact
  std::optional<std::vector<std::string>> skipped;  ///< "template: why it was not taken"; none: no code
  std::optional<double> flops, bytes;
};

/// The effect of a pass on an operator.
struct Step {
  std::string pass, change;
};

struct Subject {
  std::string name;
  OperatorMap map;
  std::string version;  ///< the Baton version that built it
  // For a model.
  IRModule optimized;
  GraphPlan plan;
  std::vector<std::vector<Step>> steps;  ///< by operator
  std::vector<std::string> ends;         ///< by node: why its users are not fused with it; may be empty
  bool strict = false;                   ///< --precision strict
  BuildContext context;                  ///< of the build
  /// By operator: the primitives of a library's region that compute it, and changes of layout made for them:
  /// "convolution by jit:avx512_core, aBcd16b ABcd16b16a -> aBcd16b, step 2 of tvmgen_default_dnnl_main_0".
  std::vector<std::vector<std::string>> primitives;
  /// By the name of each backend that was asked, and operator: whether it takes it.
  std::vector<std::pair<std::string, std::vector<TakenOperator>>> taken;
  // For an artifact.
  std::shared_ptr<const Artifact> artifact;

  /// The device that the kernels are compiled for: that of the first target. Null: an artifact's.
  const DeviceSheet* device() const;
  /// The request for the kernel called by `node`; nullopt for an artifact, an input, or a reshape in place.
  std::optional<KernelRequest> request(uint32_t node) const;
  /// Compiles the kernel, unless it is cached, or reads the artifact's meta.json.
  KernelFacts facts(uint32_t node) const;
};

/// A model that is no plan is compiled as a program of the virtual machine. Throws Error for files that are
/// not artifacts, have another version, or have no origins.
/// `backends`: those to be asked which operators they take; UsageError for unknown ones, and for an artifact.
Subject load_subject(const ModelFlags& flags, const std::vector<std::string>& backends = {});

}  // namespace baton::cli
