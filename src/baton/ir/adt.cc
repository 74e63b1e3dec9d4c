#include "baton/ir/adt.h"

#include <algorithm>
#include <set>

#include "baton/ir/origin_scope.h"
#include "baton/support/error.h"

namespace baton {

Type TypeDataNode::self_type() const {
  return type_call(Type(header_), std::vector<Type>(type_vars_.begin(), type_vars_.end()));
}

Type TypeDataNode::constructor_type(const ConstructorNode& constructor) const {
  return func_type(constructor.inputs(), self_type(), type_vars_);
}

TypeData type_data(GlobalTypeVar header, std::vector<TypeVar> type_vars,
                   const std::vector<std::pair<std::string, std::vector<Type>>>& constructors, Span span) {
  std::vector<Constructor> made;
  for (const auto& [name, inputs] : constructors)
    made.push_back(make_ref<const ConstructorNode>(name, inputs, header, static_cast<int>(made.size())));
  return make_ref<const TypeDataNode>(std::move(header), std::move(type_vars), std::move(made),
                                      std::move(span));
}

TypeData define_type(GlobalTypeVar header, std::vector<TypeVar> type_vars,
                     std::vector<Constructor> constructors, Span span) {
  std::set<std::string> names;
  for (size_t i = 0; i < constructors.size(); ++i) {
    const ConstructorNode& each = *constructors[i];
    const std::string what = "constructor " + each.name() + " of type " + header->name();
    if (each.belongs_to()->name() != header->name())
      throw Error(what + " belongs to type " + each.belongs_to()->name());
    if (!names.insert(each.name()).second) throw Error(what + " is given twice");
    if (each.tag() >= 0 && each.tag() != static_cast<int>(i))
      throw Error(what + " is number " + std::to_string(each.tag()) +
                  " of another definition, and cannot be number " + std::to_string(i) + " here");
  }
  for (size_t i = 0; i < constructors.size(); ++i) constructors[i]->place(static_cast<int>(i));
  return make_ref<const TypeDataNode>(std::move(header), std::move(type_vars), std::move(constructors),
                                      std::move(span));
}

Pattern wildcard_pattern() {
  return make_ref<const PatternNode>(PatternKind::kWildcard, Var(), Constructor(), std::vector<Pattern>());
}
Pattern var_pattern(Var var) {
  return make_ref<const PatternNode>(PatternKind::kVar, std::move(var), Constructor(),
                                     std::vector<Pattern>());
}
Pattern constructor_pattern(Constructor constructor, std::vector<Pattern> patterns) {
  return make_ref<const PatternNode>(PatternKind::kConstructor, Var(), std::move(constructor),
                                     std::move(patterns));
}
Pattern tuple_pattern(std::vector<Pattern> patterns) {
  return make_ref<const PatternNode>(PatternKind::kTuple, Var(), Constructor(), std::move(patterns));
}

namespace {

void collect_vars(const Pattern& pattern, std::vector<Var>& vars) {
  if (pattern->kind() == PatternKind::kVar) vars.push_back(pattern->var());
  for (const Pattern& each : pattern->patterns()) collect_vars(each, vars);
}

}  // namespace

std::vector<Var> pattern_vars(const Pattern& pattern) {
  std::vector<Var> vars;
  collect_vars(pattern, vars);
  return vars;
}

Pattern rewrite_pattern(const Pattern& pattern, FunctionRef<Var(const Var&)> change) {
  if (pattern->kind() == PatternKind::kVar) {
    Var var = change(pattern->var());
    return var == pattern->var() ? pattern : var_pattern(std::move(var));
  }
  std::vector<Pattern> patterns;
  for (const Pattern& each : pattern->patterns()) patterns.push_back(rewrite_pattern(each, change));
  if (patterns == pattern->patterns()) return pattern;
  if (pattern->kind() == PatternKind::kTuple) return tuple_pattern(std::move(patterns));
  return constructor_pattern(pattern->constructor(), std::move(patterns));
}

std::string pattern_text(const Pattern& pattern) {
  if (pattern->kind() == PatternKind::kWildcard) return "_";
  if (pattern->kind() == PatternKind::kVar) return "%" + pattern->var()->name();
  std::string parts;
  for (const Pattern& each : pattern->patterns()) parts += (parts.empty() ? "" : ", ") + pattern_text(each);
  if (pattern->kind() == PatternKind::kTuple)
    return "(" + parts + (pattern->patterns().size() == 1 ? ",)" : ")");
  return pattern->constructor()->name() + (parts.empty() ? "" : "(" + parts + ")");
}

Expr make_match(Expr data, std::vector<Clause> clauses, bool complete, NodeInfo info) {
  keep_type_if(
      is_typed(data.get()) && std::all_of(clauses.begin(), clauses.end(),
                                          [](const Clause& each) { return is_typed(each.body.get()); }),
      info);
  return make_ref<const MatchNode>(std::move(data), std::move(clauses), complete,
                                   info_for_new_node(std::move(info)));
}
Expr match(Expr data, std::vector<Clause> clauses, bool complete, Span span) {
  return make_match(std::move(data), std::move(clauses), complete,
                    NodeInfo(OriginScope::current_or_none(), std::move(span)));
}
}  // namespace baton
