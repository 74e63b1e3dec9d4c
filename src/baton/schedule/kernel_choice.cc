#include "baton/schedule/kernel_choice.h"

#include "baton/schedule/layout_cost.h"

namespace baton {

ConvChoice KernelChoice::conv2d(const ConvShape& shape, const DeviceSheet& sheet) const {
  if (!shape.float32)
    return {choose_conv_algorithm(shape, sheet), integer_block(shape.in_channels),
            integer_block(shape.out_channels)};
  return {choose_conv_algorithm(shape, sheet), channel_block(shape.in_channels, sheet),
          conv_block(shape, sheet)};
}

bool KernelChoice::takes_blocks(const ConvShape& shape, const LayerSurroundings& around,
                                const DeviceSheet& sheet) const {
  return pays_in_blocks(shape, around, sheet);
}

ConvChoice KernelChoice::conv_transpose(const ConvShape& shape, const DeviceSheet& sheet) const {
  const TransposeBlocks blocks = transpose_blocks(shape, sheet);
  return {{}, blocks.in, blocks.out};
}

bool KernelChoice::packs_dense(const DenseShape& shape, const DeviceSheet& sheet) const {
  // With one row a weight that is read as it is given is as fast, and there is no second copy of it. With two
  // or three it takes 1.5 to 2.5 times as long (4096 x 896, 25088 x 4096; AVX-512). The lanes of a vector of
  // sums are added up at the end of each row of the weight, though: of a row of this length that is 1 to 2 %,
  // and 10 % of one of 512, whose packed copy is small.
  constexpr int64_t kLongVectors = 256;
  return shape.rows >= (shape.constant ? 2 : kFewestGemmRows) ||
         shape.depth < kLongVectors * sheet.float_lanes;
}

int64_t KernelChoice::dense_block(int64_t units, const DeviceSheet& sheet) const {
  return baton::dense_block(units, sheet);
}

bool KernelChoice::narrows_weight(const WeightUse& use, const DeviceSheet& sheet) const {
  // Widening costs two instructions per vector of weights. From memory, half the bytes take 0.5 of the time
  // with one product per weight, 0.75 with 16 and 0.92 with 32 (1 to 32 rows of 4096x2048, AVX2); from the
  // third-level cache 0.87 with one, and 1.13 with two to eight. Small ones are in the first-level cache.
  constexpr int64_t kFewestElements = 1 << 12;
  constexpr double kMostFromMemory = 32;
  if (use.elements < kFewestElements) return false;
  return use.products <= (use.model_bytes > sheet.l3_bytes ? kMostFromMemory : 1);
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
  bool takes_blocks(const ConvShape& shape, const LayerSurroundings& around,
                    const DeviceSheet& sheet) const override {
    return choice_->takes_blocks(shape, around, sheet);
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
  bool narrows_weight(const WeightUse& use, const DeviceSheet& sheet) const override {
    return choice_->narrows_weight(use, sheet);
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
