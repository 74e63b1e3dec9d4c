#pragma once
// How a command line names parts of a model: nodes of graph.json, a kernel, operators of the source.
#include <string>
#include <string_view>
#include <vector>

#include "baton/driver/plan/plan.h"
#include "baton/ir/module.h"

namespace baton {

/// Nodes of graph.json that `text` names, ascending. Items with commas between:
///   12              the node of that id
///   fused_nn_relu   the node of that name, with or without what all names begin with ("tvmgen_default_")
///   entry:17        the node one of whose tensors is number 17, as node_row_ptr counts them
///   5:9, a:b        both and all between, in the order of graph.json; entry:5:9 the same of tensors
/// Throws UsageError: no such id, name or tensor (the nearest name is offered), a range that runs backwards,
/// nothing.
std::vector<int> select_nodes(const GraphPlan& plan, const std::string& text);

/// The nodes that call the kernel of that name (as select_nodes takes it), or the one node of that name.
std::vector<int> select_kernel(const GraphPlan& plan, const std::string& name);

/// A kernel's or node's name without what the compiler lets all begin with: "fused_nn_conv2d", under any
/// mod_name.
std::string_view short_node_name(std::string_view name);

/// Operators of the source that `text` names, by id; with commas between, each as `baton explain --operator`
/// takes it, or `id:3` as reports and graph.json number them. Throws UsageError for one that means none.
std::vector<const Origin*> select_operators(const OriginTable& table, const std::string& text);

}  // namespace baton
