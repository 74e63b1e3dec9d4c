#include "baton/profile/record/record.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/driver/load_model.h"
#include "baton/profile/record/set_time.h"
#include "baton/profile/record/work.h"
#include "baton/profile/report/profile.h"
#include "baton/profile/write/report_json.h"
#include "baton/support/json.h"
#include "baton/text/parser.h"
#include "baton/types/function_text.h"
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
            "fn (%p0: Tensor[(1, 4), float32], %p1: Tensor[(4), float32], %p2: float32) ->"
            " Tensor[(1, 4), float32] {\n  %0 = add(%p0, %p1);\n  multiply(%0, %p2)\n}");
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
  const Json& attributes = work.operators[0].attributes;
  EXPECT_EQ(attributes["strides"], Json({2, 2}));
  EXPECT_EQ(attributes["data_layout"], "NCHW");
  EXPECT_EQ(attributes["kernel_size"], Json({3, 3}));  // None in the text: the weight has it
  EXPECT_EQ(work.operators[0].input_types,
            (std::vector<std::string>{"Tensor[(1, 4, 8, 8), float32]", "Tensor[(6, 4, 3, 3), float32]"}));
  EXPECT_EQ(work.operators[0].type, "Tensor[(1, 6, 4, 4), float32]");
  EXPECT_EQ(work.operators[1].attributes, Json::object());
  EXPECT_EQ(work.flops, 2.0 * 6 * 4 * 4 * 4 * 9 + 96);
  EXPECT_EQ(work.bytes, 4.0 * (256 + 216 + 96));
  const Work part = part_work(work, "b1", "nn.relu");
  ASSERT_EQ(part.operators.size(), 1u);
  EXPECT_EQ(part.operators[0], work.operators[1]);
  EXPECT_NE(part.id(), work.id());
}

TEST(SetTime, SamplesThatDoNotCountStandBehindTheOthers) {
  Estimate time;
  time.us = 100;
  time.plus_minus_us = 30;
  time.samples_us = {99, 100, 101, 100, 99, 180};
  time.disturbed_us = {300, 400};
  time.core_ns = 1700;
  Measurement m;
  m.disturbed = {7};
  set_time(m, time);
  EXPECT_EQ(m.samples_us, (std::vector<double>{99, 100, 101, 100, 99, 180, 300, 400}));
  EXPECT_EQ(m.disturbed, (std::vector<uint32_t>{6, 7}));
  EXPECT_EQ(m.outliers, (std::vector<uint32_t>{5})) << "what does not count is none";
  EXPECT_EQ(m.median_us, 100);
  EXPECT_EQ(m.core_ns, 1700);
  EXPECT_DOUBLE_EQ(m.cv, coefficient_of_variation(time.samples_us));
  EXPECT_EQ(m.unreliable, "");
  time.under_load = "others";
  set_time(m, time);
  EXPECT_EQ(m.unreliable, "others, +- 30 %");
  EXPECT_NO_THROW(check_measurement(m));
}

TEST(Families, AreTheFirstPartOfAWorkloadsName) {
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
  RecordSource source() const {
    return {&built, nullptr, module, &context, true, "here", "tiny", 1'700'000'000};
  }
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

TEST(Record, CopiesOtherDevicesAndComparisons) {
  initialize();
  ProfileReport report;
  report.model = "made up";
  report.target = "llvm, opencl";
  report.version = "0.1.0";
  report.machine = "A processor";
  report.end_to_end_us = 100;  // without a text there is no model to name
  const auto operator_row = [](uint32_t id, const char* op) {
    OperatorRow row;
    row.id = id;
    row.op = op;
    row.line = id + 3;
    return row;
  };
  report.operators = {operator_row(0, "nn.relu"), operator_row(1, "nn.softmax")};
  KernelRow relu, copy, softmax;
  relu.disturbed_us = {70};
  relu.core_ns = 1650;
  relu.node = 1;
  relu.func_name = "f";
  relu.target = "llvm -mcpu=znver4";
  relu.device = copy.copied_from = "cpu";
  relu.samples_us = {5, 6, 7};
  relu.median_us = 6;
  relu.origins = {0};
  copy.node = 2;
  copy.func_name = "__copy";
  copy.device = softmax.device = softmax.target = "opencl";
  copy.result_bytes = 4096;
  copy.samples_us = {1, 2, 3};
  copy.median_us = 2;
  copy.made_for = {0, 1};
  softmax.node = 3;
  softmax.func_name = "g";
  softmax.samples_us = {9, 9, 9};
  softmax.median_us = 9;
  softmax.calls_per_sample = 4;
  softmax.simulated = "opencl";
  softmax.origins = {1};
  report.kernels = {relu, copy, softmax, KernelRow{}};
  report.kernels.back().func_name = "not measured";
  report.functions["f"] = {
      "fn (%x: Tensor[(32, 32), float32]) { nn.relu(%x) }", "relu 32x32", "pointwise", {{"rows", 4}}};
  report.functions["g"] = {"fn (%x: Tensor[(32, 32), float32]) { nn.softmax(%x, meta[relay.Constant][0]) }",
                           "softmax 32x32",
                           "rows",
                           {}};
  Comparison comparison;
  ComparedFunction function;
  function.node = 1;
  function.nodes = {1};
  function.own_us = 5;
  function.rounds_us = {5, 5.5};
  function.core_ns = 1700;
  OffloadRow alone{"dnnl", OffloadVerdict::kFaster}, copied{"opencl", OffloadVerdict::kSlower},
      refused{"mirror", OffloadVerdict::kNotTaken}, simulated{"sim_npu", OffloadVerdict::kFaster};
  alone.kernels_us = alone.total_us = 4;
  alone.rounds_us = {4, 4.5};
  copied.kernels_us = 3;
  copied.copies_us = 50;
  copied.rounds_us = {53, 54};
  simulated.kernels_us = 2;
  function.others = {alone, copied, refused, simulated};
  comparison.functions = {function};
  report.comparison = comparison;

  RecordSource source;
  source.live = false;
  source.machine = "here";
  const std::vector<Measurement> rows = measurements_of(report, source);
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(rows[0].build.backend, "llvm");
  EXPECT_EQ(rows[0].build.target, "llvm -mcpu=znver4");
  EXPECT_EQ(rows[0].build.compiler, "baton 0.1.0");
  EXPECT_EQ(rows[0].build.template_name, "pointwise");
  EXPECT_EQ(rows[0].build.parameters, R"({"rows":4})");
  EXPECT_EQ(rows[0].device.name, "A processor");
  EXPECT_EQ(rows[0].cache, CacheState::kInModel);
  EXPECT_EQ(rows[0].samples_us, (std::vector<double>{5, 6, 7, 70}));
  EXPECT_EQ(rows[0].disturbed, (std::vector<uint32_t>{3}));
  EXPECT_EQ(rows[0].core_ns, 1650);
  EXPECT_EQ(rows[0].protocol, "profile");
  EXPECT_EQ(rows[0].work.operators.at(0).op, "nn.relu");
  EXPECT_EQ(rows[0].origins, (std::vector<WorkOrigin>{{0, "nn.relu", "line 3"}}));
  EXPECT_EQ(rows[1].work.kind, WorkKind::kTransfer);
  EXPECT_EQ(rows[1].work.text, "copy 4096 from cpu to opencl");
  EXPECT_EQ(rows[1].build.backend, "opencl");
  EXPECT_EQ(rows[1].device.kind, "opencl");
  EXPECT_EQ(rows[1].made_for.size(), 2u);
  EXPECT_EQ(rows[2].cache, CacheState::kHot);
  EXPECT_EQ(rows[2].simulated, "opencl");
  EXPECT_EQ(rows[2].work.operators.at(0).op, "nn.softmax");  // by origins: the text refers to what it lacks
  EXPECT_EQ(rows[3].method, "alone");
  EXPECT_EQ(rows[3].median_us, 5);
  EXPECT_EQ(rows[3].protocol, "compare");
  EXPECT_EQ(rows[3].core_ns, 1700);
  EXPECT_EQ(rows[3].cache, CacheState::kHot);
  EXPECT_EQ(rows[4].method, "compare");
  EXPECT_EQ(rows[4].build.backend, "dnnl");
  EXPECT_EQ(rows[4].work.id(), rows[3].work.id());
  EXPECT_EQ(rows[4].samples_us, (std::vector<double>{4, 4.5}));
  EXPECT_EQ(rows[5].median_us, 3);
  EXPECT_TRUE(rows[5].samples_us.empty());
  EXPECT_EQ(rows[4].simulated + rows[5].simulated, "");
  EXPECT_EQ(rows[6].simulated, "sim_npu");
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
