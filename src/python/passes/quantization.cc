// Configuration of quantised operators.
#include "python/bind.h"
#include "python/door.h"

namespace baton::python {

void bind_quantization(nb::module_& m) {
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
