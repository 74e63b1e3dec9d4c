#pragma once
// ONNX files as Relay modules.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/ir/module.h"
#include "baton/pass/build_context.h"
#include "baton/support/base/ndarray.h"
#include "baton/transform/freeze_shapes.h"

namespace baton::onnx {

struct ImportOptions {
  /// Shapes of inputs and values of symbols, known before anything is converted: they decide which branches
  /// are there.
  std::vector<GivenShape> shapes = {};
  /// Initializers are parameters of `main`, after the inputs, and not constants. Those whose values decide
  /// what the module is (shapes, axes, bounds, scales of integers) are constants nevertheless.
  bool initializers_are_parameters = false;
  std::optional<int64_t> opset = {};  ///< of ONNX's own operators; nullopt: what the file says
};

struct Imported {
  IRModule module;                                               ///< typed
  std::vector<std::string> notes = {};                           ///< what a user should know
  std::vector<std::pair<std::string, NDArray>> parameters = {};  ///< by name, in the order of main's
};

/// Throws Error for a file that is none, is damaged, or contradicts itself, and NotSupported with all
/// operators that there is no rule for.
Imported import_file(const std::string& path, const ImportOptions& options, const BuildContext& context);
/// The same of a file's bytes. `name`: what errors say; external data lie in its folder.
Imported import_bytes(std::string bytes, std::string name, const ImportOptions& options,
                      const BuildContext& context);

}  // namespace baton::onnx
