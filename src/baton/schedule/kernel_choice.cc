#include "baton/schedule/kernel_choice.h"

namespace baton {

ConvChoice KernelChoice::conv2d(const ConvShape& shape, const DeviceSheet& sheet) const {
  if (!shape.float32)
    return {choose_conv_algorithm(shape, sheet), integer_block(shape.in_channels),
            integer_block(shape.out_channels)};
  return {choose_conv_algorithm(shape, sheet), channel_block(shape.in_channels, sheet),
          conv_block(shape, sheet)};
}

ConvChoice KernelChoice::conv_transpose(const ConvShape& shape, const DeviceSheet& sheet) const {
  const TransposeBlocks blocks = transpose_blocks(shape, sheet);
  return {{}, blocks.in, blocks.out};
}

bool KernelChoice::packs_dense(const DenseShape& shape, const DeviceSheet& sheet) const {
  // With few rows a weight that is read as it is given is as fast, and there is no second copy of it. The
  // lanes of a vector of sums are added up at the end of each row of the weight, though: 1 to 2 % of a row of
  // this length, and 10 % of one of 512, whose packed copy is small.
  constexpr int64_t kLongVectors = 256;
  return shape.rows >= kFewestGemmRows || shape.depth < kLongVectors * sheet.float_lanes;
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
      chosen.algorithm = {ConvAlgorithm::Kind::kDirect, 0, "the precision is strict",
                          chosen.algorithm.direct_cost, chosen.algorithm.direct_cost};
    return chosen;
  }
  ConvChoice conv_transpose(const ConvShape& shape, const DeviceSheet& sheet) const override {
    return choice_->conv_transpose(shape, sheet);
  }
  bool packs_dense(const DenseShape& shape, const DeviceSheet& sheet) const override {
    return choice_->packs_dense(shape, sheet);
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
