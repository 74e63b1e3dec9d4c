#include "baton/driver/build.h"
#include "baton/driver/pipeline.h"
#include "baton/driver/regions.h"

#include "bind.h"
#include "held.h"

namespace baton::python {

namespace {

BuildResult build_module(const IRModule& module, NamedArrays params, std::optional<int> opt_level,
                         std::string mod_name) {
  BuildOptions options;
  options.params = std::move(params);
  options.opt_level = opt_level;
  options.mod_name = std::move(mod_name);
  const nb::gil_scoped_release release;
  return build(module, options);
}

}  // namespace

void bind_driver(nb::module_& m) {
  nb::class_<BuildResult>(m, "BuildResult", "Everything a build made.")
      .def_prop_ro("graph_json", &BuildResult::graph_json)
      .def_prop_ro("params", [](const BuildResult& b) { return arrays_to_python(b.params()); })
      .def_ro("source", &BuildResult::source)
      .def_ro("optimized", &BuildResult::optimized)
      .def_ro("mod_name", &BuildResult::mod_name)
      .def_ro("origins_json", &BuildResult::origins_json)
      .def_prop_ro("function_metadata",
                   [](const BuildResult& b) {
                     nb::dict functions;
                     for (const auto& [name, function] : b.function_metadata)
                       functions[name.c_str()] = nb::cast(function);
                     return functions;
                   })
      .def_prop_ro(
          "times",
          [](const BuildResult& b) {
            nb::dict seconds;
            seconds["optimize"] = b.times.optimize_s;
            seconds["plan"] = b.times.plan_s;
            seconds["kernels"] = b.times.kernels_s;
            seconds["link"] = b.times.link_s;
            seconds["total"] = b.times.total_s;
            return seconds;
          },
          "seconds per phase")
      .def(
          "make_executor", [](const BuildResult& b) { return std::shared_ptr<Executor>(make_executor(b)); },
          nb::call_guard<nb::gil_scoped_release>())
      .def(
          "write_artifact", [](const BuildResult& b, const std::string& path) { write_artifact(b, path); },
          nb::arg("path"), nb::call_guard<nb::gil_scoped_release>());

  m.def(
      "build",
      [](const IRModule& module, const nb::dict& params, std::optional<int> opt_level, std::string mod_name) {
        return build_module(module, arrays_from_python(params), opt_level, std::move(mod_name));
      },
      nb::arg("mod"), nb::arg("params"), nb::arg("opt_level").none() = nb::none(),
      nb::arg("mod_name") = "default");
  m.def(
      "bind_params",
      [](const IRModule& module, const nb::dict& params) {
        return bind_params(module, arrays_from_python(params));
      },
      nb::arg("mod"), nb::arg("params"));
  m.def(
      "set_region_codegen",
      [](const std::string& compiler, nb::object codegen) {
        if (codegen.is_none()) return set_region_codegen(compiler, {});
        set_region_codegen(compiler, [held = hold(std::move(codegen))](const Function& region) {
          const nb::gil_scoped_acquire gil;
          return std::shared_ptr<const BuildResult>(
              nb::cast<std::shared_ptr<BuildResult>>(nb::handle(held.get())(region)));
        });
      },
      nb::arg("compiler"), nb::arg("codegen").none(),
      "What a build calls for each region of `compiler`; it returns a BuildResult.");
  m.def(
      "optimize", [](const IRModule& module) { return optimize(module); }, nb::arg("mod"),
      nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace baton::python
