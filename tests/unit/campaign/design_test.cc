#include "baton/campaign/design.h"

#include <gmock/gmock.h>

#include "baton/support/error.h"

namespace baton {
namespace {

using testing::HasSubstr;

std::string refusal(const char* text) {
  try {
    check_design(design_from_json(Json::parse_or_discard(text)));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Design, ReadsBackWhatItWrote) {
  Design design;
  design.models = {"resnet-18"};
  design.families = {{"vgg", 3, 7}};
  design.patterns = 5;
  design.backends = {"llvm", "dnnl"};
  design.threads = {1, 2};
  design.opt_level = 1;
  design.caches = {CacheState::kHot, CacheState::kFlushed};
  design.uncertainty = {{"nn.conv2d", 2.5}};
  design.seed = 9;
  design.protocol.cv = 0.02;
  const Design again = design_from_json(Json::parse(design_json(design).dump()));
  EXPECT_EQ(design_json(again), design_json(design));
  EXPECT_EQ(again.families, design.families);
  EXPECT_EQ(again.caches, design.caches);
  EXPECT_EQ(again.uncertainty, design.uncertainty);
}

TEST(Design, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(refusal("{"), HasSubstr("no JSON"));
  EXPECT_THAT(refusal(R"({"pattern": 3})"), HasSubstr("did you mean \"patterns\"?"));
  EXPECT_THAT(refusal(R"({"patterns": "many"})"), HasSubstr("another type"));
  EXPECT_THAT(refusal(R"({"families": ["resnt"]})"), HasSubstr("did you mean \"resnet\"?"));
  EXPECT_THAT(refusal(R"({"patterns": 1, "caches": ["warm"]})"), HasSubstr("neither hot nor flushed"));
  EXPECT_THAT(refusal(R"({"patterns": 1, "threads": [0]})"), HasSubstr("threads must be 1 to 256"));
  EXPECT_THAT(refusal(R"({"patterns": 1, "opt_level": 5})"), HasSubstr("opt_level must be 0 to 4"));
  EXPECT_THAT(refusal("{}"), HasSubstr("nothing to measure"));
  EXPECT_THAT(refusal(R"({"patterns": 1, "uncertainty": {"nn.dense": -1}})"),
              HasSubstr("uncertainty of nn.dense"));
}

TEST(Design, AllFamiliesAreAtLeastFifteen) { EXPECT_GE(families_named("all", 2).size(), 15u); }

}  // namespace
}  // namespace baton
