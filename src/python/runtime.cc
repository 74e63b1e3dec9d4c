#include "baton/runtime/executor.h"
#include "baton/runtime/model.h"
#include "baton/support/error.h"

#include "bind.h"

namespace baton::python {

namespace {

void require(const Status& status) {
  if (!status.ok()) throw Error(status.message);
}
template <class T>
T require(Result<T> result) {
  require(result.status());
  return std::move(*result);
}

size_t input_index(const Executor& executor, size_t index) {
  if (index >= executor.num_inputs()) {
    throw nb::index_error(("the model has " + std::to_string(executor.num_inputs()) + " inputs, asked for " +
                           std::to_string(index))
                              .c_str());
  }
  return index;
}

NDArray output(const Executor& executor, size_t index) {
  if (index >= executor.num_outputs()) {
    throw nb::index_error(("the model has " + std::to_string(executor.num_outputs()) +
                           " outputs, asked for " + std::to_string(index))
                              .c_str());
  }
  return executor.output(index);
}

}  // namespace

void bind_runtime(nb::module_& m) {
  nb::class_<Executor>(m, "Executor", "A model with memory of its own; one thread at a time.")
      .def_prop_ro("num_inputs", &Executor::num_inputs)
      .def_prop_ro("num_outputs", &Executor::num_outputs)
      .def("input_name", [](const Executor& e, size_t i) { return e.input_node(input_index(e, i)).name; })
      .def("input_shape",
           [](const Executor& e, size_t i) {
             return nb::tuple(nb::cast(e.input_entry(input_index(e, i)).shape));
           })
      .def("input_dtype",
           [](const Executor& e, size_t i) { return e.input_entry(input_index(e, i)).dtype.str(); })
      .def("set_input", [](Executor& e, size_t i,
                           const NDArray& value) { require(e.set_input(input_index(e, i), value)); })
      .def("set_input_named",
           [](Executor& e, const std::string& name, const NDArray& value) {
             require(e.set_input(std::string_view(name), value));
           })
      .def(
          "find_input", [](const Executor& e, const std::string& name) { return e.find_input_node(name); },
          "the place among inputs and constants, or -1")
      .def("input", [](const Executor& e, size_t i) { return e.input(input_index(e, i)); })
      .def("output", &output, "a view: the next run changes it")
      .def("set_threads", &Executor::set_threads, nb::arg("threads"))
      .def(
          "run", [](Executor& e) { require(e.run()); }, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "run_times", [](Executor& e, int runs) { return require(e.run_profiled(runs)).total_ns; },
          nb::arg("runs"), nb::call_guard<nb::gil_scoped_release>(), "nanoseconds of each of `runs` runs");

  nb::class_<Model>(m, "Model", "An artifact, opened.")
      .def_prop_ro("executor", &Model::executor, nb::rv_policy::reference_internal)
      .def("another_executor",
           [](const Model& model) { return std::shared_ptr<Executor>(require(model.another_executor())); });
  m.def(
      "load_model",
      [](const std::string& path) { return std::shared_ptr<Model>(require(Model::load(path))); },
      nb::arg("path"));
}

}  // namespace baton::python
