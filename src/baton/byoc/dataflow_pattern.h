#pragma once
// Dataflow patterns. Names and semantics as in TVM's relay.dataflow_pattern; differences are listed at
// `DFMatcher` (byoc/matcher.h).
//
//   const DFPattern conv = is_op("nn.relu")->call({wildcard(), wildcard()});
//   const DFPattern relu = is_op("nn.relu")->call({conv});
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

enum class DFPatternKind : uint8_t {
  kWildcard,
  kVar,
  kConstant,
  kExpr,
  kCall,
  kFunction,
  kLet,
  kIf,
  kTuple,
  kTupleGetItem,
  kAlt,
  kType,
  kShape,
  kDataType,
  kAttr,
  kDominator
};

class DFPatternNode;
using DFPattern = Ref<const DFPatternNode>;

/// Immutable. Compared by identity: one pattern object matches one expression, even if used several times in
/// a pattern.
class DFPatternNode final : public RefCounted {
 public:
  using NamedValues = std::vector<std::pair<std::string, AttrValue>>;

  explicit DFPatternNode(DFPatternKind kind) : kind_(kind) {}
  DFPatternKind kind() const { return kind_; }
  /// The subpatterns: callee and arguments; parameters and body; variable, value and body; condition and
  /// branches; fields; the tuple; both alternatives; the pattern constrained by a type or attributes; parent,
  /// path and child.
  const std::vector<DFPattern>& parts() const { return parts_; }
  /// For calls, functions and tuples: whether any number and form of arguments, parameters or fields matches;
  /// these are not parts then.
  bool open() const { return open_; }
  const std::string& name() const { return name_; }  ///< of a variable; empty: any
  const Expr& expr() const { return expr_; }         ///< of an expression pattern: the expression to equal
  int index() const { return index_; }               ///< of a tuple item; -1: any
  const Type& type() const { return type_; }         ///< of a type pattern
  const std::vector<Dim>& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  const NamedValues& attrs() const { return attrs_; }

  // ---- Patterns built from this one.
  DFPattern call(std::vector<DFPattern> args) const;
  DFPattern call_any() const;  ///< with any arguments
  DFPattern has_attr(NamedValues attrs) const;
  DFPattern has_type(Type type) const;
  DFPattern has_shape(std::vector<Dim> shape) const;
  DFPattern has_dtype(DType dtype) const;
  /// Matches this pattern, or `more(this)`.
  DFPattern optional(const std::function<DFPattern(const DFPattern&)>& more) const;

 private:
  friend class DFPatternBuilder;
  DFPatternKind kind_;
  bool open_ = false;
  int index_ = -1;
  DType dtype_ = {};
  std::string name_;
  Expr expr_;
  Type type_;
  std::vector<Dim> shape_;
  NamedValues attrs_;
  std::vector<DFPattern> parts_;
};

DFPattern wildcard();
DFPattern is_var(std::string name = "");
DFPattern is_constant();
DFPattern is_expr(Expr expr);
DFPattern is_op(const std::string& name);  ///< UsageError when there is no such operator
/// Nullopt for `fields` or `params` matches any.
DFPattern is_tuple(std::optional<std::vector<DFPattern>> fields = std::nullopt);
DFPattern is_tuple_get_item(DFPattern tuple, int index = -1);
DFPattern is_if(DFPattern condition, DFPattern then, DFPattern otherwise);
DFPattern is_let(DFPattern var, DFPattern value, DFPattern body);
DFPattern is_function(std::optional<std::vector<DFPattern>> params, DFPattern body);
/// Matches the left pattern, else the right one.
DFPattern operator|(const DFPattern& left, const DFPattern& right);
/// Matches `child` when all paths back from it end in one `parent`, all nodes in between match `path`, and
/// none of these is used elsewhere.
DFPattern dominates(DFPattern parent, DFPattern path, DFPattern child);

/// All subpatterns of `pattern`, once each, in post-order.
std::vector<DFPattern> parts_in_order(const DFPattern& pattern);
/// The pattern as text: `CallPatternNode(Op(nn.relu), [*])`.
std::string dataflow_pattern_text(const DFPattern& pattern);

}  // namespace baton
