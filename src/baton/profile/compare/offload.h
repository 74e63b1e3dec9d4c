#pragma once
// Programs to compare a fused function on several backends: the kernel of the base build alone, and its
// source operators compiled by another backend, with copies in and out.
#include <optional>
#include <string>
#include <vector>

#include "baton/driver/build.h"
#include "baton/driver/cut/cut.h"

namespace baton {

/// A backend to compare.
struct ComparedBackend {
  BackendRef record;
  TargetRef target;     ///< what its programs are built for; the host's for a backend of regions only
  int device_type = 1;  ///< where its kernels' tensors are: DLPack's number

  const std::string& name() const { return record->name; }
  bool regions_only() const { return record->kind.empty(); }
};

/// The named backends. Targets of `context` are used for those of their kind. UsageError for fewer than two,
/// for a repeated and for an unknown name, suggesting the nearest; Error for one whose runtime half or device
/// is missing here.
std::vector<ComparedBackend> compared_backends(const std::vector<std::string>& names,
                                               const BuildContext& context);

/// One of them.
ComparedBackend compared_backend(const std::string& name, const BuildContext& context);

/// The whole program for one backend. For one of regions only: its composites and operators become regions,
/// after normalisations and scales are folded, and the host's backend compiles the rest.
BuildResult build_for(const ComparedBackend& backend, const IRModule& module, const BuildOptions& options);

/// A program that calls the kernel of node `node` of `base` once, with its constants; everything else is an
/// input on the device that has it in `base`.
BuildResult build_alone(const BuildResult& base, uint32_t node, const BuildOptions& options);

/// The cut's program compiled by `to`, its inputs and outputs in the memory of `from`'s device. Throws
/// NotSupported, with the reason, when `to` does not take all of it.
BuildResult build_offloaded(const Cut& cut, const ComparedBackend& from, const ComparedBackend& to,
                            const BuildOptions& options);

/// Changes between the layouts of the tensors that enter and leave node `node` of `base` and those of the
/// source program, computed on the base's device; nullopt when they are equal. `unknown`: tensors whose
/// layout was not recognised are added to it.
std::optional<BuildResult> build_layout_changes(const BuildResult& base, uint32_t node, const Cut& cut,
                                                const ComparedBackend& from, const BuildOptions& options,
                                                std::vector<std::string>& unknown);

/// The constants among the parameters of a cut's main: weights in `params`, and constants of the program.
NamedArrays cut_constants(const Cut& cut, const NamedArrays& params);

}  // namespace baton
