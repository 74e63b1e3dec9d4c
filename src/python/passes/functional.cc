#include "baton/transform/functional/cps.h"
#include "baton/transform/functional/defunctionalization.h"
#include "baton/transform/functional/to_a_normal_form_expr.h"
#include "baton/transform/simplify/eliminate_common_subexpr.h"

#include "python/bind.h"
#include "python/held.h"

namespace baton::python {

void bind_functional(nb::module_& m) {
  m.def(
      "to_cps",
      [](const Function& func, const std::optional<IRModule>& mod) {
        return to_cps(func, mod ? *mod : make_module());
      },
      nb::arg("func"), nb::arg("mod").none() = nb::none(),
      "The function in continuation-passing style. Functions of `mod` that it calls are entered there as "
      "NAME_cps.");
  m.def("un_cps", &un_cps, nb::arg("func"),
        "A function in continuation-passing style as one that returns its result.");
  m.def(
      "defunctionalize",
      [](const Function& func, const IRModule& mod) {
        const RetireLog log;  // discarded: there is no module with an origin table
        return defunctionalize(func, mod);
      },
      nb::arg("func"), nb::arg("mod"),
      "The function with data in the place of functions; `mod` gets what that needs.");
  m.def(
      "eliminate_common_subexpr",
      [](nb::object skip) { return eliminate_common_subexpr_but(predicate_of(std::move(skip))); },
      nb::arg("fskip"),
      "The pass EliminateCommonSubexpr; expressions for which fskip(expr) is true stay as they are.");
  m.def("to_a_normal_form_expr", &to_a_normal_form_expr, nb::arg("expr"), "The expression in A-normal form.");
}

}  // namespace baton::python
