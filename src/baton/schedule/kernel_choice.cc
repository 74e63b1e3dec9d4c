#include "baton/schedule/kernel_choice.h"

namespace baton {

ConvChoice KernelChoice::conv2d(const ConvShape& shape, const DeviceSheet& sheet) const {
  return {choose_conv_algorithm(shape, sheet), channel_block(shape.in_channels, sheet),
          conv_block(shape, sheet)};
}

ConvChoice KernelChoice::conv_transpose(const ConvShape& shape, const DeviceSheet& sheet) const {
  const TransposeBlocks blocks = transpose_blocks(shape, sheet);
  return {{}, blocks.in, blocks.out};
}

int64_t KernelChoice::dense_block(int64_t units, const DeviceSheet& sheet) const {
  return baton::dense_block(units, sheet);
}

KernelSchedule KernelChoice::schedule(const Function&, const DeviceSheet&) const { return {}; }

std::shared_ptr<const KernelChoice> cost_model_choice() {
  static const auto choice = std::make_shared<const KernelChoice>();
  return choice;
}

namespace {

class StrictChoice final : public KernelChoice {
 public:
  explicit StrictChoice(std::shared_ptr<const KernelChoice> choice) : choice_(std::move(choice)) {}

  ConvChoice conv2d(const ConvShape& shape, const DeviceSheet& sheet) const override {
    ConvChoice chosen = choice_->conv2d(shape, sheet);
    if (chosen.algorithm.kind != ConvAlgorithm::Kind::kDirect)
      chosen.algorithm = {ConvAlgorithm::Kind::kDirect, 0, "the precision is strict"};
    return chosen;
  }
  ConvChoice conv_transpose(const ConvShape& shape, const DeviceSheet& sheet) const override {
    return choice_->conv_transpose(shape, sheet);
  }
  int64_t dense_block(int64_t units, const DeviceSheet& sheet) const override {
    return choice_->dense_block(units, sheet);
  }
  KernelSchedule schedule(const Function& function, const DeviceSheet& sheet) const override {
    return choice_->schedule(function, sheet);
  }

 private:
  const std::shared_ptr<const KernelChoice> choice_;
};

}  // namespace

std::shared_ptr<const KernelChoice> strict_choice(std::shared_ptr<const KernelChoice> choice) {
  return std::make_shared<const StrictChoice>(std::move(choice));
}

std::shared_ptr<const KernelChoice> choice_or_default(std::shared_ptr<const KernelChoice> own) {
  return own ? std::move(own) : cost_model_choice();
}

}  // namespace baton
