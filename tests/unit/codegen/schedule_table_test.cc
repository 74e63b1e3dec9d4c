// Tables of tuned schedules: their text, what they are keyed by, and who is asked before and after them.
#include "baton/codegen/schedule_table.h"

#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/tuned_choice.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

class Tables : public testing::Test {
 protected:
  void SetUp() override {
    initialize();
    context_.cache = &cache_;
  }

  /// The last kernel of a dense layer with an epilogue.
  BuiltKernel built(const std::string& epilogue, int64_t units = 32) const {
    const std::string n = std::to_string(units);
    const std::string text = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(12, 64), float32], %w: Tensor[(" +
                             n + ", 64), float32]) { " + epilogue + "(nn.dense(%x, %w, units=" + n + ")) }";
    BuildOptions options{.context = context_};
    options.params.emplace_back("w", tensor_value("w", {units, 64}, DType::float_(32)));
    return build(infer_types(parse_module(text, "dense.relay")), options).kernels.back();
  }

  /// A table with another schedule than the default for that layer.
  ScheduleTable table_for(const BuiltKernel& kernel, const KernelSchedule& schedule) const {
    ScheduleTable table{"avx2", {}};
    table.entries[scheduled_layer(*kernel.function)] = {schedule, "the default", 1, 2, 2, 1, 1};
    return table;
  }

  KernelSchedule other_than(const BuiltKernel& kernel, size_t index = 0) const {
    const KernelSchedule chosen{kernel.kernel->template_name, kernel.kernel->params};
    return other_schedules(kernel.function, chosen, context_.host()).at(index);
  }

  const test::Folder folder_;
  KernelCache cache_{folder_.path()};
  BuildContext context_ = host_context().at_level(3);
};

constexpr const char* kText =
    "tuned schedules 1: avx2\n"
    "nn.dense(%p0: Tensor[(1, 64), float32], %p1: Tensor[(9, 64), float32]) units=9 | rows lanes=8 tile_n=4 "
    "| "
    "1.25 | 1.5 | the default | 1.5\n";

TEST_F(Tables, TextsAreReadAsTheyAreWritten) {
  const ScheduleTable table = ScheduleTable::from_text(kText);
  EXPECT_EQ(table.text(), kText);
  EXPECT_EQ(table.entries.begin()->second.schedule.params.at("tile_n"), 4);
  EXPECT_EQ(ScheduleTable::from_text(std::string(kText) + "\n# a comment\n").text(), kText);
  EXPECT_EQ(ScheduleTable::from_text("tuned schedules 1: avx512\n").entries.size(), 0u);
}

TEST_F(Tables, MalformedTextsAreRefusedWithTheirLine) {
  const auto error = [](const std::string& text) {
    try {
      ScheduleTable::from_text(text);
    } catch (const UsageError& found) {
      return std::string(found.what());
    }
    return std::string();
  };
  const std::string title = "tuned schedules 1: avx2\n", line = std::string(kText).substr(title.size());
  EXPECT_THAT(error(""), testing::HasSubstr("line 1 nothing"));
  EXPECT_THAT(error("tuned 1\n"), testing::HasSubstr("line 1 no title"));
  EXPECT_THAT(error(title + "nn.dense | rows lanes=8\n"), testing::HasSubstr("line 2 2 fields instead of 6"));
  EXPECT_THAT(error(title + line + line), testing::HasSubstr("line 3 a second entry for `nn.dense("));
  EXPECT_THAT(error(title + "a | rows lanes=many | 1 | 2 | b | 2\n"),
              testing::HasSubstr("`rows lanes=many`"));
  EXPECT_THAT(error(title + "a | rows lanes=8 | nan | 2 | b | 2\n"),
              testing::HasSubstr("no number of microseconds"));
}

TEST_F(Tables, ProcessorsOfAFamilyShareOne) {
  DeviceSheet sheet;
  const auto family = [&](const char* target) {
    sheet.code_target = target;
    return processor_family(sheet);
  };
  EXPECT_EQ(family("x86-64-linux-sse41"), "");
  EXPECT_EQ(family("x86-64-linux-sse41-avx-f16c"), "");
  EXPECT_EQ(family("x86-64-linux-tune_znver3-sse41-avx-f16c-fma-avx2"), "avx2");
  EXPECT_EQ(family("x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake"), "avx512");
  EXPECT_EQ(family("x86-64-linux-avx-fma-avx2-avx512-avx512_skylake-avx512_cannonlake-avx512_zen4"),
            "avx512_bf16");
  EXPECT_EQ(family("x86-64-linux-avx-fma-avx2-avx512-avx512_skylake-avx512_cannonlake-avx512_sapphirerapids"),
            "avx512_bf16");
}

TEST_F(Tables, ALayerIsTheSameWithAnotherEpilogue) {
  const std::string layer = scheduled_layer(*built("nn.relu").function);
  EXPECT_THAT(layer, testing::StartsWith("nn.contrib_dense_pack(%p0: Tensor[(12, 64), float32], %p1: "));
  EXPECT_EQ(scheduled_layer(*built("tanh").function), layer);
  EXPECT_NE(scheduled_layer(*built("nn.relu", 48).function), layer);
  EXPECT_EQ(scheduled_layer(*test::relu_chain({3}, 2)), "");
}

TEST_F(Tables, AreAskedAfterWhatWasTunedAndBeforeTheCostModel) {
  const BuiltKernel plain = built("nn.relu");
  const KernelSchedule shipped = other_than(plain, 0), tuned = other_than(plain, 1);
  const ScheduleTable table = table_for(plain, shipped);
  const auto chosen = [&] {
    return tuned_choice(&cache_, &table)->schedule(plain.function, context_.host());
  };
  EXPECT_EQ(schedule_text(chosen()), schedule_text(shipped));
  context_.choice = tuned_choice(&cache_, &table);
  EXPECT_EQ(built("tanh").kernel->params, shipped.params) << "a build takes it";
  keep_tuned(plain.function, context_.host(), cache_, {tuned, "", 1, 2, 2, 1, 1});
  EXPECT_EQ(schedule_text(chosen()), schedule_text(tuned));
  keep_tuned(plain.function, context_.host(), cache_, {{}, "", 1, 1, 2, 9, 9});
  EXPECT_EQ(chosen().template_name, "") << "the default was the fastest";
  keep_tuned(plain.function, context_.host(), cache_, {});
  EXPECT_EQ(schedule_text(chosen()), schedule_text(shipped)) << "what was tuned is forgotten";
}

TEST_F(Tables, WhatNoLongerFitsIsIgnored) {
  const BuiltKernel plain = built("nn.relu");
  const std::vector<std::pair<KernelSchedule, std::string>> cases = {
      {{"gemm", {{"tile_m", 5000}}}, "the template does not offer these parameters"},
      {{"warp", {{"speed", 9}}}, "there is no such template"},
      {{"pool", {{"vector", 8}}}, "nn.contrib_dense_pack is another template's"}};
  for (const auto& [schedule, why] : cases) {
    const ScheduleTable table = table_for(plain, schedule);
    for (int again = 0; again < 2; ++again) {  // then from the cache
      const auto found = table_schedule(table, plain.function, context_.host(), cache_);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->unfit, why);
    }
    EXPECT_EQ(tuned_choice(&cache_, &table)->schedule(plain.function, context_.host()).template_name, "");
  }
}

/// The layer as a program: its text has the operator's operands as parameters.
Function function_of_layer(const std::string& layer) {
  const size_t open = layer.find('('),
               close = layer.rfind(") ") == std::string::npos ? layer.size() - 1 : layer.find("]) ") + 1;
  const std::string params = layer.substr(open + 1, close - open - 1),
                    attrs = close + 2 < layer.size() ? layer.substr(close + 2) : "";
  std::string args;
  for (size_t at = params.find("%p"); at != std::string::npos; at = params.find("%p", at + 1))
    args += (args.empty() ? "" : ", ") + params.substr(at, params.find(':', at) - at);
  const std::string text = "#[version = \"0.0.5\"]\ndef @main(" + params + ") { " + layer.substr(0, open) +
                           "(" + args + (attrs.empty() ? "" : ", " + attrs) + ") }";
  return infer_types(parse_module(text, "layer.relay"))->functions().at("main");
}

TEST_F(Tables, EveryShippedEntryFits) {
  for (const char* family : {"avx2", "avx512", "avx512_bf16"}) {
    if (processor_family(context_.host()) != family) continue;
    for (const auto& [layer, tuned] : shipped_table(family).entries) {
      SCOPED_TRACE(layer);
      const Function function = function_of_layer(layer);
      EXPECT_EQ(scheduled_layer(*function), layer);
      EXPECT_EQ(unfit_schedule(function, tuned.schedule, context_.host()), "");
      EXPECT_LE(tuned.us, 0.96 * tuned.default_us);
    }
  }
  EXPECT_TRUE(shipped_table("nothing").entries.empty());
}

TEST_F(Tables, LayersAreRelay) {
  const BuiltKernel plain = built("nn.relu");
  const std::string layer = scheduled_layer(*plain.function);
  EXPECT_EQ(scheduled_layer(*function_of_layer(layer)), layer);
  EXPECT_EQ(unfit_schedule(function_of_layer(layer), other_than(plain), context_.host()), "");
}

}  // namespace
}  // namespace baton
