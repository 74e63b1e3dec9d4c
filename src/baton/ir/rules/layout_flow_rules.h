#pragma once
// How layouts move through operators, for their blocks: `.rules = op_rules(dense_layout_flow())`; see
// ir/rules/layout_flow.h. An operator without one knows no layouts.
#include "baton/ir/rules/layout_flow.h"

namespace baton {

/// All tensors lie alike: elementwise operators, nn.dropout, markers.
LayoutFlowRule same_layout_flow();
/// Of two tensors the one of more axes rules.
LayoutFlowRule broadcast_layout_flow();
/// The same of two quantised tensors, with scales and zero points behind them.
LayoutFlowRule quantized_broadcast_layout_flow();

// Operators that name their layouts.
LayoutFlowRule conv_layout_flow();     ///< data_layout, kernel_layout and out_layout
LayoutFlowRule spatial_layout_flow();  ///< `layout` of a window over D, H and W
LayoutFlowRule regions_layout_flow();  ///< `layout` of the data; the regions lie anyhow
LayoutFlowRule dense_layout_flow();    ///< nn.dense, nn.contrib_dense_pack

// Operators that name axes.
LayoutFlowRule reduce_layout_flow();
LayoutFlowRule concatenate_layout_flow();
LayoutFlowRule quantized_concatenate_layout_flow();
LayoutFlowRule split_layout_flow();
LayoutFlowRule squeeze_layout_flow();
LayoutFlowRule transpose_layout_flow();
LayoutFlowRule strided_slice_layout_flow();
LayoutFlowRule pad_layout_flow();
/// `axis` names axes of the first input, which all outputs of its rank share; other inputs and outputs have
/// no layouts: nn.batch_norm, nn.prelu, nn.l2_normalize.
LayoutFlowRule axis_layout_flow();

}  // namespace baton
