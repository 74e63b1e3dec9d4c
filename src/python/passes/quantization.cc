// Configuration of quantised operators.
#include "baton/transform/quantize/fake_quantization_hooks.h"
#include "baton/transform/quantize/partition_conversions.h"
#include "baton/transform/quantize/quantize_statistics.h"

#include "python/bind.h"
#include "python/door.h"
#include "python/held.h"

namespace baton::python {

namespace {

// (scale, zero point, dtype, axis); a list of those of a tuple's fields.
nb::object to_python(const AffineType& type) {
  if (!type.is_tuple()) return nb::make_tuple(type.scale, type.zero_point, type.dtype.str(), type.axis);
  nb::list fields;
  for (const AffineType& field : type.fields) fields.append(to_python(field));
  return fields;
}

AffineType affine_of(nb::handle given) {
  AffineType type;
  if (nb::isinstance<nb::list>(given)) {
    for (const nb::handle each : given) type.fields.push_back(affine_of(each));
    return type;
  }
  const auto parts = nb::cast<nb::tuple>(given);
  type.scale = nb::cast<Expr>(parts[0]);
  type.zero_point = nb::cast<Expr>(parts[1]);
  type.dtype = dtype_from_text(nb::cast<std::string>(parts[2]));
  type.axis = nb::cast<int>(parts[3]);
  return type;
}

// The answer of a user's rule. What it raises says that it cannot do the call; interrupts pass.
nb::object asked(nb::handle rule, const std::string& op, const Expr& call, const nb::list& types,
                 const nb::object& out) {
  try {
    return rule(call, types, out);
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;
    throw NotSupported(op + ": its rule raised " + error.what());
  }
}

// f(call on quantised arguments, [affine type or None of each], affine type at the end of the region or None)
// -> (expression, affine type), or None where the call stays.
FakeQuantizationRule fake_quantization_rule_of(nb::object function) {
  return {[held = hold(std::move(function))](const FakeQuantizedCall& at) -> std::optional<AffineExpr> {
    const nb::gil_scoped_acquire gil;
    std::vector<Expr> args;
    nb::list types;
    for (const FakeQuantizedCall::Arg& arg : at.args) {
      args.push_back(arg.expr);
      types.append(arg.type ? to_python(*arg.type) : nb::none());
    }
    const Expr call = make_call(at.call.callee(), std::move(args), at.call.attrs(),
                                NodeInfo(at.call.origins(), at.call.span()));
    const nb::object answer = asked(nb::handle(held.get()), at.call.op()->name, call, types,
                                    at.out ? to_python(*at.out) : nb::object(nb::none()));
    if (answer.is_none()) return std::nullopt;
    return AffineExpr{nb::cast<Expr>(nb::object(answer[0])), affine_of(nb::object(answer[1]))};
  }};
}

}  // namespace

void bind_quantization(nb::module_& m) {
  m.def(
      "set_fake_quantization_hook",
      [](const std::string& op, nb::object function) {
        set_fake_quantization_hook(op, fake_quantization_rule_of(std::move(function)));
      },
      nb::arg("op"), nb::arg("function"),
      "From now on FakeQuantizationToInteger asks `function` how the operator is computed in integers.");
  m.def("reset_fake_quantization_hook", &reset_fake_quantization_hook, nb::arg("op"),
        "The operator's own rule is asked again.");
  m.def("count_rounded_values", &count_rounded_values, nb::arg("module"),
        "How many values of an annotated module need a scale, weights aside.");
  m.def("rounded_values", &rounded_values, nb::arg("module"), nb::arg("first"), nb::arg("count"),
        "A module that returns `count` of those values, from `first` on, before they are rounded.");
  m.def("scale_by_divergence", &scale_by_divergence, nb::arg("values"),
        "The scale that loses the least information between the distribution of float32 values and the same "
        "in 255 steps.");
  m.def("scale_by_percentile", &scale_by_percentile, nb::arg("values"),
        "The magnitude that 99.999 % of float32 values stay below.");
  m.def(
      "partition_conversions",
      [](const IRModule& module, const std::vector<std::string>& dtypes) {
        std::vector<DType> quantized;
        for (const std::string& dtype : dtypes) quantized.push_back(dtype_from_text(dtype));
        PartitionedConversions parts = partition_conversions(module, quantized);
        return std::pair(std::move(parts.module), std::move(parts.not_integral));
      },
      nb::arg("module"), nb::arg("quantized_dtypes"),
      "A quantised module in three functions and a main that calls them, and what is not integral, or \"\".");
  m.def(
      "enter_requantize_config",
      [](std::string rounding, std::string compute_dtype) {
        enter_requantize_config({std::move(rounding), std::move(compute_dtype)});
      },
      nb::arg("rounding"), nb::arg("compute_dtype"),
      "What qnn.requantize means by None from now on, on this thread. UsageError for a value that is not "
      "known.");
  m.def("exit_requantize_config", &exit_requantize_config, "Takes the last configuration away.");
  m.def(
      "current_requantize_config",
      [] {
        const RequantizeConfig config = current_requantize_config();
        return std::pair(config.rounding, config.compute_dtype);
      },
      "(rounding, compute_dtype); \"None\" leaves the latter to the target.");
}

}  // namespace baton::python
