#pragma once
// Common rules for AlterOpLayout; see ir/rules/layout_rule.h. Elementwise and broadcasting operators without
// attributes need no rule: they have one by default.
#include "baton/ir/op.h"
#include "baton/ir/rules/layout_rule.h"

namespace baton {

/// The rule of `op`: its own, the default one of its kind, or null.
const LayoutRule* layout_rule_of(const OpDef& op);

/// Operators with a `layout` attribute and windows over H and W: pools, global pools, adaptive pools.
LayoutRule spatial_layout_rule();
/// nn.depth_to_space, mode DCR: the channels of each cell must be whole blocks.
LayoutRule depth_to_space_layout_rule();
/// concatenate: in the packed layout that its parts have, when all consist of whole blocks.
LayoutRule concatenate_layout_rule();
/// sum, mean, max, ... over axes that are not split. The operator needs a LayoutFlowRule.
LayoutRule reduce_layout_rule();
/// As the operator's LayoutFlowRule says for the data's layout: nn.pad, split, strided_slice, squeeze.
LayoutRule flow_layout_rule();

}  // namespace baton
