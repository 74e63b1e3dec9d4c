#pragma once
// Parses selections of parts of a model: nodes of graph.json, a kernel, source operators.
#include <string>
#include <string_view>
#include <vector>

#include "baton/driver/plan/plan.h"
#include "baton/ir/module.h"

namespace baton {

/// The nodes of graph.json selected by `text`, ascending. Comma-separated items:
///   12              the node of that id
///   fused_nn_relu   the node of that name, with or without what all names begin with ("tvmgen_default_")
///   entry:17        the node one of whose tensors is number 17, as node_row_ptr counts them
///   5:9, a:b        both and all between, in the order of graph.json; entry:5:9 the same of tensors
/// Throws UsageError: no such id, name or tensor (the nearest name is offered), a range that runs backwards,
/// nothing.
std::vector<int> select_nodes(const GraphPlan& plan, const std::string& text);

/// The nodes that call the named kernel (syntax as in select_nodes), or the one node of that name.
std::vector<int> select_kernel(const GraphPlan& plan, const std::string& name);

/// A kernel's or node's name without the common prefix: "fused_nn_conv2d", under any mod_name.
std::string_view short_node_name(std::string_view name);

/// Source operators selected by `text`, by id: comma-separated items as for `baton explain --operator`, or
/// `id:3` as in reports and graph.json. Throws UsageError when an item selects none.
std::vector<const Origin*> select_operators(const OriginTable& table, const std::string& text);

}  // namespace baton
