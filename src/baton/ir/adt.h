#pragma once
// Algebraic data types (ADTs): type definitions, constructors, and `match` expressions with their patterns.
#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/support/function_ref.h"

namespace baton {

/// A constructor of a data type, such as `Cons` of `List`. A leaf; constructing a value is a call of it. The
/// tag is -1 until define_type assigns one.
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
  int tag() const { return tag_; }  ///< index among the constructors of its type; -1 before define_type
  void place(int tag) const { tag_ = tag; }  ///< sets the tag; called once, by define_type

 private:
  std::string name_;
  std::vector<Type> inputs_;
  GlobalTypeVar belongs_to_;
  mutable int tag_;
};
using Constructor = Ref<const ConstructorNode>;

/// The definition `type List[A] { Cons(A, List[A]), Nil, }`. Without constructors the type is extern
/// (opaque).
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
  /// The defined type applied to its own type parameters: `List[A]`.
  Type self_type() const;
  /// The function type of a constructor: `fn [A](A, List[A]) -> List[A]`.
  Type constructor_type(const ConstructorNode& constructor) const;

 private:
  GlobalTypeVar header_;
  std::vector<TypeVar> type_vars_;
  std::vector<Constructor> constructors_;
  Span span_;
};
using TypeData = Ref<const TypeDataNode>;

/// Defines a data type; `inputs[i]` are the argument types of constructor `names[i]`.
TypeData type_data(GlobalTypeVar header, std::vector<TypeVar> type_vars,
                   const std::vector<std::pair<std::string, std::vector<Type>>>& constructors,
                   Span span = {});

/// Defines a data type from existing constructors (tag -1) and assigns their tags. Throws Error when a
/// constructor belongs to another data type, already has a tag, or repeats another one's name.
TypeData define_type(GlobalTypeVar header, std::vector<TypeVar> type_vars,
                     std::vector<Constructor> constructors, Span span = {});

// ---- Patterns

enum class PatternKind : uint8_t { kWildcard, kVar, kConstructor, kTuple };

/// A pattern of a `match` clause. One class for all kinds; which fields are valid depends on the kind.
class PatternNode final : public RefCounted {
 public:
  PatternNode(PatternKind kind, Var var, Constructor constructor,
              std::vector<Ref<const PatternNode>> patterns)
      : kind_(kind),
        var_(std::move(var)),
        constructor_(std::move(constructor)),
        patterns_(std::move(patterns)) {}
  PatternKind kind() const { return kind_; }
  const Var& var() const { return var_; }                          ///< kVar only
  const Constructor& constructor() const { return constructor_; }  ///< kConstructor only
  const std::vector<Ref<const PatternNode>>& patterns() const {
    return patterns_;
  }  ///< kConstructor and kTuple

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
/// The variables bound by a pattern, left to right.
std::vector<Var> pattern_vars(const Pattern& pattern);
/// `pattern` with its variables replaced by `change`; the same object when none changed.
Pattern rewrite_pattern(const Pattern& pattern, FunctionRef<Var(const Var&)> change);
/// Relay text: `Cons(%h, _)`.
std::string pattern_text(const Pattern& pattern);

struct Clause {
  Pattern pattern;
  Expr body;
};

/// `match (data) { pattern => body, ... }`: evaluates the body of the first matching clause.
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
  bool complete() const { return complete_; }  ///< false: `match?`, which need not be exhaustive

 private:
  Expr data_;
  std::vector<Clause> clauses_;
  bool complete_;
};

Expr make_match(Expr data, std::vector<Clause> clauses, bool complete, NodeInfo info);
Expr match(Expr data, std::vector<Clause> clauses, bool complete = true, Span span = {});

}  // namespace baton
