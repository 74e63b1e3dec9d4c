#pragma once
// How layouts move through operators; see ir/rules/layout_flow.h. Which of them an operator has follows from
// its form where that says enough: convolutions, windows over H and W, reductions, elementwise and
// broadcasting operators.
#include "baton/ir/rules/layout_flow.h"

namespace baton {

/// The rule of `op`: its own, that of its form, or null.
const LayoutFlowRule* layout_flow_rule_of(const OpDef& op);

LayoutFlowRule dense_layout_flow();  ///< nn.dense, nn.contrib_dense_pack
LayoutFlowRule concatenate_layout_flow();
LayoutFlowRule split_layout_flow();
LayoutFlowRule transpose_layout_flow();
LayoutFlowRule strided_slice_layout_flow();
LayoutFlowRule pad_layout_flow();
/// `axis` names axes of the first input, which all outputs of its rank share; other inputs and outputs have
/// no layouts: nn.batch_norm, nn.prelu, nn.l2_normalize.
LayoutFlowRule axis_layout_flow();
/// All outputs lie as the input does: nn.dropout.
LayoutFlowRule same_layout_flow();

}  // namespace baton
