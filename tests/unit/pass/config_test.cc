#include "baton/pass/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/support/error.h"

namespace baton {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Config, KeysAreSortedAndTyped) {
  const std::vector<ConfigOption>& options = config_options();
  EXPECT_TRUE(std::is_sorted(options.begin(), options.end(),
                             [](const auto& a, const auto& b) { return a.key < b.key; }));
  ASSERT_TRUE(find_config_option("tir.UnrollLoop"));
  EXPECT_TRUE(find_config_option("tir.UnrollLoop")->is_dict());
  EXPECT_EQ(find_config_option("no.such"), nullptr);
}

TEST(Config, HoldsWhatWasSet) {
  PassConfig config;
  EXPECT_EQ(config.integer("relay.FuseOps.max_depth", 256), 256);
  config.set("relay.FuseOps.max_depth", int64_t{4});
  config.set("relay.FuseOps.link_params", true);
  config.set("relay.backend.tir_converter", std::string("default"));
  config.set("tir.UnrollLoop", AttrList{AttrList{std::string("auto_max_step"), int64_t{16}}});
  EXPECT_EQ(config.integer("relay.FuseOps.max_depth", 256), 4);
  EXPECT_TRUE(config.flag("relay.FuseOps.link_params", false));
  EXPECT_EQ(config.text("relay.backend.tir_converter", ""), "default");
}

TEST(Config, RefusesUnknownKeysAndOtherTypes) {
  PassConfig config;
  EXPECT_THAT(
      [&] { config.set("relay.FuseOps.max_dept", int64_t{1}); },
      ThrowsMessage<UsageError>(HasSubstr("Invalid config option 'relay.FuseOps.max_dept', did you mean "
                                          "'relay.FuseOps.max_depth'? candidates are: baton.debug_dir ,")));
  EXPECT_THAT([&] { config.set("relay.FuseOps.max_depth", std::string("x")); },
              ThrowsMessage<UsageError>(
                  "expect config relay.FuseOps.max_depth to have type IntImm but get runtime.String"));
  EXPECT_THROW(config.set("tir.UnrollLoop", AttrList{int64_t{1}}), UsageError);
  EXPECT_THROW(config.set("tir.noalias", AttrValue()), UsageError);
  EXPECT_TRUE(config.values().empty());
}

}  // namespace
}  // namespace baton
