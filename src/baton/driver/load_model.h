#pragma once
// Loads the MODEL argument of the command line: the name of a workload, a file (Relay text, TVM's JSON or
// ONNX, told apart by what is in it), or "-" for Relay text on standard input.
#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/support/base/params_blob.h"
#include "baton/transform/freeze_shapes.h"

namespace baton {

/// The name of a model and of its source that were read from standard input.
inline constexpr char kStandardInput[] = "stdin";

struct LoadedModel {
  std::string name;          ///< as given
  IRModule module;           ///< types inferred; every operator has a line in `source`, if there is one
  Ref<const Source> source;  ///< null: a model that is no text
  NamedArrays params = {};   ///< weights that came with it
  std::vector<std::string> notes = {};  ///< what a user should know
};

/// The text of a module as shown by the command line: with types, without spans and constants. For a workload
/// model, its lines are those of the operators' origins.
std::string model_text(const IRModuleNode& module, bool origins = false);

/// Workloads are printed and parsed again, so that their operators have source lines. Throws Error for an
/// unknown name (suggesting the nearest one) or an unreadable file, DiagnosticError for a text that does not
/// parse or type-check.
/// `shapes`: "x=1,3,224,224" or "n=4", as for freeze_shapes.
LoadedModel load_model(const std::string& name_or_path, const std::vector<std::string>& shapes = {});
LoadedModel load_model_of(const std::string& name_or_path, const std::vector<GivenShape>& shapes);

/// Values for all non-input parameters of main: from an .npz when `path` is not empty (each of its arrays
/// must be a parameter of main of the same shape and type), the rest those that came with the model, and the
/// others by the tensor rule (docs/guide.md).
/// Inputs are the parameters named in `inputs`; when that is empty, those that the file has as inputs
/// (driver/case_file.h), else `data`, else the first parameter. In the order of main's parameters.
/// `by_rule`: optional output; the names of those by the rule. `is_program`: all parameters that have no
/// value are inputs, whatever their types, unless `inputs` names these.
NamedArrays load_params(const LoadedModel& model, const std::string& path,
                        const std::vector<std::string>& inputs = {},
                        std::vector<std::string>* by_rule = nullptr, bool is_program = false);

}  // namespace baton
