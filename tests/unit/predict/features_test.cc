// Features: what a kernel is, from a function and from a stored work alike.
#include "baton/predict/features.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include "baton/driver/initialize.h"
#include "baton/predict/kernel_facts.h"
#include "baton/predict/roofline_base.h"
#include "baton/profile/record/work.h"
#include "baton/support/base/files.h"
#include "baton/support/error.h"
#include "baton/types/function_text.h"

#include "predict/made_up_machine.h"
#include "test_paths.h"

namespace baton {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class PredictFeatures : public testing::Test {
 protected:
  static void SetUpTestSuite() { initialize(); }

  static KernelCase with(KernelDescription kernel) {
    KernelCase made;
    made.kernel = std::move(kernel);
    made.backend = "llvm";
    made.sheet = std::make_shared<const DeviceSheet>(made_up::Machine().sheet());
    return made;
  }
  static float value(const FeatureSpace& space, const KernelCase& kernel, const std::string& name) {
    const auto at = std::ranges::find(space.features(), name, &FeatureInfo::name);
    EXPECT_NE(at, space.features().end()) << name;
    return space.values(kernel)[static_cast<size_t>(at - space.features().begin())];
  }
};

constexpr const char* kBlocked =
    "fn (%p0: Tensor[(1, 2, 14, 14, 8), float32], %p1: Tensor[(4, 2, 3, 3, 8, 16), float32], "
    "%p2: Tensor[(1, 4, 1, 1, 16), float32]) -> Tensor[(1, 4, 7, 7, 16), float32] {\n"
    "  %0 = nn.contrib_conv2d_NCHWc(%p0, %p1, strides=[2, 2], padding=[1, 1, 1, 1], channels=64, "
    "kernel_size=[3, 3], "
    "data_layout=\"NCHW8c\", kernel_layout=\"OIHW8i16o\", out_layout=\"NCHW16c\");\n"
    "  %1 = add(%0, %p2);\n  nn.relu(%1)\n}";

TEST_F(PredictFeatures, OfAFunctionAndOfItsStoredWorkAreTheSame) {
  for (const char* text :
       {kBlocked,
        "fn (%p0: Tensor[(8, 64), float32], %p1: Tensor[(32, 64), float32]) { nn.dense(%p0, %p1, units=32) }",
        "fn (%p0: Tensor[(2, 3, 9), float32]) { nn.softmax(%p0) }",
        "fn (%p0: Tensor[(2, 3), float32], %p1: Tensor[(2, 5), float32]) { %0 = (%p0, %p1); concatenate(%0, "
        "axis=1) }",
        "fn (%p0: Tensor[(0, 3), int8]) { nn.relu(%p0) }"}) {
    const Function function = function_of_text(text);
    ASSERT_TRUE(function) << text;
    const KernelCase direct = with(describe(*function)), stored = with(describe(kernel_work(function)));
    const KernelCase* both[] = {&direct, &stored};
    const FeatureSpace space(both);
    const std::vector<float> a = space.values(direct), b = space.values(stored);
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
          << text << ": " << space.features()[i].name << " is " << a[i] << " and " << b[i];
  }
}

TEST_F(PredictFeatures, BytesOfAStoredWorkAreThoseOfTodaysRule) {
  const Function function = function_of_text(
      "fn (%p0: Tensor[(50000, 64), float32], %p1: Tensor[(8), int32]) { take(%p0, %p1, axis=0) }");
  ASSERT_TRUE(function);
  Work work = kernel_work(function);
  EXPECT_EQ(work.bytes, 4.0 * (8 * 64 + 8 + 8 * 64));
  work.bytes = 4.0 * (50000 * 64 + 8 + 8 * 64);  // as it was stored before
  EXPECT_EQ(describe(work).bytes, 4.0 * (8 * 64 + 8 + 8 * 64));
  const Work part = part_work(work, "take", "take");
  EXPECT_EQ(describe(part).bytes, 4.0 * (8 * 64 + 8 + 8 * 64));
  work.text = "a text that is none";
  EXPECT_EQ(describe(work).bytes, work.bytes);
}

TEST_F(PredictFeatures, BlockedLayoutsAreReadAsChannels) {
  const KernelCase kernel = with(describe(*function_of_text(kBlocked)));
  const KernelCase* all[] = {&kernel};
  const FeatureSpace space(all);
  EXPECT_EQ(value(space, kernel, "log2 in channels"), 4);
  EXPECT_EQ(value(space, kernel, "log2 out channels"), 6);
  EXPECT_EQ(value(space, kernel, "in block"), 8);
  EXPECT_EQ(value(space, kernel, "out block"), 16);
  EXPECT_EQ(value(space, kernel, "stride height"), 2);
  EXPECT_FLOAT_EQ(value(space, kernel, "log2 reduction"), std::log2(16.0F * 9));
  EXPECT_EQ(value(space, kernel, "is convolution"), 1);
  EXPECT_EQ(value(space, kernel, "fused elementwise"), 2);
  EXPECT_EQ(value(space, kernel, "inputs"), 3);
}

TEST_F(PredictFeatures, TilesOfWinogradFollowFromItsWeight) {
  const KernelCase kernel = with(describe(*function_of_text(
      "fn (%p0: Tensor[(2, 4, 14, 14, 16), float32], %p1: Tensor[(6, 6, 4, 4, 16, 16), float32]) {\n"
      "  nn.contrib_conv2d_winograd_without_weight_transform(%p0, %p1, tile_size=4, padding=[1, 1, 1, 1], "
      "channels=64, kernel_size=[3, 3], data_layout=\"NCHW16c\", kernel_layout=\"HWOI16i16o\", "
      "out_layout=\"NCHW16c\")\n}")));
  const KernelCase plain = with(describe(*function_of_text(kBlocked)));
  const KernelCase* all[] = {&kernel, &plain};
  const FeatureSpace space(all);
  EXPECT_EQ(value(space, kernel, "winograd tile"), 16);
  EXPECT_FLOAT_EQ(value(space, kernel, "log2 winograd multiplies"), std::log2(2.0F * 16 * 36 * 64 * 64));
  EXPECT_FLOAT_EQ(value(space, kernel, "winograd waste"), 16.0F * 16 / (14 * 14));
  EXPECT_EQ(value(space, plain, "winograd tile"), 0);
  EXPECT_EQ(value(space, plain, "winograd waste"), 1);
}

TEST_F(PredictFeatures, FunctionsOfAnOperatorAreARuleOfItsBlock) {
  for (const char* op : {"sigmoid", "sqrt", "divide", "power", "sin", "nn.softmax", "fast_exp"})
    EXPECT_EQ(functions_of(find_op(op)), 1) << op;
  for (const char* op : {"add", "nn.relu", "nn.conv2d", "no_such"})
    EXPECT_EQ(functions_of(find_op(op)), 0) << op;
}

TEST_F(PredictFeatures, SchedulesAreKnownOfBackendsThatChooseThem) {
  for (const char* backend : {"llvm", "opencl", "cuda"}) EXPECT_TRUE(knows_schedules(backend)) << backend;
  for (const char* backend : {"dnnl", "openblas", "sim_npu", "no_such"})
    EXPECT_FALSE(knows_schedules(backend)) << backend;
}

// float_lanes of made_up::Machine follow the host: those of the tests here are 16.
class PredictLoops : public PredictFeatures {
 protected:
  static LoopCounts loops(const std::string& text, const std::string& of_template,
                          ScheduleParams parameters) {
    KernelCase kernel = with(describe(*function_of_text(text)));
    DeviceSheet sheet = *kernel.sheet;
    sheet.float_lanes = 16;
    kernel.sheet = std::make_shared<const DeviceSheet>(sheet);
    kernel.template_name = of_template;
    kernel.parameters = std::move(parameters);
    return KernelFacts(kernel).loops;
  }
  static double flops(const std::string& text) { return describe(*function_of_text(text)).flops; }
};

TEST_F(PredictLoops, TilesThatFitComputeWhatIsWanted) {
  const LoopCounts counts = loops(kBlocked, "conv_direct", {{"tile_x", 7}, {"tile_c", 2}});
  EXPECT_EQ(counts.tiles, 7 * 2);
  EXPECT_EQ(counts.depth, 16 * 9);
  EXPECT_EQ(counts.operations(), 2.0 * 64 * 49 * 16 * 9);
  EXPECT_EQ(loops(kBlocked, "conv_direct", {{"tile_x", 4}, {"tile_y", 2}, {"tile_c", 4}}).tiles, 2 * 4);
}

TEST_F(PredictLoops, RowsOfPixelsAreSummedWithTheirPadding) {
  const std::string seven =
      "fn (%p0: Tensor[(1, 19, 24, 24), float32], %p1: Tensor[(28, 19, 7, 7), float32]) {\n"
      "  nn.conv2d(%p0, %p1, padding=[3, 3, 3, 3], channels=28, kernel_size=[7, 7])\n}";
  const double computed = loops(seven, "conv_positions", {{"vectors", 6}}).operations();
  EXPECT_GT(computed, flops(seven) * 27 / 24);
  EXPECT_LT(computed, flops(seven) * 1.6);
  const std::string one =
      "fn (%p0: Tensor[(2, 16, 24, 24), float32], %p1: Tensor[(28, 16, 1, 1), float32]) {\n"
      "  nn.conv2d(%p0, %p1, padding=[0, 0, 0, 0], channels=28, kernel_size=[1, 1])\n}";
  EXPECT_EQ(loops(one, "conv_positions", {{"vectors", 6}}).operations(), flops(one));
}

TEST_F(PredictLoops, TransformsCountVectorsOfBlocks) {
  const auto transforms = [](const char* in, const char* out) {
    const std::string text =
        std::string("fn (%p0: Tensor[(1, ") + in + "), float32], %p1: Tensor[(6, 6, " + out +
        "), float32]) {\n  nn.contrib_conv2d_winograd_without_weight_transform(%p0, %p1, tile_size=4, "
        "padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3], ";
    return text;
  };
  const std::string whole = transforms("2, 8, 8, 16", "2, 2, 16, 16") +
                            "data_layout=\"NCHW16c\", kernel_layout=\"HWOI16i16o\", "
                            "out_layout=\"NCHW16c\")\n}",
                    single = transforms("31, 8, 8, 1", "2, 31, 1, 16") +
                             "data_layout=\"NCHW1c\", kernel_layout=\"HWOI1i16o\", "
                             "out_layout=\"NCHW16c\")\n}";
  const ScheduleParams parameters{{"rows", 2}, {"tile_t", 4}, {"tile_c", 2}};
  EXPECT_EQ(loops(whole, "conv_winograd", parameters).transforms, 4 * 36 * (2 + 2));
  EXPECT_EQ(loops(single, "conv_winograd", parameters).transforms, 4 * 36 * (31 + 2));
  EXPECT_EQ(loops(whole, "conv_winograd", parameters).operations(), 2.0 * 4 * 36 * 32 * 32);
}

TEST_F(PredictLoops, PiecesAreVectorsAndPowersOfTwo) {
  EXPECT_EQ(pieces(16, 16), 1);
  EXPECT_EQ(pieces(11, 16), 3);
  EXPECT_EQ(pieces(1, 16), 1);
  EXPECT_EQ(pieces(28, 16), 3);
}

TEST_F(PredictFeatures, ListsOfAnotherVersionAreRefused) {
  const KernelCase kernel = with(describe(*function_of_text(kBlocked)));
  const KernelCase* all[] = {&kernel};
  const FeatureSpace space(all);
  EXPECT_EQ(FeatureSpace::from_text(space.text()).hash(), space.hash());
  std::string other = space.text();
  other.replace(other.find("log2 flops"), 10, "log2 ops");
  EXPECT_THAT([&] { FeatureSpace::from_text(other); }, ThrowsMessage<Error>(HasSubstr("train it again")));
  other = "version 99" + space.text().substr(space.text().find('\n'));
  EXPECT_THAT([&] { FeatureSpace::from_text(other); }, ThrowsMessage<Error>(HasSubstr("version 99")));
}

TEST_F(PredictFeatures, ListsOfBeforeAFeatureWasAddedStayAsTheyAre) {
  const KernelCase kernel = with(describe(*function_of_text(kBlocked)));
  const KernelCase* all[] = {&kernel};
  const FeatureSpace now(all);
  std::string before = now.text();
  before.erase(before.find("log2 batch\n"), 11);
  const FeatureSpace space = FeatureSpace::from_text(before);
  EXPECT_EQ(space.size(), now.size() - 1);
  EXPECT_EQ(space.text(), before);
  for (const char* name : {"log2 flops", "log2 in channels", "log2 device cache rate"})
    EXPECT_EQ(value(space, kernel, name), value(now, kernel, name)) << name;
}

TEST_F(PredictFeatures, AreThoseOfTheDocumentation) {
  const Result<std::string> text = read_file(std::string(source_dir()) + "/docs/prediction.md");
  ASSERT_TRUE(text.ok());
  std::string table;
  const KernelCase kernel = with(describe(*function_of_text(kBlocked)));
  const KernelCase* all[] = {&kernel};
  const FeatureSpace space(all);
  for (const FeatureInfo& each : space.features()) {
    if (each.name.starts_with("operator ") || each.name.starts_with("template ") ||
        each.name.starts_with("parameter "))
      continue;
    table += "| " + each.name + " | " + each.doc + " | " + (each.is_shape ? "yes" : "") + " | " +
             (each.is_near ? "yes" : "") + " |\n";
  }
  EXPECT_NE(text->find("|---|---|---|---|\n" + table), std::string::npos) << table;
}

TEST_F(PredictFeatures, WhatTrainingHasNotSeenIsNamed) {
  const KernelCase seen =
      with(describe(*function_of_text("fn (%p0: Tensor[(2, 3), float32]) { nn.relu(%p0) }")));
  const KernelCase* all[] = {&seen};
  const FeatureSpace space(all);
  KernelCase other = with(describe(*function_of_text("fn (%p0: Tensor[(2, 3), float32]) { tanh(%p0) }")));
  other.template_name = "new_template";
  EXPECT_EQ(space.unseen(seen), "");
  EXPECT_EQ(space.unseen(other), "operator tanh, template new_template");
}

TEST_F(PredictFeatures, TheBaseGrowsWithWorkAndShrinksWithThreads) {
  const DeviceSheet sheet = made_up::Machine().sheet();
  KernelDescription small;
  small.flops = 1e6;
  small.bytes = 1e5;
  KernelDescription large = small;
  large.flops = 1e9;
  EXPECT_LT(roofline_time(small, sheet, 1).us, roofline_time(large, sheet, 1).us);
  EXPECT_GT(roofline_time(large, sheet, 1).us, 1.9 * roofline_time(large, sheet, 2).us * 0.95);
  EXPECT_GT(roofline_time({}, DeviceSheet(), 1).us, 0);
}

}  // namespace
}  // namespace baton
