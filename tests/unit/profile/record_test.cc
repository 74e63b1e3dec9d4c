#include "baton/profile/record/record.h"

#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/driver/load_model.h"
#include "baton/profile/record/work.h"
#include "baton/profile/report/profile.h"
#include "baton/profile/write/report_json.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "store/measurements.h"

namespace baton {
namespace {

Function parsed(const std::string& text) {
  initialize();
  const Function function = function_of_text(text);
  EXPECT_TRUE(function) << text;
  return function;
}

TEST(CanonicalText, NamesAttributesAndConstantsDoNotMatter) {
  const Function a = parsed(
      "fn (%x: Tensor[(1, 4), float32], %w: Tensor[(4), float32], Primitive=1, hash=\"ab\") {"
      " %0 = add(%x, %w); multiply(%0, 2f) }");
  const Function b = parsed(
      "fn (%p0: Tensor[(1, 4), float32], %p1: Tensor[(4), float32], Primitive=1) {"
      " let %y = add(%p0, %p1); multiply(%y, 3f) }");
  const std::string text = canonical_text(a);
  EXPECT_EQ(text,
            "fn (%p0: Tensor[(1, 4), float32], %p1: Tensor[(4), float32], %c0: float32) ->"
            " Tensor[(1, 4), float32] {\n  %0 = add(%p0, %p1);\n  multiply(%0, %c0)\n}");
  EXPECT_NE(canonical_text(b), text);  // a let is another program
  const Function c = parsed(
      "fn (%data: Tensor[(1, 4), float32], %bias: Tensor[(4), float32]) { multiply(add(%data, %bias), 7f) }");
  EXPECT_EQ(canonical_text(c), text);
  EXPECT_EQ(kernel_work(c).id(), kernel_work(a).id());
  // Types of constants matter, and so do parameters that are swapped.
  EXPECT_NE(canonical_text(parsed("fn (%x: Tensor[(1, 4), float32], %w: Tensor[(4), float32]) {"
                                  " multiply(add(%w, %x), 7f) }")),
            text);
}

TEST(CanonicalText, ParsesAndIsItsOwnCanonicalText) {
  const std::string text = canonical_text(
      parsed("fn (%x: Tensor[(1, 8, 4, 4), float32]) { %0 = split(%x, indices_or_sections=2, axis=1);"
             " (%0.0, add(%0.1, 1f)) }"));
  EXPECT_EQ(canonical_text(parsed(text)), text);
}

TEST(KernelWork, HasAllAttributesAndTypes) {
  const Work work =
      kernel_work(parsed("fn (%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(6, 4, 3, 3), float32]) {"
                         " nn.relu(nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1])) }"));
  ASSERT_EQ(work.operators.size(), 2u);
  EXPECT_EQ(work.operators[0].op, "nn.conv2d");
  const auto attributes = nlohmann::json::parse(work.operators[0].attributes);
  EXPECT_EQ(attributes["strides"], nlohmann::json({2, 2}));
  EXPECT_EQ(attributes["data_layout"], "NCHW");
  EXPECT_EQ(attributes["kernel_size"], nlohmann::json({3, 3}));  // None in the text: the weight has it
  EXPECT_EQ(work.operators[0].input_types,
            (std::vector<std::string>{"Tensor[(1, 4, 8, 8), float32]", "Tensor[(6, 4, 3, 3), float32]"}));
  EXPECT_EQ(work.operators[0].type, "Tensor[(1, 6, 4, 4), float32]");
  EXPECT_EQ(work.operators[1].attributes, "{}");
  EXPECT_EQ(work.flops, 2.0 * 6 * 4 * 4 * 4 * 9 + 96);
  EXPECT_EQ(work.bytes, 4.0 * (256 + 216 + 96));
  const Work part = part_work(work, "b1", "nn.relu");
  ASSERT_EQ(part.operators.size(), 1u);
  EXPECT_EQ(part.operators[0], work.operators[1]);
  EXPECT_NE(part.id(), work.id());
}

TEST(Outliers, LieFarOutside) {
  std::vector<double> samples{10, 11, 10, 12, 11, 10, 11, 12, 50, 10};
  EXPECT_EQ(outliers_of(samples), (std::vector<uint32_t>{8}));
  samples[8] = 13;
  EXPECT_TRUE(outliers_of(samples).empty());
  EXPECT_TRUE(outliers_of({}).empty());
  EXPECT_EQ(family_of_workload("resnet-18"), "resnet");
  EXPECT_EQ(family_of_workload("nets/resnet-18.relay"), "");
}

/// A small network, profiled once.
struct Profiled {
  IRModule module;
  BuildResult built;
  BuildContext context;
  ProfileReport report;

  static const Profiled& once() {
    static const Profiled profiled = [] {
      initialize();
      Profiled p;
      p.context = host_context();
      p.module = infer_types(parse_module(R"(#[version = "0.0.5"]
def @main(%data: Tensor[(1, 3, 16, 16), float32], %w: Tensor[(8, 3, 3, 3), float32],
          %v: Tensor[(8, 8, 3, 3), float32]) {
  %0 = nn.conv2d(%data, %w, strides=[2, 2], padding=[1, 1, 1, 1]);
  %1 = nn.relu(%0);
  %2 = nn.conv2d(%1, %v, padding=[1, 1, 1, 1]);
  %3 = nn.softmax(nn.batch_flatten(nn.relu(%2)));
  add(%3, 0.5f)
}
)"));
      LoadedModel model{"small", p.module, {}};
      BuildOptions options;
      options.context = p.context;
      options.params = load_params(model, "");
      p.built = build(p.module, options);
      const std::unique_ptr<Executor> executor = make_executor(p.built);
      executor->set_threads(1);
      ProfileOptions how;
      how.context = p.context;
      how.max_seconds = 4;
      how.peaks = false;
      p.report = profile(p.built, *executor, how);
      p.report.model = "small";
      return p;
    }();
    return profiled;
  }
  RecordSource source() const { return {&built, module, &context, "here", "tiny", 1'700'000'000}; }
};

TEST(Record, EveryRowOfAProfileIsAMeasurement) {
  const Profiled& p = Profiled::once();
  const std::vector<Measurement> rows = measurements_of(p.report, p.source());
  std::map<std::string, int> count;
  for (const Measurement& row : rows) {
    ++count[std::string(work_kind_name(row.work.kind)) + " " + row.method];
    EXPECT_NO_THROW(check_measurement(row));
    EXPECT_EQ(row.machine, "here");
    EXPECT_EQ(row.model, "small");
    EXPECT_EQ(row.model_id, model_work(p.module).id());
    EXPECT_EQ(row.family, "tiny");
    EXPECT_EQ(row.device.name, p.context.host().name);
    EXPECT_EQ(row.build.backend, "llvm");
    EXPECT_NE(row.build.compiler.find("code "), std::string::npos);
    EXPECT_FALSE(row.work.text.empty());
    if (row.work.kind == WorkKind::kKernel && row.method.empty()) {
      EXPECT_FALSE(row.samples_us.empty());
      EXPECT_FALSE(row.build.template_name.empty());
      EXPECT_FALSE(row.origins.empty() && row.made_for.empty());
    }
  }
  EXPECT_EQ(count["model "], 1);
  EXPECT_EQ(count["kernel "], static_cast<int>(p.report.kernels.size()));
  EXPECT_EQ(count["kernel unfused"], static_cast<int>(p.report.unfused.size()));
  EXPECT_GT(count["kernel unfused"], count["kernel "]);
  size_t parts = 0;
  for (const KernelRow& row : p.report.kernels)
    for (const InsideRow& part : row.inside) parts += part.method != InsideMethod::kWhole;
  int recorded = 0;
  for (const Measurement& row : rows) recorded += row.work.kind == WorkKind::kPart;
  EXPECT_EQ(recorded, static_cast<int>(parts));
  EXPECT_GT(parts, 0u);
}

TEST(Record, ASavedProfileGivesTheSameWorks) {
  const Profiled& p = Profiled::once();
  ProfileReport saved = read_report(to_json(p.report).dump(), "saved");
  RecordSource without;
  without.machine = "here";
  const std::vector<Measurement> live = measurements_of(p.report, p.source());
  const std::vector<Measurement> later = measurements_of(saved, without);
  std::multiset<std::string> live_ids, later_ids;
  std::map<std::string, Work> works;
  for (const Measurement& row : live)
    if (row.work.kind != WorkKind::kModel) {
      live_ids.insert(row.work.id());
      works[row.work.id()] = row.work;
    }
  for (const Measurement& row : later) {
    if (row.work.kind == WorkKind::kModel) continue;
    later_ids.insert(row.work.id());
    EXPECT_EQ(row.work, works[row.work.id()]) << row.work.text;
  }
  EXPECT_EQ(live_ids, later_ids);
}

}  // namespace
}  // namespace baton
