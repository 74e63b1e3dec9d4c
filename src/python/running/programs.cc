// Programs on the virtual machine.
#include "baton/driver/vm/build_program.h"
#include "baton/driver/vm/runnable_program.h"
#include "baton/runtime/vm/listing.h"
#include "baton/runtime/vm/program_blob.h"

#include "python/bind.h"
#include "python/running/values.h"

namespace baton::python {

void bind_programs(nb::module_& m) {
  nb::class_<RunnableProgram>(m, "RunnableProgram",
                              "A program that was built for the virtual machine, or read from a file.")
      .def(nb::new_([](const BuildResult& built) { return RunnableProgram::create(built); }),
           nb::arg("built"))
      .def_static(
          "load", [](const std::string& path) { return RunnableProgram::load(path); }, nb::arg("path"),
          nb::call_guard<nb::gil_scoped_release>(), "The program in a file that write_artifact() wrote.")
      .def_prop_ro(
          "functions",
          [](const RunnableProgram& self) {
            nb::list all;
            for (const vm::FunctionCode& each : self.program().functions)
              if (each.is_global) all.append(nb::make_tuple(each.name, each.parameter_names));
            return all;
          },
          "[(name, names of parameters)] of the functions that can be called by name")
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
      .def("set_depth", &RunnableProgram::set_depth, nb::arg("depth"),
           "The most calls within each other, without tail calls; TVMError beyond. 16777216 by default.");
}

}  // namespace baton::python
