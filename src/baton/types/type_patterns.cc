// Types of match, references and constructors: the ADT part of inference.
#include "baton/ir/analysis/match_cases.h"
#include "baton/types/type_inference.h"

namespace baton {

TypeData TypeInference::data_type(const ConstructorNode& constructor, const ExprNode& at) {
  const std::string& name = constructor.belongs_to()->name();
  TypeData type = module_ ? module_->find_type(name) : TypeData();
  const auto index = static_cast<size_t>(constructor.tag());
  if (type && index < type->constructors().size() &&
      type->constructors()[index]->name() == constructor.name())
    return type;
  report_kind(at, type_call(Type(constructor.belongs_to()), {}),
              "its constructor " + constructor.name() + " is not defined in the module");
  return {};
}

Type TypeInference::constructor_type(const ConstructorNode& constructor, const ExprNode& at) {
  const TypeData type = data_type(constructor, at);
  return type ? type->constructor_type(constructor) : solver_.error();
}

// Checks that data types are defined and have the right number of arguments.
bool TypeInference::check_kinds(const Type& annotation, const ExprNode& at) {
  if (annotation->kind() == TypeKind::kTensor || annotation->kind() == TypeKind::kIncomplete) return true;
  bool good = true;
  visit_types(annotation, [&](const Type& part) {
    const auto* call = as_type<TypeCallNode>(part);
    if (!call || !good) return;
    const auto* name = as_type<GlobalTypeVarNode>(call->callee());
    const TypeData type = name && module_ ? module_->find_type(name->name()) : TypeData();
    good = type && type->type_vars().size() == call->args().size();
    if (good) return;
    std::string why = "only data types take arguments";
    if (name) why = "there is no data type of that name in the module";
    if (type) why = "it is defined with " + std::to_string(type->type_vars().size()) + " type arguments";
    report_kind(at, part, why);
  });
  return good;
}

void TypeInference::enter_clause(const MatchNode& match, const Clause& clause, const Frame& frame) {
  for (const Var& var : pattern_vars(clause.pattern)) {
    bind_var(*var, number_var(*var));
  }
  const NodeId data = edge_stack_[frame.edge_base];
  const Type type = data == kTyped ? match.data()->checked_type() : type_of(data);
  infer_pattern(clause.pattern, type ? type : solver_.error(), match);
}

void TypeInference::infer_pattern(const Pattern& pattern, const Type& type, const MatchNode& match) {
  TypeSolver::Mismatch mismatch;
  switch (pattern->kind()) {
    case PatternKind::kWildcard:
      return;
    case PatternKind::kVar: {
      const NodeId id = *ids_.find(pattern->var().get());
      if (!set_type(id, type, &mismatch))
        report_mismatch(*pattern->var(), "what %" + pattern->var()->name() + " stands for", type, types_[id],
                        mismatch.why);
      return;
    }
    case PatternKind::kTuple: {
      std::vector<Type> fields;
      for (size_t i = 0; i < pattern->patterns().size(); ++i) fields.push_back(solver_.fresh());
      const Type tuple = tuple_type(fields);
      if (!solver_.unify(type, tuple, &mismatch)) {
        report_mismatch(match, "the value that pattern " + pattern_text(pattern) + " takes apart", type,
                        tuple, mismatch.why);
        fields.assign(fields.size(), solver_.error());
      }
      for (size_t i = 0; i < fields.size(); ++i) infer_pattern(pattern->patterns()[i], fields[i], match);
      return;
    }
    case PatternKind::kConstructor:
      break;
  }
  const ConstructorNode& constructor = *pattern->constructor();
  const TypeData data = data_type(constructor, match);
  std::vector<Type> fields(pattern->patterns().size(), solver_.error());
  if (data) {
    const Type made = solver_.instantiate(*as_type<FuncTypeNode>(data->constructor_type(constructor)));
    const auto* function = as_type<FuncTypeNode>(made);
    if (!solver_.unify(type, function->result(), &mismatch))
      report_mismatch(match, "the value that pattern " + pattern_text(pattern) + " takes apart", type,
                      function->result(), mismatch.why);
    else if (function->params().size() == fields.size())
      fields = function->params();
    else
      report_kind(match, data->constructor_type(constructor),
                  "pattern " + pattern_text(pattern) + " gives another number of fields");
  }
  for (size_t i = 0; i < fields.size(); ++i) infer_pattern(pattern->patterns()[i], fields[i], match);
}

void TypeInference::infer_match(const MatchNode& match, NodeId id) {
  Type all = type_of(id);
  uint32_t index = 1;
  for (const Clause& clause : match.clauses()) {
    TypeSolver::Mismatch mismatch;
    const Type body = child_type(id, index++, *clause.body);
    if (const auto both = solver_.unify(all, body, &mismatch)) {
      all = *both;
      continue;
    }
    report_mismatch(*clause.body, "the clause of pattern " + pattern_text(clause.pattern), body, all,
                    mismatch.why);
    set_error(id);
  }
  if (match.complete() && module_) report_unmatched(match);
}

void TypeInference::infer_reference(const ExprNode& node, NodeId id) {
  TypeSolver::Mismatch mismatch;
  if (const auto* create = as<RefCreateNode>(&node)) {
    types_[id] = ref_type(child_type(id, 0, *create->value()));
    return;
  }
  const auto* read = as<RefReadNode>(&node);
  const auto* write = as<RefWriteNode>(&node);
  const Expr& cell = read ? read->ref() : write->ref();
  const Type seen = child_type(id, 0, *cell);
  const Type value = write ? child_type(id, 1, *write->value()) : type_of(id);
  if (!solver_.unify(seen, ref_type(value), &mismatch)) {
    report_mismatch(*cell, read ? "what `ref_read` reads" : "what `ref_write` writes", seen, ref_type(value),
                    mismatch.why);
    if (read) set_error(id);
  }
  if (write) types_[id] = tuple_type({});
}

}  // namespace baton
