#include "baton/ir/visit.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "baton/ir/variables.h"

#include "python/bind.h"

namespace baton::python {

namespace {

constexpr size_t kMany = 100'000;

// Returns freed memory to the system: a deep walk's stack takes tens of megabytes, which glibc otherwise
// keeps.
void give_back_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

using OfExpr = std::vector<TypeVar> (*)(const Expr&);
using OfType = std::vector<TypeVar> (*)(const Type&);

// Defines one of the functions that collect type variables, for expressions and types.
void def_type_vars(nb::module_& m, const char* name, OfExpr of_expr, OfType of_type) {
  m.def(
      name,
      [name, of_expr, of_type](nb::handle expr) {
        Expr given;
        if (nb::try_cast(expr, given, false)) return of_expr(given);
        Type type;
        if (nb::try_cast(expr, type, false)) return of_type(type);
        throw nb::type_error((std::string(name) + ": an expression or a type is expected").c_str());
      },
      nb::arg("expr"));
}

}  // namespace

void bind_visit(nb::module_& m) {
  m.def(
      "post_order_visit",
      [](const Expr& expr, const nb::callable& fvisit) {
        size_t nodes = 0;
        post_order(expr, [&](const Expr& each) {
          fvisit(each);
          ++nodes;
        });
        if (nodes > kMany) give_back_memory();
      },
      nb::arg("expr"), nb::arg("fvisit"), "Calls fvisit(node) once for each node, children first.");
  m.def("free_vars", &free_vars, nb::arg("expr"),
        "Variables used but not bound inside, in the order of their first use.");
  m.def("bound_vars", &bound_vars, nb::arg("expr"),
        "Variables bound inside, by functions, lets and patterns.");
  m.def("all_vars", &all_vars, nb::arg("expr"), "All variables, once each, in the order of the text.");
  def_type_vars(m, "free_type_vars", &free_type_vars, &free_type_vars);
  def_type_vars(m, "bound_type_vars", &bound_type_vars, &bound_type_vars);
  def_type_vars(m, "all_type_vars", &all_type_vars, &all_type_vars);
}

}  // namespace baton::python
