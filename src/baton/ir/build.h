#pragma once
// Helpers shared by passes: build calls with attributes by name, without including operator headers.
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/ir/inspect.h"

namespace baton {

using NamedAttrs = std::vector<std::pair<std::string, AttrValue>>;

/// A call of `op` with the given attributes, the others at their defaults. Origins come from the open
/// OriginScope.
Call call_op(std::string_view op, std::vector<Expr> args, const NamedAttrs& attrs = {});
/// `attrs` with some fields set to other values.
Attrs with_fields(const Attrs& attrs, const NamedAttrs& values);
/// Attributes for operator `op`: those fields of `call`'s attributes that `op` also has, then `values`.
Attrs carry_attrs(const OpDef& op, const CallNode& call, const NamedAttrs& values);
/// `call` with `attrs`; everything else is kept, the type too.
Call with_attrs(const CallNode& call, Attrs attrs);
/// `function` without the named attributes; the same object when it has none of them.
Function without_attrs(const Function& function, std::initializer_list<std::string_view> names);
/// `expr` with type `type` if it has none; otherwise `expr` itself.
Expr with_type(const Expr& expr, const Type& type);
/// `expr` with its origins replaced by `origins`.
Expr with_origins(const Expr& expr, const OriginSet& origins);

/// "nn.conv2d at net.relay:12", for the `reason` of added nodes.
std::string place_of(const CallNode& call);

/// Reshapes a vector along `axis` so that it broadcasts with tensors of rank `rank`: adds trailing unit axes
/// with expand_dims; returns `vector` itself for the last axis.
Expr expand_to_axis(const Expr& vector, int rank, int axis);

/// Retires the origins of every operator call in `expr`, which is no longer used. Origins that other nodes
/// still carry stay alive.
void retire_all(const Expr& expr, std::string_view reason);

}  // namespace baton
