// Compilation configurations, device placement, and mixed-precision rules.
#include "baton/ir/placement.h"

#include "baton/ir/rules/mixed_precision_rule.h"
#include "baton/transform/devices/compilation_config.h"

#include "python/bind.h"
#include "python/cast_as.h"
#include "python/held.h"

namespace baton::python {

namespace {

// A Python rule: rule(call, "float16") -> [colour, accumulation dtype, output dtype].
MixedPrecisionFunction rule_of(nb::callable rule) {
  return [held = hold(std::move(rule))](const Expr& call, DType type) {
    const nb::gil_scoped_acquire gil;
    const nb::object answer = nb::handle(held.get())(call, type.str());
    if (!nb::isinstance<nb::sequence>(answer) || nb::len(answer) != 3)
      throw nb::type_error("a rule of mixed precision returns [colour, accumulation dtype, output dtype]");
    const int colour = cast_as<int>(answer[0], "the colour of a rule of mixed precision", "an int");
    if (colour < 0 || colour > 2)
      throw nb::value_error("the colour of a rule of mixed precision is 0, 1 or 2");
    return MixedPrecisionRule{
        static_cast<MixedPrecision>(colour),
        dtype_from_text(cast_as<std::string>(answer[1], "the accumulation dtype", "a str")),
        dtype_from_text(cast_as<std::string>(answer[2], "the output dtype", "a str"))};
  };
}

}  // namespace

void bind_placement(nb::module_& m) {
  nb::class_<CompilationConfig>(
      m, "CompilationConfig",
      "The targets that a program is compiled for, and where values live when nothing else is said.")
      .def(
          "__init__",
          [](CompilationConfig* self, const PassContextRef& context, const std::vector<std::string>& targets,
             const std::string& host) {
            new (self) CompilationConfig(CompilationConfig::make(*context, targets, host));
          },
          nb::arg("context"), nb::arg("targets"), nb::arg("host") = "")
      .def_prop_ro("_primitive_targets",
                   [](const CompilationConfig& config) {
                     std::vector<std::string> targets;
                     for (const TargetRef& target : config.primitive_targets)
                       targets.push_back(target->options());
                     return targets;
                   })
      .def_prop_ro("_host",
                   [](const CompilationConfig& config) { return config.host_device.target->options(); })
      .def_ro("default_primitive_virtual_device", &CompilationConfig::default_device)
      .def_ro("host_virtual_device", &CompilationConfig::host_device)
      .def("canonical_virtual_device", &CompilationConfig::canonical, nb::arg("virtual_device"),
           "With its target filled in; UsageError when there is none.")
      .def("__str__", &CompilationConfig::text)
      .def("__repr__", &CompilationConfig::text);

  m.def(
      "target_options", [](const std::string& target) { return Target::parse(target)->options(); },
      nb::arg("target"), "With keys and defaults, options sorted.");
  m.def(
      "function_devices",
      [](const FunctionNode& function) {
        nb::list params;
        for (size_t i = 0; i < function.params().size(); ++i) {
          const VirtualDevice* device = param_device(function, i);
          params.append(device ? nb::cast(*device) : nb::none());
        }
        const VirtualDevice* result = result_device(function);
        return nb::make_tuple(params, result ? nb::cast(*result) : nb::none());
      },
      nb::arg("function"),
      "([where each parameter lives], where the result does); None where nothing is said.");
  m.def(
      "with_devices",
      [](const Function& function, const std::vector<VirtualDevice>& params, const VirtualDevice& result) {
        return with_devices(function, params, result);
      },
      nb::arg("function"), nb::arg("params"), nb::arg("result"));
  m.def(
      "register_mixed_precision",
      [](const std::string& op, nb::callable rule, int level) {
        register_mixed_precision(op, rule_of(std::move(rule)), level);
      },
      nb::arg("op"), nb::arg("rule"), nb::arg("level"));
}

}  // namespace baton::python
