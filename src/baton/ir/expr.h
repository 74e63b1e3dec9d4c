#pragma once
// Relay expressions: immutable, shared, counted. A node's type, span and origins are given when it is made.
//
// Two ways to make a node: the constructors below take every field; the builders (`call`, `tuple`, ..., at
// the end and in ir/op.h) take origins from the open OriginScope. With no open scope, i.e. when the user
// builds a program, an operator call gets a fresh Origin.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "baton/ir/attrs.h"
#include "baton/ir/origin.h"
#include "baton/ir/type.h"
#include "baton/support/base/ndarray.h"
#include "baton/support/node_list.h"
#include "baton/support/ref.h"
#include "baton/support/source.h"

namespace baton {

struct OpDef;

enum class ExprKind : uint8_t {
  kVar,
  kGlobalVar,
  kConstant,
  kOp,
  kConstructor,
  kTuple,
  kTupleGetItem,
  kCall,
  kFunction,
  kLet,
  kIf,
  kMatch,
  kRefCreate,
  kRefRead,
  kRefWrite
};

/// Fields common to all nodes. Origins deliberately have no default.
struct NodeInfo {
  OriginSet origins;
  Span span;
  Type type;  ///< null until inferred
  explicit NodeInfo(OriginSet origins, Span span = {}, Type type = {})
      : origins(std::move(origins)), span(std::move(span)), type(std::move(type)) {}
};

class ExprNode : public RefCounted {
 public:
  ExprKind kind() const { return kind_; }
  const Type& checked_type() const { return info_.type; }  ///< null until inferred
  const Span& span() const { return info_.span; }
  const OriginSet& origins() const { return info_.origins; }
  const NodeInfo& info() const { return info_; }
  NodeInfo with_type(Type type) const { return NodeInfo(info_.origins, info_.span, std::move(type)); }

 protected:
  ExprNode(ExprKind kind, NodeInfo info) : kind_(kind), info_(std::move(info)) {}

 private:
  ExprKind kind_;
  NodeInfo info_;
};

using Expr = Ref<const ExprNode>;
using ExprList = NodeList<Expr>;  ///< operands of calls and tuples

/// `expr` as a T, or null when it is null or of another kind: as<CallNode>(e).
template <class T>
const T* as(const ExprNode* expr) {
  return expr && expr->kind() == T::kKind ? static_cast<const T*>(expr) : nullptr;
}
template <class T>
const T* as(const Expr& expr) {
  return as<T>(expr.get());
}
/// The same as a counted reference.
template <class T>
Ref<const T> as_ref(const Expr& expr) {
  return Ref<const T>(as<T>(expr));
}

/// A local variable. Identity is the object; the name is a hint for printing.
class VarNode final : public ExprNode {
 public:
  static constexpr ExprKind kKind = ExprKind::kVar;
  /// A complete annotation becomes the variable's type unless `info` gives one.
  VarNode(std::string name, Type annotation, NodeInfo info);
  const std::string& name() const { return name_; }
  const Type& annotation() const { return annotation_; }  ///< null when not annotated

 private:
  std::string name_;
  Type annotation_;
};
using Var = Ref<const VarNode>;

/// A reference to a function of the module, by name. One object per name and module.
class GlobalVarNode final : public ExprNode {
 public:
  static constexpr ExprKind kKind = ExprKind::kGlobalVar;
  GlobalVarNode(std::string name, NodeInfo info) : ExprNode(kKind, std::move(info)), name_(std::move(name)) {}
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};
using GlobalVar = Ref<const GlobalVarNode>;

class ConstantNode final : public ExprNode {
 public:
  static constexpr ExprKind kKind = ExprKind::kConstant;
  ConstantNode(NDArray value, NodeInfo info);  ///< the type is derived from the value
  const NDArray& value() const { return value_; }
  bool is_scalar() const { return value_.ndim() == 0; }

 private:
  NDArray value_;
};
using Constant = Ref<const ConstantNode>;

/// A reference to an operator; one object per operator in a process (op_expr).
class OpNode final : public ExprNode {
 public:
  static constexpr ExprKind kKind = ExprKind::kOp;
  explicit OpNode(const OpDef* def) : ExprNode(kKind, NodeInfo(OriginSet::none())), def_(def) {}
  const OpDef& def() const { return *def_; }
  const std::string& name() const;

 private:
  const OpDef* def_;
};

class TupleNode final : public ExprNode {
 public:
  static constexpr ExprKind kKind = ExprKind::kTuple;
  TupleNode(ExprList fields, NodeInfo info) : ExprNode(kKind, std::move(info)), fields_(std::move(fields)) {}
  const ExprList& fields() const { return fields_; }

 private:
  ExprList fields_;
};

class TupleGetItemNode final : public ExprNode {
 public:
  static constexpr ExprKind kKind = ExprKind::kTupleGetItem;
  TupleGetItemNode(Expr tuple, int index, NodeInfo info)
      : ExprNode(kKind, std::move(info)), tuple_(std::move(tuple)), index_(index) {}
  const Expr& tuple() const { return tuple_; }
  int index() const { return index_; }

 private:
  Expr tuple_;
  int index_;
};

class CallNode final : public ExprNode {
 public:
  static constexpr ExprKind kKind = ExprKind::kCall;
  CallNode(Expr callee, ExprList args, Attrs attrs, NodeInfo info)
      : ExprNode(kKind, std::move(info)),
        callee_(std::move(callee)),
        args_(std::move(args)),
        attrs_(std::move(attrs)) {}
  const Expr& callee() const { return callee_; }
  const ExprList& args() const { return args_; }
  const Attrs& attrs() const {
    return attrs_;
  }  ///< null for calls of functions, and of operators without attributes
  /// The called operator; null when the callee is not an operator.
  const OpDef* op() const;

 private:
  Expr callee_;
  ExprList args_;
  Attrs attrs_;
};
using Call = Ref<const CallNode>;

/// Attributes of a function, in the order they were set: Primitive=1, Compiler="dnnl", ...
using FunctionAttrs = std::vector<std::pair<std::string, AttrValue>>;

class FunctionNode final : public ExprNode {
 public:
  static constexpr ExprKind kKind = ExprKind::kFunction;
  FunctionNode(std::vector<Var> params, Expr body, Type ret_type, std::vector<TypeVar> type_params,
               FunctionAttrs attrs, NodeInfo info)
      : ExprNode(kKind, std::move(info)),
        params_(std::move(params)),
        body_(std::move(body)),
        ret_type_(std::move(ret_type)),
        type_params_(std::move(type_params)),
        attrs_(std::move(attrs)) {}
  const std::vector<Var>& params() const { return params_; }
  const std::vector<TypeVar>& type_params() const { return type_params_; }  ///< `fn [A](...)`
  const Expr& body() const { return body_; }
  const Type& ret_type() const { return ret_type_; }  ///< null when not annotated and not inferred
  const FunctionAttrs& attrs() const { return attrs_; }
  const AttrValue* attr(std::string_view name) const;  ///< null when not set
  bool is_primitive() const;  ///< Primitive=1: compiled as one kernel; most passes do not enter it

 private:
  std::vector<Var> params_;
  Expr body_;
  Type ret_type_;
  std::vector<TypeVar> type_params_;
  FunctionAttrs attrs_;
};
using Function = Ref<const FunctionNode>;

class LetNode final : public ExprNode {
 public:
  static constexpr ExprKind kKind = ExprKind::kLet;
  LetNode(Var var, Expr value, Expr body, NodeInfo info)
      : ExprNode(kKind, std::move(info)),
        var_(std::move(var)),
        value_(std::move(value)),
        body_(std::move(body)) {}
  const Var& var() const { return var_; }
  const Expr& value() const { return value_; }
  const Expr& body() const { return body_; }

 private:
  Var var_;
  Expr value_, body_;
};

class IfNode final : public ExprNode {
 public:
  static constexpr ExprKind kKind = ExprKind::kIf;
  IfNode(Expr condition, Expr then, Expr otherwise, NodeInfo info)
      : ExprNode(kKind, std::move(info)),
        condition_(std::move(condition)),
        then_(std::move(then)),
        otherwise_(std::move(otherwise)) {}
  const Expr& condition() const { return condition_; }
  const Expr& then() const { return then_; }
  const Expr& otherwise() const { return otherwise_; }

 private:
  Expr condition_, then_, otherwise_;
};

/// `ref(value)`: a new cell.
class RefCreateNode final : public ExprNode {
 public:
  static constexpr ExprKind kKind = ExprKind::kRefCreate;
  RefCreateNode(Expr value, NodeInfo info) : ExprNode(kKind, std::move(info)), value_(std::move(value)) {}
  const Expr& value() const { return value_; }

 private:
  Expr value_;
};

/// `ref_read(cell)`.
class RefReadNode final : public ExprNode {
 public:
  static constexpr ExprKind kKind = ExprKind::kRefRead;
  RefReadNode(Expr ref, NodeInfo info) : ExprNode(kKind, std::move(info)), ref_(std::move(ref)) {}
  const Expr& ref() const { return ref_; }

 private:
  Expr ref_;
};

/// `ref_write(cell, value)`: stores the value; the result is the empty tuple.
class RefWriteNode final : public ExprNode {
 public:
  static constexpr ExprKind kKind = ExprKind::kRefWrite;
  RefWriteNode(Expr ref, Expr value, NodeInfo info)
      : ExprNode(kKind, std::move(info)), ref_(std::move(ref)), value_(std::move(value)) {}
  const Expr& ref() const { return ref_; }
  const Expr& value() const { return value_; }

 private:
  Expr ref_, value_;
};

// ---- Constructors that take every field. A type is kept only when all children are typed (invariant: the
// children of a typed node are typed).
Var make_var(std::string name, Type annotation, NodeInfo info);
GlobalVar make_global_var(std::string name);
Constant make_constant(NDArray value, NodeInfo info);
Expr make_tuple(std::vector<Expr> fields, NodeInfo info);
Expr make_tuple_get_item(Expr tuple, int index, NodeInfo info);
Call make_call(Expr callee, ExprList args, Attrs attrs, NodeInfo info);
Function make_function(std::vector<Var> params, Expr body, Type ret_type, FunctionAttrs attrs, NodeInfo info,
                       std::vector<TypeVar> type_params = {});
/// `old` with other parameters and another body; type annotations, attributes, span and origins are kept.
Function remake_function(const FunctionNode& old, std::vector<Var> params, Expr body);
Expr make_let(Var var, Expr value, Expr body, NodeInfo info);
Expr make_if(Expr condition, Expr then, Expr otherwise, NodeInfo info);
Expr make_ref_create(Expr value, NodeInfo info);
Expr make_ref_read(Expr ref, NodeInfo info);
Expr make_ref_write(Expr ref, Expr value, NodeInfo info);

// ---- Builders: origins come from the open OriginScope. Without one, an operator call gets a fresh Origin
// and other nodes get none. Types are null.
Var var(std::string name, Type annotation = {}, Span span = {});
Constant constant(NDArray value, Span span = {});
Constant scalar(double value, DType dtype);  ///< rank 0
Expr tuple(std::vector<Expr> fields, Span span = {});
Expr get_item(Expr tuple, int index, Span span = {});
Function function(std::vector<Var> params, Expr body, Type ret_type = {}, FunctionAttrs attrs = {},
                  Span span = {}, std::vector<TypeVar> type_params = {});
Expr let(Var var, Expr value, Expr body, Span span = {});
Expr if_else(Expr condition, Expr then, Expr otherwise, Span span = {});
Expr ref_create(Expr value, Span span = {});
Expr ref_read(Expr ref, Span span = {});
Expr ref_write(Expr ref, Expr value, Span span = {});

// ---- For constructors of other node kinds (ir/adt.h).

/// Whether `child` may be a child of a typed node: it is typed, or is an operator, global or constructor
/// (typed by name). Invariant: the children of a typed node are typed.
bool is_typed(const ExprNode* child);
/// Clears the type in `info` when not all children are typed; inference restores it.
void keep_type_if(bool typed, NodeInfo& info);
/// The NodeInfo to build a new node with: `info` itself, unless a test injects an origin fault
/// (ir/origin_fault.h).
NodeInfo info_for_new_node(NodeInfo info);

// ---- Queries

/// The known type of a variable: the inferred one, else its annotation; may be null.
inline const Type& type_of(const VarNode& var) {
  return var.checked_type() ? var.checked_type() : var.annotation();
}
inline const Type& type_of(const Expr& expr) {
  const auto* var = as<VarNode>(expr);
  return var ? type_of(*var) : expr->checked_type();
}

/// The value of a scalar constant as a double; nullopt when `expr` is not a numeric scalar constant.
std::optional<double> scalar_value(const Expr& expr);

/// `function` with attribute `name` set (replaced in place, or appended).
Function with_attr(const Function& function, std::string name, AttrValue value);

}  // namespace baton
