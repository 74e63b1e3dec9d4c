#pragma once
// A profile as measurements for the store.
#include <optional>
#include <string>
#include <vector>

#include "baton/driver/build_result.h"
#include "baton/pass/build_context.h"
#include "baton/profile/report/program_times.h"
#include "baton/profile/report/rows.h"
#include "baton/store/measurement.h"

namespace baton {

/// What a report does not say.
struct RecordSource {
  const BuildResult* built = nullptr;  ///< what was profiled; null: a saved report, whose texts are parsed
  const ProgramSource* program = nullptr;  ///< of a program; null: a saved report
  IRModule module = {};                    ///< the model before optimisation; null: the text in the report
  const BuildContext* context = nullptr;   ///< sheets of its devices; null: only what the report knows of one
  bool live = true;  ///< measured by this Baton: kernels are those of its code generator
  std::string machine = {};
  std::string family = {};  ///< of the model; may be empty
  int64_t begun_s = 0;
};

/// Of a program of the virtual machine one for a run on these shapes, and for each kernel one for the shapes
/// of its calls ("program" is their protocol): of a saved report only for kernels whose shapes are constant.
/// Else one measurement for the model, each kernel (CacheState::kInModel, or kHot for one too short for the
/// clock, which was called in a loop), each part of a kernel, each copy between devices, each kernel of the
/// unfused build (with the method "unfused"), and of a comparison each kernel alone on its own backend
/// ("alone") and each function that another backend computed ("compare"). What was not measured is left out.
std::vector<Measurement> measurements_of(const ProfileReport& report, const RecordSource& source);

/// "resnet" of "resnet-18", "vgg" of "vgg-11"; files and other names have no family.
std::string family_of_workload(const std::string& model);

}  // namespace baton
