#pragma once
// What ran, as the store knows it: works of fused functions, models and copies. Equal functions of two models
// give equal works.
#include <optional>
#include <string>
#include <vector>

#include "baton/driver/build_result.h"
#include "baton/ir/module.h"
#include "baton/store/measurement.h"

namespace baton {

/// The function in its canonical form: parameters are called %p0, %p1, ..., constants became further
/// parameters (their types matter, not their values), attributes and origins are gone. Typed if `function`
/// is.
Function canonical_function(const Function& function);
/// Its text, which parses: "fn (%p0: Tensor[(1, 64, 56, 56), float32]) -> ... { nn.relu(%p0) }".
std::string canonical_text(const Function& function);
/// The same of a whole module.
std::string canonical_text(const IRModule& module);

/// The operators that a typed function calls, in order of execution, with all attributes. A convolution's
/// kernel size that is None is that of its weight.
std::vector<WorkOperator> operators_of(const Function& function);

/// The work of a typed fused function, with costs by definition (ir/rules/cost.h).
Work kernel_work(const Function& function);
/// The work of a module as it was given; without operators, since kernels have these. Throws DiagnosticError
/// when it has a type error.
Work model_work(const IRModule& module);
Work transfer_work(double bytes, const std::string& from, const std::string& to);
/// A part of a kernel. `stage` and `operators`: those of an InsideRow.
Work part_work(const Work& kernel, const std::string& stage, const std::string& operators);

/// `operators`: the OperatorRecords of a model, by id.
template <class Records>
std::vector<WorkOrigin> work_origins(const Records& operators, const std::vector<uint32_t>& ids) {
  std::vector<WorkOrigin> origins;
  for (const uint32_t id : ids) origins.push_back({id, operators.at(id).op, operators.at(id).place()});
  return origins;
}

/// BuildFacts::compiler of what this Baton builds: "baton 0.1.0, code 0123456789abcdef".
std::string code_version();
/// How a kernel of a build was made: the same for every build of the same function by the same Baton.
BuildFacts build_facts(const BuiltKernel& kernel, const BuildResult& built, int opt_level);
/// How a model was built.
BuildFacts build_facts(const BuildResult& built, int opt_level);

}  // namespace baton
