#pragma once
// Queries on expressions: attributes of calls by name, tensor types. For passes and rules that handle many
// operators generically, without including operator headers.
#include <string>
#include <string_view>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/op.h"

namespace baton {

/// Fields by name. InternalError when the operator has no such field, or it has another type.
int64_t int_attr(const CallNode& call, std::string_view name);
double float_attr(const CallNode& call, std::string_view name);
bool bool_attr(const CallNode& call, std::string_view name);
std::string text_attr(const CallNode& call, std::string_view name);  ///< "" for None
std::vector<int64_t> ints_attr(const CallNode& call,
                               std::string_view name);  ///< empty for None; one element for a number
std::vector<int64_t> ints_of(const AttrValue& value);
DType dtype_attr(const CallNode& call, std::string_view name);
/// A text attribute of a function; "" when it is not set or is not text.
std::string text_attr(const FunctionNode& function, std::string_view name);

/// The type of `expr` as a tensor type; null when it is not inferred or not a tensor type.
const TensorTypeNode* tensor_type_of(const Expr& expr);
/// The same, but null unless all extents are static.
const TensorTypeNode* static_type_of(const Expr& expr);
/// All tensor types in `type`, nested tuples flattened in order.
std::vector<const TensorTypeNode*> flat_types(const Type& type);
/// `axis` normalized to be non-negative; InternalError when it is out of range.
int front_axis(int64_t axis, int rank);

/// `expr` as a call of operator `op`, or null.
const CallNode* call_of(const Expr& expr, std::string_view op);

}  // namespace baton
