#pragma once
// Splits a program between a backend of regions and the rest, and tells which operators the backend takes.
#include <string>
#include <vector>

#include "baton/byoc/annotate_target.h"
#include "baton/codegen/backend.h"
#include "baton/ir/module.h"
#include "baton/pass/build_context.h"

namespace baton {

struct PartitionOptions {
  std::string mod_name = "default";  ///< part of the names of regions
  bool lower_qnn = false;            ///< makes integer operators of quantised ones first
  bool merge = true;                 ///< makes one region of neighbouring ones
};

/// What is compared with a backend's operators: typed, normalisations simplified and scales folded into
/// weights, composites of `backend` outlined, if it has a pattern table.
IRModule prepared_for_regions(const IRModule& module, const std::string& backend, const BuildContext& context,
                              bool lower_qnn = false);

/// The program with functions for the regions that `backend` takes: its composites and operators; of a code
/// generator without a list of operators whatever it compiles.
IRModule partition_for(const IRModule& module, const std::string& backend, const BuildContext& context,
                       const PartitionOptions& options = {});

/// The same for several backends, of the calls that `may` gives to each: composites are made only of calls
/// that all are its own. What a backend does not take, and what `may` gives to none, stays outside regions.
/// `may` sees calls of the simplified program, whose origins are those of `module`.
IRModule partition_among(const IRModule& module, const std::vector<std::string>& backends,
                         const MayCompute& may, const BuildContext& context,
                         const PartitionOptions& options = {});

/// Whether a backend takes an operator of the source.
struct TakenOperator {
  bool met = false;    ///< some call still computes it
  bool taken = false;  ///< the backend takes a call that computes it
  std::string how;     ///< taken: "in the composite dnnl.conv2d_bias_relu", or ""; else why it is not
};

/// By operator id of `module`: what partition_for() gives to `backend`, with its reasons for the rest.
/// `module`: typed.
std::vector<TakenOperator> taken_operators(const IRModule& module, const Backend& backend,
                                           const BuildContext& context);

}  // namespace baton
