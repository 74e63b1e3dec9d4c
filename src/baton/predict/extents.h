#pragma once
// What loops are counted of (schedule/loops.h), from the description of a kernel.
#include <optional>

#include "baton/predict/kernel_case.h"
#include "baton/schedule/loops.h"

namespace baton {

Extents extents_of(const KernelDescription& kernel, const DescribedOperator& op);

/// None (all 0) for other operators. The tile follows from the weight, which has been transformed: its first
/// two axes are those of a tile's inputs.
WinogradTiles winograd_tiles(const DescribedOperator* op, const Extents& e);

/// The form of a convolution over positions; nullopt for what it does not serve.
std::optional<ConvPositions> positions_of(const DescribedOperator* op);

}  // namespace baton
