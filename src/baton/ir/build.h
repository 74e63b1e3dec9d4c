#pragma once
// Short forms that passes share: making calls with attributes by name, so that passes need no operator's
// header.
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/ir/inspect.h"

namespace baton {

using NamedAttrs = std::vector<std::pair<std::string, AttrValue>>;

/// A call of `op` with `attrs` by name, the rest at their defaults; origins from the open scope.
Call call_op(std::string_view op, std::vector<Expr> args, const NamedAttrs& attrs = {});
/// `attrs` with some fields set to other values.
Attrs with_fields(const Attrs& attrs, const NamedAttrs& values);
/// The attributes of another operator, `op`: those of `call` of the same names, then `values`.
Attrs carry_attrs(const OpDef& op, const CallNode& call, const NamedAttrs& values);
/// `call` with other attributes; everything else, its type too, stays.
Call with_attrs(const CallNode& call, Attrs attrs);
/// `function` without the attributes of those names; itself when it has none of them.
Function without_attrs(const Function& function, std::initializer_list<std::string_view> names);
/// `expr` with type `type` when it has none; other expressions as they are.
Expr with_type(const Expr& expr, const Type& type);
/// `expr` standing for `origins`.
Expr with_origins(const Expr& expr, const OriginSet& origins);

/// "nn.conv2d at net.relay:12", for reasons of what is added.
std::string place_of(const CallNode& call);

/// Makes a vector along `axis` broadcast with tensors of rank `rank`: expand_dims behind it, or itself for
/// the last axis.
Expr expand_to_axis(const Expr& vector, int rank, int axis);

/// Retires every operator of `expr`: it is used no more. Those that are used elsewhere stay alive.
void retire_all(const Expr& expr, std::string_view reason);

}  // namespace baton
