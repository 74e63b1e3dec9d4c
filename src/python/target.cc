// What `with` makes current for passes: targets, and the convolutions that ConvertLayout is to skip.
#include "baton/support/error.h"
#include "baton/target/current_target.h"
#include "baton/transform/layout/layout_config.h"

#include "python/bind.h"

namespace baton::python {

void bind_target(nb::module_& m) {
  m.def(
      "enter_target",
      [](const std::string& text) {
        TargetRef target;  // stays null for a target that the compiler does not know: then none is current
        try {
          target = Target::parse(text);
        } catch (const UsageError&) {
        }
        enter_target(std::move(target));
      },
      nb::arg("text"), "Makes a target the current one of passes, on this thread.");
  m.def("exit_target", &exit_target, "Takes the innermost target away.");
  m.def("enter_layout_config", &enter_layout_config, nb::arg("skip_layers"),
        "From now on ConvertLayout leaves the nn.conv2d of these numbers alone.");
  m.def("exit_layout_config", &exit_layout_config, "Takes the innermost of them away.");
  m.def("layout_config_skips", &layout_config_skips, "Counts one convolution; whether it is to be skipped.");
  m.def("reset_layout_config", &reset_layout_config, "Counts from 0 again.");
}

}  // namespace baton::python
