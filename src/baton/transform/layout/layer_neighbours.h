#pragma once
// What stands around the layers that may be computed in blocks of channels: a layer between others of them
// gets and gives blocks for nothing, one that stands alone is computed between two layout_transforms.
#include "baton/ir/expr.h"
#include "baton/support/function_ref.h"
#include "baton/support/pointer_map.h"

namespace baton {

struct LayerNeighbours {
  bool data_blocked = true;    ///< the data come from layers in blocks of channels
  bool result_blocked = true;  ///< such layers read the result, or only few elements made from it are read
};

/// The neighbours of each call in `function` (typed) for which `in_blocks` holds. Operators with a LayoutRule
/// in between pass blocks on.
PointerMap<LayerNeighbours> neighbours_of_layers(const Function& function,
                                                 FunctionRef<bool(const CallNode&)> in_blocks);

}  // namespace baton
