#pragma once
// Common layout inference rules for operator blocks: `.rules = op_rules(dense_layout_flow())`; see
// ir/rules/layout_flow.h. An operator without one has unknown layouts.
#include "baton/ir/rules/layout_flow.h"

namespace baton {

/// All tensors share one layout: elementwise operators, nn.dropout, markers.
LayoutFlowRule same_layout_flow();
/// The layout of the operand with more axes determines the result.
LayoutFlowRule broadcast_layout_flow();
/// The same for quantised operands, followed by scales and zero points.
LayoutFlowRule quantized_broadcast_layout_flow();

// Operators with layout attributes.
LayoutFlowRule conv_layout_flow();     ///< data_layout, kernel_layout and out_layout
LayoutFlowRule spatial_layout_flow();  ///< `layout` of a window over D, H and W
LayoutFlowRule pair_layout_flow();     ///< `layout` of two inputs
LayoutFlowRule regions_layout_flow();  ///< `layout` of the data; that of the regions is irrelevant
LayoutFlowRule dense_layout_flow();    ///< nn.dense, nn.contrib_dense_pack

// Operators with axis attributes.
LayoutFlowRule reduce_layout_flow();
LayoutFlowRule concatenate_layout_flow();
LayoutFlowRule quantized_concatenate_layout_flow();
LayoutFlowRule split_layout_flow();
LayoutFlowRule squeeze_layout_flow();
LayoutFlowRule transpose_layout_flow();
LayoutFlowRule strided_slice_layout_flow();
LayoutFlowRule slice_like_layout_flow();
LayoutFlowRule variance_layout_flow();
LayoutFlowRule pad_layout_flow();
/// `axis` is an axis of the first input and of all outputs of its rank; other inputs and outputs have no
/// layout: nn.batch_norm, nn.prelu, nn.l2_normalize, topk.
LayoutFlowRule axis_layout_flow();

}  // namespace baton
