#include "baton/ir/visit.h"

#include "bind.h"

namespace baton::python {

void bind_visit(nb::module_& m) {
  m.def(
      "post_order_visit",
      [](const Expr& expr, const nb::callable& fvisit) {
        post_order(expr, [&](const Expr& each) { fvisit(each); });
      },
      nb::arg("expr"), nb::arg("fvisit"), "Calls fvisit(node) once for each node, children first.");
  m.def("free_vars", &free_vars, nb::arg("expr"),
        "Variables used but not bound inside, in the order of their first use.");
  m.def(
      "all_vars",
      [](const Expr& expr) {
        std::vector<Var> vars;
        post_order(expr, [&](const Expr& each) {
          if (Var var = as_ref<VarNode>(each)) vars.push_back(std::move(var));
        });
        return vars;
      },
      nb::arg("expr"), "All variables, in post-order.");
}

}  // namespace baton::python
