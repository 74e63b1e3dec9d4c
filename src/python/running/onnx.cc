// Importers.
#include "baton/driver/initialize.h"
#include "baton/driver/load_model.h"
#include "baton/frontend/onnx/import.h"

#include "python/bind.h"
#include "python/casters.h"
#include "python/door.h"

namespace baton::python {

namespace {

using Shapes = std::map<std::string, std::vector<int64_t>>;

onnx::ImportOptions options_of(const Shapes& shapes, std::optional<int64_t> opset = {},
                               bool freeze_params = true) {
  onnx::ImportOptions options;
  options.opset = opset, options.initializers_are_parameters = !freeze_params;
  for (const auto& [name, extents] : shapes) options.shapes.push_back({name, extents});
  return options;
}

using WithParameters = std::pair<IRModule, std::map<std::string, NDArray>>;

WithParameters with_parameters(onnx::Imported imported) {
  return {std::move(imported.module), {imported.parameters.begin(), imported.parameters.end()}};
}

}  // namespace

void bind_onnx(nb::module_& m) {
  m.def(
      "load_model",
      [](const std::string& path, const Shapes& shapes) {
        return load_model_of(path, options_of(shapes).shapes).module;
      },
      nb::arg("path"), nb::arg("shapes"), "The module of a model: as MODEL on the command line.");
  m.def(
      "import_onnx",
      [](const std::string& path, const Shapes& shapes, std::optional<int64_t> opset, bool freeze_params) {
        initialize();
        const onnx::ImportOptions options = options_of(shapes, opset, freeze_params);
        return with_parameters(onnx::import_file(path, options, host_context()));
      },
      nb::arg("path"), nb::arg("shapes"), nb::arg("opset") = nb::none(), nb::arg("freeze_params") = true,
      "The module of an ONNX file; shapes of inputs, and values of symbols. And, unless `freeze_params`, the "
      "values of the parameters that initializers are, by name.");
  m.def(
      "import_onnx_bytes",
      [](const nb::bytes& bytes, const std::string& name, const Shapes& shapes, std::optional<int64_t> opset,
         bool freeze_params) {
        initialize();
        const onnx::ImportOptions options = options_of(shapes, opset, freeze_params);
        return with_parameters(
            onnx::import_bytes(std::string(bytes.c_str(), bytes.size()), name, options, host_context()));
      },
      nb::arg("bytes"), nb::arg("name"), nb::arg("shapes"), nb::arg("opset") = nb::none(),
      nb::arg("freeze_params") = true, "The same of a file's bytes; `name`: what errors say.");
}

}  // namespace baton::python
