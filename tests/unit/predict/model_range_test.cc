// When a model is said to be out of a predictor's range.
#include "baton/predict/model_range.h"

#include <cmath>

#include <gmock/gmock.h>

namespace baton {
namespace {

using testing::HasSubstr;

/// A hundred models; no two of their doubts go together.
std::vector<ModelDoubts> held_out() {
  std::vector<ModelDoubts> all;
  for (int i = 0; i < 100; ++i)
    all.push_back(
        {.novelty = i * 0.01, .spread = i * 37 % 100 * 0.001, .disagreement = i * 61 % 100 * 0.0001});
  return all;
}

TEST(ModelRange, ATenthOfTheModelsHeldOutIsBeyondIt) {
  const std::vector<ModelDoubts> models = held_out();
  const ModelRange range = ModelRange::of(models);
  int outside = 0;
  for (const ModelDoubts& model : models) outside += !range.outside(model).empty();
  EXPECT_EQ(outside, 10);
}

TEST(ModelRange, DoubtsAddUp) {
  const ModelRange range = ModelRange::of(held_out());
  const ModelDoubts middle{.novelty = 0.5, .spread = 0.05, .disagreement = 0.005};
  EXPECT_NEAR(range.strangeness(middle), 3 * std::log(101.0 / 51), 1e-9);
  EXPECT_EQ(range.outside(middle), "");
  // None is above what an eighth of the models have.
  ModelDoubts strange{.novelty = 0.88, .spread = 0.05, .disagreement = 0.005};
  EXPECT_EQ(range.outside(strange), "");
  strange.spread = 0.088, strange.disagreement = 0.0088;
  EXPECT_NE(range.outside(strange), "");
  EXPECT_GT(range.relative(strange), 1);
}

TEST(ModelRange, TheGreatestDoubtIsNamed) {
  const ModelRange range = ModelRange::of(held_out());
  const ModelDoubts high{.novelty = 0.9, .spread = 0.09, .disagreement = 0.009};
  ModelDoubts far = high, uncertain = high, divided = high;
  far.novelty = 2, uncertain.spread = 1, divided.disagreement = 1;
  EXPECT_THAT(range.outside(far), HasSubstr("far from those in training"));
  EXPECT_THAT(range.outside(uncertain), HasSubstr("often far off"));
  EXPECT_THAT(range.outside(divided), HasSubstr("disagree"));
}

TEST(ModelRange, OneDoubtIsEnoughWhereItIsBeyondAllModels) {
  const ModelRange range = ModelRange::of(held_out());
  EXPECT_NE(range.outside({.novelty = 4, .spread = 0.05, .disagreement = 0.005}), "");
  EXPECT_THAT(range.outside({.unseen = 0.3}), HasSubstr("unlike all in training"));
  EXPECT_GT(range.relative({.unseen = 0.3}), 1);
  EXPECT_EQ(range.outside({.unseen = 0.05}), "");
}

TEST(ModelRange, WithFewModelsTheirKernelsTell) {
  const ModelDoubts models[] = {{.novelty = 0.1, .spread = 0.02, .disagreement = 0.01},
                                {.novelty = 0.4, .spread = 0.01, .disagreement = 0.02}};
  for (const ModelRange& range : {ModelRange::of(models), ModelRange()}) {
    EXPECT_EQ(range.outside({.novelty = 0.9, .spread = 1, .disagreement = 1}), "");
    EXPECT_THAT(range.outside({.novelty = 1.1}), HasSubstr("far from those in training"));
  }
}

}  // namespace
}  // namespace baton
