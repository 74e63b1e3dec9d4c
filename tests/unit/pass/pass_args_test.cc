#include "baton/pass/pass_args.h"

#include <cmath>
#include <functional>
#include <limits>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "baton/driver/initialize.h"
#include "baton/pass/pass_list.h"
#include "baton/support/error.h"

namespace baton {
namespace {

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(PassArgs, UnknownAndWrongOnesAreRefused) {
  const PassArgs args{{"levl", 3}};
  EXPECT_EQ(message([&] {
              PassArgReader reader("P", args);
              reader.integer("level", 0);
              reader.finish();
            }),
            "P has no argument `levl`; did you mean `level`?");
  const PassArgs wrong{{"level", "high"}};
  EXPECT_EQ(message([&] { PassArgReader("P", wrong).integer("level", 0); }),
            "P: argument `level` expects an integer, got \"high\"");
  const PassArgs twice{{"level", 1}, {"level", 2}};
  EXPECT_EQ(message([&] { PassArgReader("P", twice).integer("level", 0); }),
            "P: argument `level` is given twice");
}

// FuseOps(fuse_opt_level=99) was taken without a word.
TEST(PassArgs, IntegersOutOfRangeAreRefused) {
  initialize();
  const PassArgs args{{"level", 5}};
  EXPECT_EQ(message([&] { PassArgReader("P", args).integer("level", 0, -1, 4); }),
            "P: argument `level` expects an integer from -1 to 4, got 5");
  EXPECT_EQ(message([&] { PassArgReader("P", args).integer("level", 0, 6); }),
            "P: argument `level` expects an integer that is at least 6, got 5");
  EXPECT_EQ(PassArgReader("P", args).integer("level", 0, 5, 5), 5);
  for (const auto& [pass, arg, value] : std::vector<std::tuple<const char*, const char*, AttrValue>>{
           {"FuseOps", "fuse_opt_level", int64_t{99}},
           {"FuseOps", "fuse_opt_level", int64_t{-2}},
           {"CombineParallelDense", "min_num_branches", int64_t{0}},
           {"CombineParallelConv2D", "min_num_branches", int64_t{-3}},
           {"ChangeBatch", "batch_size", int64_t{0}},
           {"SplitArgs", "max_function_args", int64_t{-2}},
           {"PlanDevices", "fallback_device_type", int64_t{-1}},
           {"PlanDevices", "fallback_device_type", int64_t{1} << 40},
           {"Conv2dToSparse2", "sparsity_threshold", 1.5},
           {"Conv2dToSparse2", "sparsity_threshold", std::nan("")},
           {"quantize", "global_scale", std::numeric_limits<double>::infinity()}})
    EXPECT_NE(message([&, pass = pass, arg = arg, value = value] { make_pass(pass, {{arg, value}}); }), "")
        << pass << " " << arg;
}

}  // namespace
}  // namespace baton
