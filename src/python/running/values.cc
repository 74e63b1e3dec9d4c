// The Relay interpreter, and its argument and result values.
#include "python/running/values.h"

#include "baton/driver/pipeline.h"
#include "baton/driver/vm/runnable_program.h"
#include "baton/interpreter/interpreted_program.h"
#include "baton/interpreter/value_exprs.h"
#include "baton/ir/analysis/constructors.h"

#include "python/bind.h"
#include "python/held.h"
#include "python/running/dense_input.h"

namespace baton::python {

namespace {

using program::as_value;
using program::CellValue;
using program::DataValue;
using program::TensorValue;
using program::TupleValue;
using program::Value;

/// A function that a program returned, whatever runs it.
struct Closure {
  Value value;
  const program::FunctionValue& function() const { return *as_value<program::FunctionValue>(value); }
};

/// A Python function callable from a program.
class PythonFunction final : public program::ForeignFunction {
 public:
  explicit PythonFunction(Held held) : held_(std::move(held)) {}
  Value call(const std::vector<Value>& args) const override {
    const nb::gil_scoped_acquire gil;
    nb::list given;
    for (const Value& arg : args) given.append(value_to_python(arg));
    return value_from_python(nb::handle(held_.get())(*given));
  }
  std::string name() const override { return "of Python"; }
  nb::object object() const { return nb::borrow(nb::handle(held_.get())); }

 private:
  Held held_;
};

/// Counts nested lists like nested calls, against Python's recursion limit.
class NestedScope {
 public:
  NestedScope() {
    if (Py_EnterRecursiveCall(" while a value is read")) throw nb::python_error();
  }
  ~NestedScope() { Py_LeaveRecursiveCall(); }
};

}  // namespace

std::vector<Value> values_from_python(nb::handle sequence) {
  const NestedScope nested;
  std::vector<Value> values;
  for (const nb::handle each : sequence) values.push_back(value_from_python(each));
  return values;
}

namespace {

/// A contiguous numpy array in its own memory; null for anything else.
Value array_from_numpy(nb::handle object) {
  DenseInput input;
  if (!nb::hasattr(object, "__array_interface__") || !nb::try_cast(object, input)) return {};
  const NDArray view = view_of_input(input);
  auto* owner = new Held(hold(nb::borrow(object)));
  return make_ref<const TensorValue>(NDArray::view(
                                         const_cast<void*>(view.data()), view.shape(), view.dtype(),
                                         [](void* held) { delete static_cast<Held*>(held); }, owner),
                                     /*lent=*/true);
}

/// The value of an expression that is already a value.
Value value_of_expr(const Expr& expr) {
  if (const auto* constant = as<ConstantNode>(expr))
    return make_ref<const TensorValue>(constant->value(), /*lent=*/true);
  const auto* tuple = as<TupleNode>(expr);
  if (!tuple) throw nb::type_error("a value is expected, not an expression that is still to be computed");
  const NestedScope nested;
  std::vector<Value> fields;
  for (const Expr& field : tuple->fields()) fields.push_back(value_of_expr(field));
  return program::tuple_value(std::move(fields));
}

}  // namespace

Value value_from_python(nb::handle object) {
  if (nb::isinstance<NDArray>(object))
    return make_ref<const TensorValue>(nb::cast<NDArray&>(object), /*lent=*/true);
  if (nb::isinstance<DataValue>(object)) return Value(&nb::cast<const DataValue&>(object));
  if (nb::isinstance<CellValue>(object)) return Value(&nb::cast<const CellValue&>(object));
  if (nb::isinstance<Closure>(object)) return nb::cast<const Closure&>(object).value;
  if (nb::isinstance<ExprNode>(object)) return value_of_expr(nb::cast<Expr>(object));
  if (nb::isinstance<nb::tuple>(object) || nb::isinstance<nb::list>(object))
    return program::tuple_value(values_from_python(object));
  if (const Value array = array_from_numpy(object)) return array;
  if (PyCallable_Check(object.ptr()) && !PyType_Check(object.ptr()))
    return make_ref<const PythonFunction>(hold(nb::borrow(object)));
  const nb::object array = nb::module_::import_("baton.runtime.ndarray").attr("array")(object);
  return program::tensor_value(nb::cast<NDArray>(array));
}

namespace {

nb::object tuple_to_python(const std::vector<Value>& fields) {
  const NestedScope nested;
  nb::list all;
  for (const Value& field : fields) all.append(value_to_python(field));
  return nb::module_::import_("baton.runtime.container").attr("ADT")(0, all);
}

}  // namespace

nb::object value_to_python(const Value& value) {
  if (!value) return nb::none();
  switch (value->kind()) {
    case program::ValueKind::kTensor: {
      const auto* tensor = as_value<TensorValue>(value);
      return nb::cast(tensor->lent() ? tensor->array().copy() : tensor->array());
    }
    case program::ValueKind::kTuple:
      return tuple_to_python(as_value<TupleValue>(value)->fields());
    case program::ValueKind::kData:
      return nb::cast(Ref<const DataValue>(as_value<DataValue>(value)));
    case program::ValueKind::kCell:
      return nb::cast(Ref<const CellValue>(as_value<CellValue>(value)));
    case program::ValueKind::kFunction:
      break;
    case program::ValueKind::kDeviceTensor:
      return nb::none();  // machines give none to others
  }
  const auto* function = as_value<program::FunctionValue>(value);
  if (function->foreign()) return static_cast<const PythonFunction*>(function->foreign())->object();
  return nb::cast(Closure{value});
}

namespace {

nb::list fields_of(const DataValue& data) {
  nb::list fields;
  for (const Value& field : data.fields()) fields.append(value_to_python(field));
  return fields;
}

std::string data_text(const DataValue& data) {
  return data.constructor() ? data.constructor()->name : "tag " + std::to_string(data.tag());
}

void bind_data(nb::module_& m) {
  nb::class_<DataValue>(m, "ConstructorValue", "A value of an algebraic type.")
      .def(nb::new_([](int32_t tag, const nb::object& fields, const std::optional<Constructor>& constructor) {
             return make_ref<const DataValue>(tag, values_from_python(fields),
                                              program::info_of(constructor.value_or(Constructor())));
           }),
           nb::arg("tag"), nb::arg("fields"), nb::arg("constructor").none(),
           "`tag`: the constructor's; `fields`: a sequence of values; `constructor`: a Constructor, or None.")
      .def_prop_ro("tag", &DataValue::tag, "the number of its constructor, see IRModule.get_constructor")
      .def_prop_ro("fields", &fields_of,
                   "a list of values: NDArray, ADT, ConstructorValue, RefValue, functions")
      .def_prop_ro("constructor", &program::constructor_of, "a Constructor, or None")
      .def("__repr__", [](const DataValue& data) {
        return nb::str("ConstructorValue({}, {} fields)")
            .attr("format")(data_text(data), data.fields().size());
      });
  nb::class_<CellValue>(m, "RefValue", "A reference: what a cell holds, for everyone who has it.")
      .def(nb::new_(
               [](const nb::object& value) { return make_ref<const CellValue>(value_from_python(value)); }),
           nb::arg("value").none())
      .def_prop_rw(
          "value", [](const CellValue& cell) { return value_to_python(cell.value()); },
          [](const CellValue& cell, const nb::object& value) { cell.write(value_from_python(value)); },
          "its value now")
      .def("__repr__",
           [](const CellValue& cell) { return "RefValue(" + program::describe(cell.value()) + ")"; });
}

void bind_closures(nb::module_& m) {
  nb::class_<Closure>(m, "Closure", "A function that a program returned; calling it runs it.")
      .def("__call__",
           [](const Closure& closure, const nb::args& args) {
             const std::vector<Value> values = values_from_python(args);
             return run_program(
                 [&](const RunContext& context) { return call_value(closure.function(), values, context); });
           })
      .def("__repr__", [](const Closure& closure) { return "Closure(" + closure.function().name() + ")"; });
}

}  // namespace

void bind_values(nb::module_& m) {
  bind_data(m);
  bind_closures(m);
  nb::class_<program::InterpretedProgram>(
      m, "Program",
      "`main` of a module, run operator by operator: for control flow, recursion, "
      "algebraic types, references, shapes that are not static.")
      .def(
          "__init__",
          [](program::InterpretedProgram* self, const IRModule& module) {
            interruptible([&](const std::atomic<bool>* stop) {
              BuildContext context = door_context();
              context.interrupt = stop;
              return new (self) program::InterpretedProgram(module, optimize, context);
            });
          },
          nb::arg("mod"))
      .def(
          "__call__",
          [](const program::InterpretedProgram& program, const nb::list& args) {
            const std::vector<Value> values = values_from_python(args);
            return run_interruptibly(
                [&](const BuildContext& context) { return program.run(values, context); });
          },
          nb::arg("args"),
          "`args`: a value for each parameter. Raises TVMError, which names the argument, for others.");
  m.def(
      "evaluate_call",
      [](const Call& call, const nb::list& args) {
        if (!call->op()) throw nb::type_error("evaluate_call: a call of an operator is expected");
        const std::vector<Value> values = values_from_python(args);
        if (values.size() != call->args().size())
          throw nb::value_error("evaluate_call: a value for each argument is expected");
        return run_interruptibly([&](const BuildContext& context) {
          return program::evaluate_call(*call, values, optimize, context);
        });
      },
      nb::arg("call"), nb::arg("args"), "The value of one call of an operator on values of its arguments.");
  m.def(
      "expr_of", [](const nb::object& value) { return program::expr_of(value_from_python(value)); },
      nb::arg("value").none(),
      "The expression of a value: constants, tuples, calls of constructors, new references.");
}

}  // namespace baton::python
