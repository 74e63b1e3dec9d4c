// Programs on the virtual machine.
#include <cstring>

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

/// The copies between devices: the node that needs them, or None; how many, and their nanoseconds.
std::vector<std::tuple<std::optional<uint32_t>, uint64_t, double>> copies_of(const vm::MeasuredRun& run) {
  std::vector<std::tuple<std::optional<uint32_t>, uint64_t, double>> rows;
  for (const vm::MeasuredCopies& each : run.copies())
    rows.emplace_back(each.cause == vm::MeasuredRun::kOutside ? std::nullopt : std::optional(each.cause),
                      each.count, each.ns);
  return rows;
}

/// The dtype that one character of Python's buffer protocol means, of the machine's byte order; none for
/// others.
std::optional<DType> dtype_of_format(const char* format, size_t item_bytes) {
  if (!format || std::strlen(format) != 1) return {};
  const auto bits = static_cast<int>(8 * item_bytes);
  switch (*format) {
    case '?':
      return DType::bool_();
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
      return DType::int_(bits);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
      return DType::uint_(bits);
    case 'e':
    case 'f':
    case 'd':
      return DType::float_(bits);
    default:
      return {};
  }
}

bool is_numpy_array(nb::handle value) {
  static PyTypeObject* known = nullptr;  // under the GIL
  PyTypeObject* type = Py_TYPE(value.ptr());
  if (type == known) return true;
  if (std::strcmp(type->tp_name, "numpy.ndarray") != 0) return false;
  known = type;
  return true;
}

/// Values for the parameters of one function, kept between its calls, as set_input() keeps them.
class ProgramCall {
 public:
  ProgramCall(std::shared_ptr<RunnableProgram> program, const std::string& name)
      : program_(std::move(program)), number_(program_->number_of(name)) {
    values_.resize(function().parameters);
    copies_.resize(function().parameters);
  }

  /// False, and nothing is set, for a value that is not of the parameter's type as it is.
  bool set(size_t index, nb::handle value) {
    const ParameterType& type = function().parameter_types.at(index);
    if (type.kind != ParameterType::Kind::kTensor) return false;
    if (is_numpy_array(value)) return set_copy(index, type.dtype, value);
    if (!nb::isinstance<NDArray>(value)) return false;
    const auto& array = nb::cast<const NDArray&>(value);
    if (array.dtype() != type.dtype) return false;
    values_[index] = make_ref<const program::TensorValue>(array, /*lent=*/true);
    return true;
  }
  /// False for another number of values, or one that set() refuses; those before it are set.
  bool set_all(const nb::tuple& values) {
    if (values.size() != values_.size()) return false;
    for (size_t i = 0; i < values_.size(); ++i)
      if (!set(i, values[i])) return false;
    return true;
  }
  void put(size_t index, nb::handle value) { values_.at(index) = value_from_python(value); }
  /// The values of the parameters of the same function of another program.
  void take_values(const ProgramCall& other) { values_ = other.values_; }

  void check_values() const {
    std::string missing;
    for (size_t i = 0; i < values_.size(); ++i)
      if (!values_[i]) missing += (missing.empty() ? "" : ", ") + function().parameter_names[i];
    if (!missing.empty())
      throw Error(function().name + ": parameters have no value: " + missing + " (set_input)");
  }

  nb::object run() {
    check_values();
    // What runs may call Python, which may set values of this very call.
    const std::vector<program::Value> values = values_;
    return run_program([&](const RunContext& context) { return program_->run(number_, values, context); });
  }
  nb::tuple run_measured() {
    check_values();
    const std::vector<program::Value> values = values_;
    vm::MeasuredRun run;
    nb::object value = run_program(
        [&](const RunContext& context) { return program_->run_measured(number_, values, context, run); });
    return nb::make_tuple(std::move(value), run.total_ns(), rows_of(run), run.pieces(),
                          run.ns_of(vm::RunPart::kExtents) + run.ns_of(vm::RunPart::kMemory) +
                              run.ns_of(vm::RunPart::kArguments),
                          copies_of(run));
  }

 private:
  const vm::FunctionCode& function() const { return program_->program().functions[number_]; }

  /// Copies a numpy array of the parameter's type to memory that is aligned as kernels need it, and that is
  /// used again by the next value of the same shape unless a result still refers to it.
  bool set_copy(size_t index, DType dtype, nb::handle value) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(value.ptr(), &buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      return false;
    }
    const std::unique_ptr<Py_buffer, void (*)(Py_buffer*)> held(&buffer, PyBuffer_Release);
    if (dtype_of_format(buffer.format, static_cast<size_t>(buffer.itemsize)) != dtype) return false;
    const std::span<const Py_ssize_t> extents(buffer.shape, static_cast<size_t>(buffer.ndim));
    program::Value& kept = copies_[index];
    if (values_[index].get() == kept.get()) values_[index] = {};
    const auto* tensor = program::as_value<program::TensorValue>(kept);
    if (!tensor || tensor->use_count() != 1 || !tensor->array().is_only_handle() ||
        !std::ranges::equal(tensor->array().shape(), extents)) {
      NDArray array = NDArray::empty(Shape(extents.begin(), extents.end()), dtype);
      if (!array) throw std::bad_alloc();
      kept = make_ref<const program::TensorValue>(std::move(array), /*lent=*/true);
      tensor = program::as_value<program::TensorValue>(kept);
    }
    if (buffer.len > 0)
      std::memcpy(const_cast<void*>(tensor->array().data()), buffer.buf, static_cast<size_t>(buffer.len));
    values_[index] = kept;
    return true;
  }

  std::shared_ptr<RunnableProgram> program_;
  uint32_t number_;
  std::vector<program::Value> values_, copies_;
};

void bind_program_call(nb::module_& m) {
  nb::class_<ProgramCall>(m, "ProgramCall",
                          "Values for the parameters of a function of a program, and its calls.")
      .def(nb::init<std::shared_ptr<RunnableProgram>, const std::string&>(), nb::arg("program"),
           nb::arg("name"))
      .def(
          "set", &ProgramCall::set, nb::arg("index"), nb::arg("value").none(),
          "Sets a parameter to an NDArray or a copy of a numpy array. False, and nothing is set, for what is "
          "not of its dtype, row-major, or an array.")
      .def("set_all", &ProgramCall::set_all, nb::arg("values"),
           "set() of all parameters. False for another number of values, or where set() returned False.")
      .def("put", &ProgramCall::put, nb::arg("index"), nb::arg("value").none(),
           "Sets a parameter to any value.")
      .def("take_values", &ProgramCall::take_values, nb::arg("other"),
           "Sets all parameters to the values of a call of the same function of a program with other "
           "constants.")
      .def(
          "run", &ProgramCall::run,
          "The value of the function. Raises TVMError, which names the argument, for values that do not fit. "
          "Threads may run the same program by calls of their own.")
      .def("run_measured", &ProgramCall::run_measured,
           "(value, nanoseconds of the whole, [(node of the plan, name, shapes, calls, nanoseconds)] of "
           "kernels "
           "and operators, how often straight-line pieces ran, nanoseconds of their extents and memory, "
           "[(node that needs them or None, how many, nanoseconds)] of copies between devices).");
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
          "device_types", [](const RunnableProgram& self) { return self.program().devices; },
          "DLPack's numbers of the devices beside the host that it uses")
      .def_prop_ro(
          "constants", [](const RunnableProgram& self) { return arrays_to_python(self.program().constants); },
          "the constants by name, in order")
      .def(
          "listing", [](const RunnableProgram& self) { return vm::listing(self.program()); },
          "The instructions of all functions, as Executable.bytecode.")
      .def(
          "specialize",
          [](RunnableProgram& self, const BuildResult* built, double after_ms) {
            self.specialize(built ? std::make_shared<BackgroundKernels>(*built, door_context(), after_ms)
                                  : nullptr);
          },
          nb::arg("built").none(), nb::arg("after_ms"),
          "From now on kernels are compiled for extents that are still met `after_ms` after the first time, "
          "on "
          "a thread of its own. `built`: what the program was built as; None: no longer.")
      .def_prop_ro(
          "specialized",
          [](const RunnableProgram& self) {
            nb::list all;
            if (const auto kernels = self.specialized())
              for (const auto& each : kernels->specialized())
                all.append(nb::make_tuple(each.kernel, each.extents, each.why_not));
            return all;
          },
          "[(kernel, extents, why it was not compiled)] since specialize()")
      .def(
          "wait_for_specialized",
          [](const RunnableProgram& self, double seconds) {
            const auto kernels = self.specialized();
            return !kernels || kernels->wait(seconds);
          },
          nb::arg("seconds"), nb::call_guard<nb::gil_scoped_release>(),
          "Waits until the kernels that were asked for are compiled. False after `seconds`.")
      .def("set_depth", &RunnableProgram::set_depth, nb::arg("depth"),
           "The most calls within each other, without tail calls; TVMError beyond. 2097152 by default.");
  bind_program_call(m);
}

}  // namespace baton::python
