#pragma once
// Ways to compute layers that are asked for, instead of being left to the cost model: in the source program's
// layouts, in blocks of channels, by Winograd's algorithm. Does not need Halide.
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "baton/schedule/kernel_choice.h"

namespace baton {

enum class LayerVariant {
  kByCost,    ///< as the build's own choice says
  kPlain,     ///< in the source program's layouts, weights as they are
  kBlocked,   ///< channels in blocks, packed weights, sums of products
  kWinograd,  ///< convolutions by Winograd's algorithm, in blocks
};

/// All that can be asked for.
inline constexpr LayerVariant kLayerVariants[] = {LayerVariant::kPlain, LayerVariant::kBlocked,
                                                  LayerVariant::kWinograd};

/// "" (by cost), "plain", "blocked", "winograd".
std::string variant_name(LayerVariant variant);
/// nullopt: there is no such variant.
std::optional<LayerVariant> parse_variant(std::string_view name);

/// How a typed call of a layer is written: by its operator and layouts. kByCost: it is no layer.
LayerVariant variant_of_call(const CallNode& call);
/// The variant of the layer that a kernel computes; kByCost: it computes none.
LayerVariant variant_of_kernel(const FunctionNode& function);

/// `choice`, but layers are computed so where they can be: Winograd's algorithm has its limits, and channels
/// without divisors have no blocks. Schedules are those of `choice`.
std::shared_ptr<const KernelChoice> variant_choice(LayerVariant variant,
                                                   std::shared_ptr<const KernelChoice> choice);

}  // namespace baton
