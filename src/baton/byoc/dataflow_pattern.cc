#include "baton/byoc/dataflow_pattern.h"

#include <algorithm>

#include "baton/ir/extent.h"
#include "baton/ir/op.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/support/pointer_map.h"

namespace baton {

class DFPatternBuilder {
 public:
  explicit DFPatternBuilder(DFPatternKind kind, std::vector<DFPattern> parts = {})
      : node_(make_ref<DFPatternNode>(kind)) {
    for (const DFPattern& part : parts)
      if (!part) throw UsageError("a dataflow pattern is made of nothing where it needs a pattern");
    node_->parts_ = std::move(parts);
  }
  DFPatternBuilder& open(bool open) { return node_->open_ = open, *this; }
  DFPatternBuilder& name(std::string name) { return node_->name_ = std::move(name), *this; }
  DFPatternBuilder& expr(Expr expr) { return node_->expr_ = std::move(expr), *this; }
  DFPatternBuilder& index(int index) { return node_->index_ = index, *this; }
  DFPatternBuilder& type(Type type) { return node_->type_ = std::move(type), *this; }
  DFPatternBuilder& shape(std::vector<Dim> shape) { return node_->shape_ = std::move(shape), *this; }
  DFPatternBuilder& dtype(DType dtype) { return node_->dtype_ = dtype, *this; }
  DFPatternBuilder& attrs(DFPatternNode::NamedValues attrs) {
    return node_->attrs_ = std::move(attrs), *this;
  }
  operator DFPattern() const { return node_; }

 private:
  Ref<DFPatternNode> node_;
};

namespace {

using Form = DFPatternKind;
using Builder = DFPatternBuilder;

std::vector<DFPattern> with_first(DFPattern first, std::vector<DFPattern> rest) {
  rest.insert(rest.begin(), std::move(first));
  return rest;
}

}  // namespace

DFPattern wildcard() { return Builder(Form::kWildcard); }
DFPattern is_var(std::string name) { return Builder(Form::kVar).name(std::move(name)); }
DFPattern is_constant() { return Builder(Form::kConstant); }
DFPattern is_expr(Expr expr) { return Builder(Form::kExpr).expr(std::move(expr)); }

DFPattern is_op(const std::string& name) {
  const OpDef* op = find_op(name);
  if (op) return is_expr(op_expr(*op));
  std::vector<std::string> names;
  for (const OpDef* known : all_ops()) names.push_back(known->name);
  const std::string near = did_you_mean(name, names);
  throw UsageError("no operator is called `" + name + "`" +
                   (near.empty() ? "" : "; did you mean `" + near + "`?"));
}

DFPattern is_tuple(std::optional<std::vector<DFPattern>> fields) {
  const bool open = !fields;
  return Builder(Form::kTuple, open ? std::vector<DFPattern>() : std::move(*fields)).open(open);
}
DFPattern is_tuple_get_item(DFPattern tuple, int index) {
  return Builder(Form::kTupleGetItem, {std::move(tuple)}).index(index);
}
DFPattern is_if(DFPattern condition, DFPattern then, DFPattern otherwise) {
  return Builder(Form::kIf, {std::move(condition), std::move(then), std::move(otherwise)});
}
DFPattern is_let(DFPattern var, DFPattern value, DFPattern body) {
  return Builder(Form::kLet, {std::move(var), std::move(value), std::move(body)});
}
DFPattern is_function(std::optional<std::vector<DFPattern>> params, DFPattern body) {
  const bool open = !params;
  std::vector<DFPattern> parts = open ? std::vector<DFPattern>() : std::move(*params);
  parts.push_back(std::move(body));
  return Builder(Form::kFunction, std::move(parts)).open(open);
}
DFPattern operator|(const DFPattern& left, const DFPattern& right) {
  return Builder(Form::kAlt, {left, right});
}
DFPattern dominates(DFPattern parent, DFPattern path, DFPattern child) {
  return Builder(Form::kDominator, {std::move(parent), std::move(path), std::move(child)});
}

DFPattern DFPatternNode::call(std::vector<DFPattern> args) const {
  return Builder(Form::kCall, with_first(DFPattern(this), std::move(args)));
}
DFPattern DFPatternNode::call_any() const { return Builder(Form::kCall, {DFPattern(this)}).open(true); }
DFPattern DFPatternNode::has_attr(NamedValues attrs) const {
  return Builder(Form::kAttr, {DFPattern(this)}).attrs(std::move(attrs));
}
DFPattern DFPatternNode::has_type(Type type) const {
  return Builder(Form::kType, {DFPattern(this)}).type(std::move(type));
}
DFPattern DFPatternNode::has_shape(std::vector<Dim> shape) const {
  return Builder(Form::kShape, {DFPattern(this)}).shape(std::move(shape));
}
DFPattern DFPatternNode::has_dtype(DType dtype) const {
  return Builder(Form::kDataType, {DFPattern(this)}).dtype(dtype);
}
DFPattern DFPatternNode::optional(const std::function<DFPattern(const DFPattern&)>& more) const {
  const DFPattern self(this);
  return self | more(self);
}

std::vector<DFPattern> parts_in_order(const DFPattern& pattern) {
  std::vector<DFPattern> order;
  PointerSet seen;
  std::vector<std::pair<DFPattern, bool>> stack{{pattern, false}};
  while (!stack.empty()) {
    const auto [at, closing] = stack.back();
    stack.pop_back();
    if (closing) {
      order.push_back(at);
      continue;
    }
    if (!seen.insert(at.get())) continue;
    stack.emplace_back(at, true);
    for (auto part = at->parts().rbegin(); part != at->parts().rend(); ++part)
      stack.emplace_back(*part, false);
  }
  return order;
}

namespace {

std::string joined(const std::vector<DFPattern>& parts, size_t first, size_t last) {
  std::string text = "[";
  for (size_t i = first; i < last; ++i) text += (i > first ? ", " : "") + dataflow_pattern_text(parts[i]);
  return text + "]";
}

std::string attrs_text(const DFPatternNode::NamedValues& attrs) {
  std::string text = "{";
  for (const auto& [name, value] : attrs)
    text += (text.size() > 1 ? ", " : "") + ("\"" + name + "\": ") + attr_text(value);
  return text + "}";
}

std::string expr_text(const Expr& expr) {
  if (const auto* op = as<OpNode>(expr)) return "Op(" + op->name() + ")";
  if (const auto* var = as<VarNode>(expr)) return "%" + var->name();
  return "expression";
}

}  // namespace

std::string dataflow_pattern_text(const DFPattern& pattern) {
  const std::vector<DFPattern>& parts = pattern->parts();
  const auto part = [&](size_t i) { return dataflow_pattern_text(parts[i]); };
  switch (pattern->kind()) {
    case Form::kWildcard:
      return "*";
    case Form::kVar:
      return "VarPattern(" + pattern->name() + ")";
    case Form::kConstant:
      return "ConstantPattern()";
    case Form::kExpr:
      return expr_text(pattern->expr());
    case Form::kCall:
      return "CallPatternNode(" + part(0) + ", " + (pattern->open() ? "*" : joined(parts, 1, parts.size())) +
             ")";
    case Form::kFunction:
      return "FunctionPatternNode(" + (pattern->open() ? "*" : joined(parts, 0, parts.size() - 1)) + ", " +
             part(parts.size() - 1) + ")";
    case Form::kLet:
      return "LetPatternNode(" + part(0) + ", " + part(1) + ", " + part(2) + ")";
    case Form::kIf:
      return "IfPattern(" + part(0) + ", " + part(1) + ", " + part(2) + ")";
    case Form::kTuple:
      return "TuplePatternNode(" + (pattern->open() ? "*" : joined(parts, 0, parts.size())) + ")";
    case Form::kTupleGetItem:
      return "TupleGetItemPatternNode(" + part(0) + ", " + std::to_string(pattern->index()) + ")";
    case Form::kAlt:
      return "AltPattern(" + part(0) + " | " + part(1) + ")";
    case Form::kType:
      return "TypePattern(" + part(0) + " has type " + type_text(pattern->type()) + ")";
    case Form::kShape: {
      std::string shape;
      for (const Dim& dim : pattern->shape()) shape += (shape.empty() ? "" : ", ") + extent_text(dim);
      return "ShapePattern(" + part(0) + " has shape [" + shape + "])";
    }
    case Form::kDataType:
      return "DataTypePattern(" + part(0) + " has dtype " + pattern->dtype().str() + ")";
    case Form::kAttr:
      return "AttrPattern(" + part(0) + " has attributes " + attrs_text(pattern->attrs()) + ")";
    case Form::kDominator:
      return "DominatorPattern(" + part(0) + ", " + part(1) + ", " + part(2) + ")";
  }
  return "";
}

}  // namespace baton
