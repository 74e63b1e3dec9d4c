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

onnx::ImportOptions options_of(const Shapes& shapes) {
  onnx::ImportOptions options;
  for (const auto& [name, extents] : shapes) options.shapes.push_back({name, extents});
  return options;
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
      [](const std::string& path, const Shapes& shapes) {
        initialize();
        return onnx::import_file(path, options_of(shapes), host_context()).module;
      },
      nb::arg("path"), nb::arg("shapes"),
      "The module of an ONNX file; shapes of inputs, and values of symbols.");
  m.def(
      "import_onnx_bytes",
      [](const nb::bytes& bytes, const std::string& name, const Shapes& shapes) {
        initialize();
        return onnx::import_bytes(std::string(bytes.c_str(), bytes.size()), name, options_of(shapes),
                                  host_context())
            .module;
      },
      nb::arg("bytes"), nb::arg("name"), nb::arg("shapes"),
      "The same of a file's bytes; `name`: what errors say.");
}

}  // namespace baton::python
