#include "baton/schedule/kernel_choice.h"

namespace baton {

ConvChoice KernelChoice::conv2d(const ConvShape& shape, const DeviceSheet& sheet) const {
  return {choose_conv_algorithm(shape, sheet), channel_block(shape.in_channels, sheet),
          channel_block(shape.out_channels, sheet)};
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

std::shared_ptr<const KernelChoice> choice_or_default(std::shared_ptr<const KernelChoice> own) {
  return own ? std::move(own) : cost_model_choice();
}

}  // namespace baton
