#pragma once
// Algebraic data types: their definitions, their constructors, and `match`, which takes their values apart.
#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/support/function_ref.h"

namespace baton {

/// One way to make a value of a data type: `Cons` of `List`. A leaf, called like a function. One that is made
/// before its data type has no tag (-1) until define_type gives it one.
class ConstructorNode final : public ExprNode {
 public:
  static constexpr ExprKind kKind = ExprKind::kConstructor;
  ConstructorNode(std::string name, std::vector<Type> inputs, GlobalTypeVar belongs_to, int tag)
      : ExprNode(kKind, NodeInfo(OriginSet::none())),
        name_(std::move(name)),
        inputs_(std::move(inputs)),
        belongs_to_(std::move(belongs_to)),
        tag_(tag) {}
  const std::string& name() const { return name_; }
  const std::vector<Type>& inputs() const { return inputs_; }  ///< over the data type's type variables
  const GlobalTypeVar& belongs_to() const { return belongs_to_; }
  int tag() const { return tag_; }  ///< its place among the constructors of its type; -1 before that is known
  void place(int tag) const { tag_ = tag; }  ///< once, by define_type

 private:
  std::string name_;
  std::vector<Type> inputs_;
  GlobalTypeVar belongs_to_;
  mutable int tag_;
};
using Constructor = Ref<const ConstructorNode>;

/// `type List[A] { Cons(A, List[A]), Nil, }`. Without constructors it is extern: known by name only.
class TypeDataNode final : public RefCounted {
 public:
  TypeDataNode(GlobalTypeVar header, std::vector<TypeVar> type_vars, std::vector<Constructor> constructors,
               Span span = {})
      : header_(std::move(header)),
        type_vars_(std::move(type_vars)),
        constructors_(std::move(constructors)),
        span_(std::move(span)) {}
  const GlobalTypeVar& header() const { return header_; }
  const std::vector<TypeVar>& type_vars() const { return type_vars_; }
  const std::vector<Constructor>& constructors() const { return constructors_; }
  const Span& span() const { return span_; }
  /// The type of the values over its own variables: `List[A]`.
  Type self_type() const;
  /// A constructor as a function: `fn [A](A, List[A]) -> List[A]`.
  Type constructor_type(const ConstructorNode& constructor) const;

 private:
  GlobalTypeVar header_;
  std::vector<TypeVar> type_vars_;
  std::vector<Constructor> constructors_;
  Span span_;
};
using TypeData = Ref<const TypeDataNode>;

/// Makes `inputs[i]`, the arguments of constructor `names[i]`, into a data type.
TypeData type_data(GlobalTypeVar header, std::vector<TypeVar> type_vars,
                   const std::vector<std::pair<std::string, std::vector<Type>>>& constructors,
                   Span span = {});

/// A data type from constructors that were made before it (tag -1), which get their tags. Throws Error when
/// one is of another data type, was placed elsewhere before, or has the name of another one.
TypeData define_type(GlobalTypeVar header, std::vector<TypeVar> type_vars,
                     std::vector<Constructor> constructors, Span span = {});

// ---- Patterns

enum class PatternKind : uint8_t { kWildcard, kVar, kConstructor, kTuple };

/// What the value of a `match` is compared with. One class: kinds differ in what they use of it.
class PatternNode final : public RefCounted {
 public:
  PatternNode(PatternKind kind, Var var, Constructor constructor,
              std::vector<Ref<const PatternNode>> patterns)
      : kind_(kind),
        var_(std::move(var)),
        constructor_(std::move(constructor)),
        patterns_(std::move(patterns)) {}
  PatternKind kind() const { return kind_; }
  const Var& var() const { return var_; }                          ///< of kVar
  const Constructor& constructor() const { return constructor_; }  ///< of kConstructor
  const std::vector<Ref<const PatternNode>>& patterns() const {
    return patterns_;
  }  ///< of kConstructor and kTuple

 private:
  PatternKind kind_;
  Var var_;
  Constructor constructor_;
  std::vector<Ref<const PatternNode>> patterns_;
};
using Pattern = Ref<const PatternNode>;

Pattern wildcard_pattern();
Pattern var_pattern(Var var);
Pattern constructor_pattern(Constructor constructor, std::vector<Pattern> patterns);
Pattern tuple_pattern(std::vector<Pattern> patterns);
/// The variables that a pattern binds, from left to right.
std::vector<Var> pattern_vars(const Pattern& pattern);
/// `pattern` with its variables replaced; the very same object when none was.
Pattern rewrite_pattern(const Pattern& pattern, FunctionRef<Var(const Var&)> change);
/// Relay text: `Cons(%h, _)`.
std::string pattern_text(const Pattern& pattern);

struct Clause {
  Pattern pattern;
  Expr body;
};

/// `match (data) { pattern => body, ... }`: the body of the first pattern that fits.
class MatchNode final : public ExprNode {
 public:
  static constexpr ExprKind kKind = ExprKind::kMatch;
  MatchNode(Expr data, std::vector<Clause> clauses, bool complete, NodeInfo info)
      : ExprNode(kKind, std::move(info)),
        data_(std::move(data)),
        clauses_(std::move(clauses)),
        complete_(complete) {}
  const Expr& data() const { return data_; }
  const std::vector<Clause>& clauses() const { return clauses_; }
  bool complete() const { return complete_; }  ///< false: `match?`, which may miss a case

 private:
  Expr data_;
  std::vector<Clause> clauses_;
  bool complete_;
};

Expr make_match(Expr data, std::vector<Clause> clauses, bool complete, NodeInfo info);
Expr match(Expr data, std::vector<Clause> clauses, bool complete = true, Span span = {});

}  // namespace baton
