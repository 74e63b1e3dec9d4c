#include "baton/transform/gradient/gradient.h"

#include "python/bind.h"
#include "python/cast_as.h"
#include "python/held.h"

namespace baton::python {

namespace {

Function gradient_of(const Expr& expr, const std::optional<IRModule>& module, const std::string& mode) {
  auto function = as_ref<FunctionNode>(expr);
  if (const auto* name = as<GlobalVarNode>(expr); name && module) function = (*module)->find(name->name());
  if (!function)
    throw nb::type_error("gradient: a Function is expected, or a GlobalVar with the module it is in");
  return gradient(function, module ? *module : IRModule(), gradient_mode(mode));
}

// `adjoints(orig, grad)` is called with the GIL, on any thread; it is never released.
void register_python_gradient(const std::string& op, nb::callable adjoints) {
  register_gradient(op, {[held = hold(std::move(adjoints))](const Call& orig, const Expr& grad) {
                      const nb::gil_scoped_acquire gil;
                      return cast_as<std::vector<Expr>>(nb::handle(held.get())(Expr(orig), grad),
                                                        "what a gradient returns", "a list of expressions");
                    }});
}

}  // namespace

void bind_gradient(nb::module_& m) {
  m.def("gradient", &gradient_of, nb::arg("expr"), nb::arg("mod").none() = nb::none(),
        nb::arg("mode") = "higher_order", "The function that returns the result of `expr` and its gradient.");
  m.def("register_gradient", &register_python_gradient, nb::arg("op_name"), nb::arg("adjoints"),
        "From now on adjoints(orig, grad) -> [Expr] is the gradient of the operator.");
}

}  // namespace baton::python
