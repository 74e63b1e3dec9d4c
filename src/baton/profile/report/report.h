#pragma once
// Joins measurements with origins: one row per plan node, one per source operator.
#include <map>
#include <string>

#include "baton/driver/build_result.h"
#include "baton/driver/load_model.h"
#include "baton/profile/inside/inside_split.h"
#include "baton/profile/measure/measure.h"
#include "baton/profile/report/rows.h"
#include "baton/runtime/artifact.h"

namespace baton {

/// Facts about a model other than times.
struct ReportSource {
  struct Known {
    FunctionRow function;
    CostFacts facts;
  };
  OriginReport origins;
  std::map<std::string, Known> kernels;  ///< by func_name
  std::string target;                    ///< what they were made for: "llvm"
  std::string precision = {};            ///< and how: "f32", "strict", "bf16"; empty: not known
};
ReportSource report_source(const BuildResult& built);
/// Those stored in an artifact. `shown`: its name in errors. Throws Error when its origins are stripped, or
/// it is of another version.
ReportSource report_source(const Artifact& artifact, const std::string& shown);
/// What a report says of a fused function.
FunctionRow function_row(const Function& function, std::string template_name,
                         std::map<std::string, int> params);
/// The fused function of a kernel as text: FunctionRow::relay.
std::string function_text(const Function& function);

/// The head of reports about a model that was loaded.
ReportHead report_head(const LoadedModel& model, int opt_level);

/// "cpu", "opencl", "sim_npu": the device that a tensor is on, called as the backend whose kernels run there.
std::string device_of(const Plan& plan, EntryId entry);
/// "sim_npu" for the simulated device of a node: the backend of its kernels, or of the device at one end of a
/// copy. Empty for other nodes.
std::string simulated_device(const Plan& plan, uint32_t node);

/// Operators and the kernels that compute them. Throws Error when the origins do not match `plan`.
ProfileReport make_report(const ReportSource& source, const Plan& plan, const FusedTimes& fused);

/// The same with external compilers' regions and with kernel splits. `inside` may be empty: then rows have no
/// split.
ProfileReport make_report(const BuildResult& built, const Plan& plan, const FusedTimes& fused,
                          const std::map<std::string, InsideTimes>& inside);

}  // namespace baton
