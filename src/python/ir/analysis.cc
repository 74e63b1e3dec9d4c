#include "baton/ir/analysis/features.h"
#include "baton/ir/analysis/kinds.h"
#include "baton/ir/analysis/match_cases.h"
#include "baton/ir/analysis/well_formed.h"
#include "baton/support/error.h"

#include "python/bind.h"
#include "python/cast_as.h"

namespace baton::python {

namespace {

using MaybeModule = std::optional<IRModule>;

Kind check_kind(nb::handle t, const MaybeModule& given) {
  const IRModule module = given ? *given : make_module();
  Type type;
  if (nb::try_cast(t, type, false)) return kind_of(type, *module);
  TypeData definition;
  if (nb::try_cast(t, definition, false)) return kind_of(*definition, *module);
  throw nb::type_error("check_kind: a Type or a TypeData is expected");
}

std::vector<std::string> faults(nb::handle program, bool closed, const MaybeModule& given) {
  std::vector<FormFault> found;
  IRModule module;
  if (nb::try_cast(program, module, false)) {
    found = form_faults(*module);
  } else {
    found = form_faults(cast_as<Expr>(program, "the program", "an IRModule or an expression"),
                        {.closed = closed, .module = given ? given->get() : nullptr});
  }
  std::vector<std::string> texts;
  for (FormFault& each : found) texts.push_back(std::move(each.text));
  return texts;
}

std::vector<Pattern> unmatched(const Expr& expr, const MaybeModule& given) {
  const auto* match = as<MatchNode>(expr);
  if (!match) throw nb::type_error("unmatched_cases: a Match is expected");
  const IRModule module = given ? *given : make_module();
  for (const Clause& each : match->clauses())
    for (const std::string& text : pattern_faults(*each.pattern, module.get()))
      throw Error("unmatched_cases: " + text);
  std::optional<std::vector<Pattern>> cases = unmatched_cases(*match, *module);
  if (!cases) throw Error("unmatched_cases: there are too many cases to look at");
  return std::move(*cases);
}

std::vector<int> numbers(const std::set<Feature>& features) {
  std::vector<int> result;
  for (const Feature each : features) result.push_back(static_cast<int>(each));
  return result;
}

}  // namespace

void bind_analysis(nb::module_& m) {
  m.def("check_kind", &check_kind, nb::arg("t"), nb::arg("mod").none() = nb::none());
  m.def("form_faults", &faults, nb::arg("program"), nb::arg("closed") = false,
        nb::arg("mod").none() = nb::none());
  m.def("unmatched_cases", &unmatched, nb::arg("match"), nb::arg("mod").none() = nb::none());
  m.def("features", [](const Expr& expr) { return numbers(features(expr)); }, nb::arg("expr"));
  m.def(
      "features_of_module", [](const IRModule& module) { return numbers(features(*module)); },
      nb::arg("mod"));
  m.def("op_frequencies", [](const IRModule& module) { return op_frequencies(*module); }, nb::arg("mod"));
  m.def(
      "all_dtypes",
      [](const Expr& expr) {
        const std::set<std::string> found = all_dtypes(expr);
        return std::vector<std::string>(found.begin(), found.end());
      },
      nb::arg("expr"));
}

}  // namespace baton::python
