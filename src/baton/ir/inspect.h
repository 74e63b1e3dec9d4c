#pragma once
// Asking expressions what they are: attributes of calls by name, tensor types. For passes and rules that
// treat many operators alike and need no operator's header.
#include <string>
#include <string_view>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/op.h"

namespace baton {

/// Fields by name. An InternalError when the operator has no such field, or it is of another form.
int64_t int_attr(const CallNode& call, std::string_view name);
double float_attr(const CallNode& call, std::string_view name);
bool bool_attr(const CallNode& call, std::string_view name);
std::string text_attr(const CallNode& call, std::string_view name);  ///< "" for None
std::vector<int64_t> ints_attr(const CallNode& call,
                               std::string_view name);  ///< empty for None; one for a number
std::vector<int64_t> ints_of(const AttrValue& value);
DType dtype_attr(const CallNode& call, std::string_view name);
/// Of a function; "" when it has no such attribute, or one that is no text.
std::string text_attr(const FunctionNode& function, std::string_view name);

/// The type of `expr` as a tensor type: null when it is not inferred, or no tensor.
const TensorTypeNode* tensor_type_of(const Expr& expr);
/// The same, when all extents are numbers; else null.
const TensorTypeNode* static_type_of(const Expr& expr);
/// The types of all tensors in `type`: one, or a tuple's fields one after another, nested ones too.
std::vector<const TensorTypeNode*> flat_types(const Type& type);
/// `axis` counted from the front; an InternalError when it is out of range.
int front_axis(int64_t axis, int rank);

/// The call of operator `op` that `expr` is, or null.
const CallNode* call_of(const Expr& expr, std::string_view op);

}  // namespace baton
