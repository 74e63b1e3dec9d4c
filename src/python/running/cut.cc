// Extraction of parts of programs, and annotation for external compilers.
#include "baton/driver/cut/cut_kernel.h"
#include "baton/driver/cut/cut_program.h"
#include "baton/driver/cut/cut_text.h"
#include "baton/driver/cut/mark_region.h"
#include "baton/driver/cut/node_selection.h"
#include "baton/support/json.h"

#include "python/bind.h"
#include "python/door.h"
#include "python/running/interruptible.h"

namespace baton::python {

namespace {

struct Extracted {
  IRModule module;
  CutArrays arrays;
  Json operators;
};

Json operators_of(const OriginTable& table, const std::vector<CutOperator>& operators,
                  const std::vector<CutOperator>& left_out) {
  return Json{{"operators", operators_json(table, operators)}, {"left_out", operators_json(table, left_out)}};
}

/// The options of a built program: its own weights, overridden by `params`.
BuildOptions options_of(const BuildResult* built, const NamedArrays& params) {
  BuildOptions options;
  options.context = door_context();
  options.params = params;
  if (!built) return options;
  set_targets(options.context, built->targets);
  for (const auto& [name, value] : built->given) {
    bool given = false;
    for (const auto& each : params) given |= each.first == name;
    if (!given) options.params.emplace_back(name, value);
  }
  return options;
}

CutProgram program_of(const BuildResult* built, const IRModule& module, BuildOptions options) {
  return built ? CutProgram(*built, std::move(options)) : CutProgram(module, std::move(options));
}

Extracted extract_part(const BuildResult* built, const IRModule& module, CutSelection selection,
                       const nb::dict& params, const nb::dict& inputs) {
  const NamedArrays weights = arrays_from_python(params), values = arrays_from_python(inputs);
  return interruptible([&](const std::atomic<bool>* stop) {
    CutProgram program = program_of(built, module, options_of(built, weights));
    const Cut cut = cut_out(program.graph(), program.choose(selection));
    BuildOptions options = program.options();
    options.context.interrupt = stop;
    Extracted result{cut.module, cut_arrays(program.graph(), cut, options, values), {}};
    result.operators = operators_of(program.graph().module()->origins(), cut.operators, cut.left_out);
    return result;
  });
}

IRModule mark_part(const BuildResult* built, const IRModule& module, CutSelection selection,
                   const std::string& compiler, const nb::dict& params) {
  const NamedArrays weights = arrays_from_python(params);
  return interruptible([&](const std::atomic<bool>*) {
    CutProgram program = program_of(built, module, options_of(built, weights));
    return mark_region(program.graph(), program.choose(selection), compiler, program.options().context)
        .module;
  });
}

}  // namespace

void bind_cut(nb::module_& m) {
  nb::class_<Extracted>(m, "Extracted", "What was cut out of a program.")
      .def_ro("module", &Extracted::module)
      .def_prop_ro("params", [](const Extracted& e) { return arrays_to_python(e.arrays.params); })
      .def_prop_ro("inputs", [](const Extracted& e) { return arrays_to_python(e.arrays.inputs); })
      .def_prop_ro("outputs", [](const Extracted& e) { return arrays_to_python(e.arrays.outputs); })
      .def_prop_ro("operators", [](const Extracted& e) { return e.operators; });
  // Overloads for a built program and for a module.
  m.def(
      "extract",
      [](const BuildResult& built, std::string kernel, std::string nodes, std::string operators,
         const nb::dict& params, const nb::dict& inputs) {
        return extract_part(&built, {}, {std::move(kernel), std::move(nodes), std::move(operators)}, params,
                            inputs);
      },
      nb::arg("program"), nb::arg("kernel"), nb::arg("nodes"), nb::arg("operators"), nb::arg("params"),
      nb::arg("inputs"));
  m.def(
      "extract",
      [](const IRModule& module, std::string kernel, std::string nodes, std::string operators,
         const nb::dict& params, const nb::dict& inputs) {
        return extract_part(nullptr, module, {std::move(kernel), std::move(nodes), std::move(operators)},
                            params, inputs);
      },
      nb::arg("program"), nb::arg("kernel"), nb::arg("nodes"), nb::arg("operators"), nb::arg("params"),
      nb::arg("inputs"));
  m.def(
      "extract_kernel",
      [](const BuildResult& built, const std::string& kernel, const nb::dict& inputs) {
        const NamedArrays values = arrays_from_python(inputs);
        return interruptible([&](const std::atomic<bool>*) {
          const CutKernel cut = cut_kernel(built, select_kernel(built.plan, kernel).front(), values);
          return Extracted{cut.cut.module, cut.arrays,
                           operators_of(built.optimized->origins(), cut.cut.operators, {})};
        });
      },
      nb::arg("built"), nb::arg("kernel"), nb::arg("inputs"), "The fused function as it was compiled.");
  m.def(
      "mark",
      [](const BuildResult& built, std::string kernel, std::string nodes, std::string operators,
         const std::string& compiler, const nb::dict& params) {
        return mark_part(&built, {}, {std::move(kernel), std::move(nodes), std::move(operators)}, compiler,
                         params);
      },
      nb::arg("program"), nb::arg("kernel"), nb::arg("nodes"), nb::arg("operators"), nb::arg("compiler"),
      nb::arg("params"));
  m.def(
      "mark",
      [](const IRModule& module, std::string kernel, std::string nodes, std::string operators,
         const std::string& compiler, const nb::dict& params) {
        return mark_part(nullptr, module, {std::move(kernel), std::move(nodes), std::move(operators)},
                         compiler, params);
      },
      nb::arg("program"), nb::arg("kernel"), nb::arg("nodes"), nb::arg("operators"), nb::arg("compiler"),
      nb::arg("params"));
}

}  // namespace baton::python
