// Algebraic data types, match, references. One class binds all patterns; python/baton/relay/adt.py
// distinguishes them.
#include "baton/ir/adt.h"

#include "baton/ir/analysis/constructors.h"
#include "baton/support/error.h"

#include "python/bind.h"

namespace baton::python {

namespace {

const char* kind_name(const PatternNode& pattern) {
  switch (pattern.kind()) {
    case PatternKind::kWildcard:
      return "PatternWildcard";
    case PatternKind::kVar:
      return "PatternVar";
    case PatternKind::kConstructor:
      return "PatternConstructor";
    case PatternKind::kTuple:
      return "PatternTuple";
  }
  internal_error(__FILE__, __LINE__, "a pattern of no kind", "");
}

[[noreturn]] void no_field(const PatternNode& pattern, const char* name) {
  throw nb::attribute_error((std::string(kind_name(pattern)) + " has no attribute " + name).c_str());
}

const Var& var_of(const PatternNode& pattern) {
  if (pattern.kind() != PatternKind::kVar) no_field(pattern, "var");
  return pattern.var();
}

const Constructor& constructor_of(const PatternNode& pattern) {
  if (pattern.kind() != PatternKind::kConstructor) no_field(pattern, "constructor");
  return pattern.constructor();
}

const std::vector<Pattern>& patterns_of(const PatternNode& pattern) {
  if (pattern.kind() != PatternKind::kConstructor && pattern.kind() != PatternKind::kTuple)
    no_field(pattern, "patterns");
  return pattern.patterns();
}

std::vector<Pattern> patterns_or_none(std::optional<std::vector<Pattern>> patterns) {
  return std::move(patterns).value_or(std::vector<Pattern>());
}

void bind_match_patterns(nb::module_& m) {
  nb::class_<PatternNode>(m, "Pattern", "What the value of a match is compared with.")
      .def_prop_ro("_kind", &kind_name)
      .def_prop_ro("var", &var_of, "of a PatternVar: a Var")
      .def_prop_ro("constructor", &constructor_of, "of a PatternConstructor: a Constructor")
      .def_prop_ro("patterns", &patterns_of, "of a PatternConstructor or PatternTuple: those of its parts")
      .def("__str__", [](const PatternNode& pattern) { return pattern_text(Pattern(&pattern)); });
  m.def("wildcard_pattern", &wildcard_pattern);
  m.def("var_pattern", &var_pattern, nb::arg("var"));
  m.def(
      "constructor_pattern",
      [](const Constructor& constructor, std::optional<std::vector<Pattern>> patterns) {
        return constructor_pattern(constructor, patterns_or_none(std::move(patterns)));
      },
      nb::arg("constructor"), nb::arg("patterns").none() = nb::none());
  m.def(
      "tuple_pattern",
      [](std::optional<std::vector<Pattern>> patterns) {
        return tuple_pattern(patterns_or_none(std::move(patterns)));
      },
      nb::arg("patterns").none() = nb::none());

  nb::class_<Clause>(m, "Clause", "One case of a match: a pattern, and the value when it fits.")
      .def(
          "__init__", [](Clause* self, const Pattern& lhs, const Expr& rhs) { new (self) Clause{lhs, rhs}; },
          nb::arg("lhs"), nb::arg("rhs"))
      .def_prop_ro("lhs", [](const Clause& clause) { return clause.pattern; })
      .def_prop_ro("rhs", [](const Clause& clause) { return clause.body; });
}

void bind_references(nb::module_& m) {
  nb::class_<RefCreateNode, ExprNode>(m, "RefCreate", "A new cell that holds a value.")
      .def(nb::new_([](const Expr& value, const MaybeSpan& span) {
             return as_ref<RefCreateNode>(ref_create(value, span_or_none(span)));
           }),
           nb::arg("value"), nb::arg("span") = nb::none())
      .def_prop_ro("value", &RefCreateNode::value);
  nb::class_<RefReadNode, ExprNode>(m, "RefRead", "What a cell holds.")
      .def(nb::new_([](const Expr& ref, const MaybeSpan& span) {
             return as_ref<RefReadNode>(ref_read(ref, span_or_none(span)));
           }),
           nb::arg("ref"), nb::arg("span") = nb::none())
      .def_prop_ro("ref", &RefReadNode::ref);
  nb::class_<RefWriteNode, ExprNode>(m, "RefWrite", "Puts a value into a cell; is itself the empty tuple.")
      .def(nb::new_([](const Expr& ref, const Expr& value, const MaybeSpan& span) {
             return as_ref<RefWriteNode>(ref_write(ref, value, span_or_none(span)));
           }),
           nb::arg("ref"), nb::arg("value"), nb::arg("span") = nb::none())
      .def_prop_ro("ref", &RefWriteNode::ref)
      .def_prop_ro("value", &RefWriteNode::value);
}

}  // namespace

void bind_adt(nb::module_& m) {
  nb::class_<ConstructorNode, ExprNode>(m, "Constructor",
                                        "One way to make a value of a data type; called like a function.")
      .def(nb::new_([](const std::string& name, std::vector<Type> inputs, const GlobalTypeVar& belong_to) {
             return make_ref<const ConstructorNode>(name, std::move(inputs), belong_to, -1);
           }),
           nb::arg("name_hint"), nb::arg("inputs"), nb::arg("belong_to"))
      .def_prop_ro("name_hint", &ConstructorNode::name)
      .def_prop_ro("inputs", &ConstructorNode::inputs, "the types of its fields")
      .def_prop_ro("belong_to", &ConstructorNode::belongs_to, "a GlobalTypeVar")
      .def_prop_ro("tag", &constructor_tag,
                   "its number, see IRModule.get_constructor; -1 before it is in a TypeData");

  nb::class_<TypeDataNode>(m, "TypeData", "The definition of a data type.")
      .def(nb::new_([](const GlobalTypeVar& header, std::vector<TypeVar> type_vars,
                       std::vector<Constructor> constructors) {
             return define_type(header, std::move(type_vars), std::move(constructors));
           }),
           nb::arg("header"), nb::arg("type_vars"), nb::arg("constructors"),
           "Raises TVMError when a constructor is given twice or belongs to another type.")
      .def_prop_ro("header", &TypeDataNode::header, "a GlobalTypeVar")
      .def_prop_ro("type_vars", &TypeDataNode::type_vars)
      .def_prop_ro("constructors", &TypeDataNode::constructors)
      .def(
          "same_as", [](nb::handle a, nb::handle b) { return a.is(b); }, nb::arg("other").none(),
          "Identity.");

  bind_match_patterns(m);
  nb::class_<MatchNode, ExprNode>(m, "Match", "The value of the first clause whose pattern fits.")
      .def(nb::new_([](const Expr& data, std::vector<Clause> clauses, bool complete, const MaybeSpan& span) {
             return as_ref<MatchNode>(match(data, std::move(clauses), complete, span_or_none(span)));
           }),
           nb::arg("data"), nb::arg("clauses"), nb::arg("complete") = true, nb::arg("span") = nb::none())
      .def_prop_ro("data", &MatchNode::data)
      .def_prop_ro("clauses", &MatchNode::clauses, nb::rv_policy::copy)
      .def_prop_ro("complete", &MatchNode::complete, "False: match?, which may miss a case");
  bind_references(m);
}

}  // namespace baton::python
