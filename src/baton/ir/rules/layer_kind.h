#pragma once
// The layers that passes and their settings single out.

namespace baton {

/// AlterOpLayout has forms in blocks of channels for these. qconfig leaves convolutions out by their number
/// (skip_conv_layers) and dense layers together (skip_dense_layer); LayoutConfig leaves convolutions out.
enum class LayerKind { kConvolution2D, kConvolutionTransposed, kDense };

}  // namespace baton
