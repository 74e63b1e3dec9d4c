// Programs on the virtual machine.
#include "baton/driver/vm/build_program.h"
#include "baton/driver/vm/runnable_program.h"
#include "baton/runtime/artifact.h"
#include "baton/runtime/vm/listing.h"
#include "baton/support/require.h"

#include "python/bind.h"
#include "python/running/values.h"

namespace baton::python {

namespace {

using vm::ParameterType;

nb::bytes bytes_of(std::span<const uint8_t> bytes) { return nb::bytes(bytes.data(), bytes.size()); }

/// Writes the sections of an artifact, with `params` as its constants, and `more` of other names.
void write_changed(const Artifact& artifact, const std::string& path, const nb::dict& params,
                   const std::map<std::string, std::string>& more) {
  ArtifactWriter writer;
  writer.set_params(arrays_from_python(params));
  const nb::gil_scoped_release release;
  for (const std::string& name : artifact.names())
    if (name != section::kParams && name != section::kParamsIndex && !more.contains(name))
      writer.add(name, std::string(artifact.text(name)));
  for (const auto& [name, content] : more) writer.add(name, content);
  require(writer.write(path));
}

void bind_artifact(nb::module_& m) {
  nb::class_<Artifact>(m, "Artifact",
                       "A file that write_artifact() wrote, opened: named sections, and constants.")
      .def(nb::new_([](const std::string& path, bool verify) {
             const nb::gil_scoped_release release;
             return std::const_pointer_cast<Artifact>(require(Artifact::open(path, verify)));
           }),
           nb::arg("path"), nb::arg("verify") = true,
           "Raises TVMError for another or a damaged file. `verify`: whether the constants are read, too.")
      .def_prop_ro("sections", &Artifact::names, "their names: \"program\" is that of a virtual machine")
      .def(
          "section", [](const Artifact& self, const std::string& name) { return bytes_of(self.bytes(name)); },
          nb::arg("name"), "its bytes; none when there is no such section")
      .def_prop_ro("params", [](const Artifact& self) { return arrays_to_python(self.params()); })
      .def("write_changed", &write_changed, nb::arg("path"), nb::arg("params"), nb::arg("sections"),
           "Writes a copy with other constants, {name: array}, and these sections, {name: text}, in place of "
           "those that it has, or more.");
}

std::vector<std::tuple<uint32_t, std::string, std::string, uint64_t, double>> rows_of(
    const vm::MeasuredRun& run) {
  std::vector<std::tuple<uint32_t, std::string, std::string, uint64_t, double>> rows;
  for (const vm::MeasuredCalls& each : run.calls())
    rows.emplace_back(each.node, each.name, each.shapes, each.count, each.ns);
  return rows;
}

void bind_parameter_type(nb::module_& m) {
  nb::class_<ParameterType>(m, "ParameterType", "What a program says of a parameter.")
      .def_prop_ro(
          "dtype",
          [](const ParameterType& type) -> std::optional<std::string> {
            if (type.kind != ParameterType::Kind::kTensor) return {};
            return type.dtype.str();
          },
          "of a tensor; None for others")
      .def_prop_ro(
          "shape",
          [](const ParameterType& type) -> std::optional<std::vector<int64_t>> {
            if (type.kind != ParameterType::Kind::kTensor) return {};
            return type.extents;
          },
          "of a tensor, -1 for any extent; None for others")
      .def_prop_ro(
          "fields",
          [](const ParameterType& type) -> std::optional<std::vector<ParameterType>> {
            if (type.kind != ParameterType::Kind::kTuple) return {};
            return type.fields;
          },
          "of a tuple; None for others");
}

}  // namespace

void bind_programs(nb::module_& m) {
  bind_artifact(m);
  bind_parameter_type(m);
  nb::class_<RunnableProgram>(m, "RunnableProgram",
                              "A program that was built for the virtual machine, or read from a file.")
      .def(nb::new_([](const BuildResult& built) { return RunnableProgram::create(built); }),
           nb::arg("built"))
      .def_static(
          "load", [](const Artifact& artifact) { return RunnableProgram::load(artifact); },
          nb::arg("artifact"), nb::call_guard<nb::gil_scoped_release>(),
          "The program in a file that write_artifact() wrote. Raises TVMError for one without.")
      .def(
          "with_constants",
          [](const RunnableProgram& self, const nb::dict& values) {
            return self.with_constants(arrays_from_python(values));
          },
          nb::arg("values"), "The same program with other values of these constants, {name: array}.")
      .def_prop_ro(
          "functions",
          [](const RunnableProgram& self) {
            nb::list all;
            for (const vm::FunctionCode& each : self.program().functions)
              if (each.is_global)
                all.append(nb::make_tuple(each.name, each.parameter_names, each.parameter_types));
            return all;
          },
          "[(name, names of parameters, their types)] of the functions that can be called by name")
      .def_prop_ro(
          "kernels",
          [](const RunnableProgram& self) {
            std::vector<std::string> names;
            for (const vm::KernelName& kernel : self.program().kernels) names.push_back(kernel.name);
            return names;
          },
          "names of the kernels, by number")
      .def_prop_ro(
          "operators", [](const RunnableProgram& self) { return self.program().operators; },
          "names of the operators that the compiler evaluates while the program runs")
      .def_prop_ro(
          "constants", [](const RunnableProgram& self) { return arrays_to_python(self.program().constants); },
          "the constants by name, in order")
      .def(
          "listing", [](const RunnableProgram& self) { return vm::listing(self.program()); },
          "The instructions of all functions, as Executable.bytecode.")
      .def(
          "run",
          [](RunnableProgram& self, const std::string& name, const nb::list& args) {
            const std::vector<program::Value> values = values_from_python(args);
            return run_program([&](const RunContext& context) { return self.run(name, values, context); });
          },
          nb::arg("name"), nb::arg("args"),
          "The value of a function on a value for each of its parameters. Raises TVMError, which names the "
          "argument, for others. Threads may run it at the same time.")
      .def(
          "run_measured",
          [](RunnableProgram& self, const std::string& name, const nb::list& args) {
            const std::vector<program::Value> values = values_from_python(args);
            vm::MeasuredRun run;
            nb::object value = run_program(
                [&](const RunContext& context) { return self.run_measured(name, values, context, run); });
            return nb::make_tuple(std::move(value), run.total_ns(), rows_of(run), run.pieces(),
                                  run.ns_of(vm::RunPart::kExtents) + run.ns_of(vm::RunPart::kMemory) +
                                      run.ns_of(vm::RunPart::kArguments));
          },
          nb::arg("name"), nb::arg("args"),
          "(value, nanoseconds of the whole, [(node of the plan, name, shapes, calls, nanoseconds)] of "
          "kernels "
          "and operators, how often straight-line pieces ran, nanoseconds of their extents and memory).")
      .def("set_depth", &RunnableProgram::set_depth, nb::arg("depth"),
           "The most calls within each other, without tail calls; TVMError beyond. 2097152 by default.");
}

}  // namespace baton::python
