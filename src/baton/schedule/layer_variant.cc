#include "baton/schedule/layer_variant.h"

#include <algorithm>
#include <cctype>

#include "baton/ir/attrs.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/layer_kind.h"
#include "baton/ir/visit.h"
#include "baton/schedule/layout_cost.h"

namespace baton {

namespace {

bool is_blocked(const std::string& layout) {
  return std::ranges::any_of(layout, [](char c) { return std::isdigit(static_cast<unsigned char>(c)); });
}

class VariantChoice final : public KernelChoice {
 public:
  VariantChoice(LayerVariant variant, std::shared_ptr<const KernelChoice> choice)
      : variant_(variant), choice_(std::move(choice)) {}

  ConvChoice conv2d(const ConvShape& shape, const DeviceSheet& sheet) const override {
    ConvChoice chosen = choice_->conv2d(shape, sheet);
    if (variant_ == LayerVariant::kWinograd) {
      if (const auto tiles = winograd_algorithm(shape, sheet)) chosen.algorithm = *tiles;
    } else if (chosen.algorithm.kind != ConvAlgorithm::Kind::kDirect) {
      chosen.algorithm = {ConvAlgorithm::Kind::kDirect, 0, "a sum of products was asked for",
                          chosen.algorithm.direct_cost, chosen.algorithm.direct_cost};
    }
    if (variant_ == LayerVariant::kPlain)
      chosen.in_block = chosen.out_block = 1;
    else if (chosen.out_block == 1 && shape.float32)
      chosen.out_block = channel_block(shape.out_channels, sheet);
    return chosen;
  }
  ConvChoice conv_transpose(const ConvShape& shape, const DeviceSheet& sheet) const override {
    ConvChoice chosen = choice_->conv_transpose(shape, sheet);
    if (variant_ == LayerVariant::kPlain) chosen.in_block = chosen.out_block = 1;
    return chosen;
  }
  bool packs_dense(const DenseShape& shape, const DeviceSheet& sheet) const override {
    if (variant_ == LayerVariant::kWinograd) return choice_->packs_dense(shape, sheet);
    return variant_ == LayerVariant::kBlocked;
  }
  int64_t dense_block(int64_t units, const DeviceSheet& sheet) const override {
    return variant_ == LayerVariant::kPlain ? 1 : choice_->dense_block(units, sheet);
  }
  bool takes_blocks(const ConvShape&, const LayerSurroundings&, const DeviceSheet&) const override {
    return variant_ != LayerVariant::kPlain;
  }
  bool narrows_weight(const WeightUse& use, const DeviceSheet& sheet) const override {
    return choice_->narrows_weight(use, sheet);
  }
  KernelSchedule schedule(const Function& function, const DeviceSheet& sheet) const override {
    return choice_->schedule(function, sheet);
  }

 private:
  const LayerVariant variant_;
  const std::shared_ptr<const KernelChoice> choice_;
};

}  // namespace

std::string variant_name(LayerVariant variant) {
  switch (variant) {
    case LayerVariant::kByCost:
      return "";
    case LayerVariant::kPlain:
      return "plain";
    case LayerVariant::kBlocked:
      return "blocked";
    case LayerVariant::kWinograd:
      return "winograd";
  }
  return "";
}

std::optional<LayerVariant> parse_variant(std::string_view name) {
  if (name.empty()) return LayerVariant::kByCost;
  for (const LayerVariant each : kLayerVariants)
    if (name == variant_name(each)) return each;
  return std::nullopt;
}

LayerVariant variant_of_call(const CallNode& call) {
  if (!call.op()) return LayerVariant::kByCost;
  const std::string& name = call.op()->name;
  if (name == "nn.contrib_conv2d_winograd_without_weight_transform") return LayerVariant::kWinograd;
  if (name == "nn.contrib_conv2d_NCHWc" || name == "nn.contrib_depthwise_conv2d_NCHWc" ||
      name == "nn.contrib_dense_pack")
    return LayerVariant::kBlocked;
  const auto* layer = call.op()->rules.get<LayerKind>();
  if (!layer) return LayerVariant::kByCost;
  return *layer != LayerKind::kDense && is_blocked(text_attr(call, "data_layout")) ? LayerVariant::kBlocked
                                                                                   : LayerVariant::kPlain;
}

LayerVariant variant_of_kernel(const FunctionNode& function) {
  LayerVariant found = LayerVariant::kByCost;
  post_order(function.body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (call && found == LayerVariant::kByCost) found = variant_of_call(*call);
  });
  return found;
}

std::shared_ptr<const KernelChoice> variant_choice(LayerVariant variant,
                                                   std::shared_ptr<const KernelChoice> choice) {
  if (variant == LayerVariant::kByCost) return choice;
  return std::make_shared<const VariantChoice>(variant, std::move(choice));
}

}  // namespace baton
