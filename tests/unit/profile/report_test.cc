// Reports from made-up times over models that are really built: what a user reads, and what a program reads.
#include "baton/profile/peaks.h"
#include "baton/profile/report_json.h"

#include <sstream>

#include <gmock/gmock.h>

#include "baton/driver/initialize.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/text/parser.h"
#include "baton/transform/infer_type.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kNet = R"(#[version = "0.0.5"]
def @main(%data: Tensor[(2, 32), float32], %weight: Tensor[(16, 32), float32], %bias: Tensor[(16), float32]) {
  %0 = nn.dense(%data, %weight, units=16);
  %1 = nn.bias_add(%0, %bias);
  %2 = nn.relu(%1);
  %3 = nn.dropout(%2);
  %4 = exp(%bias);
  %5 = add(%3.0, %4);
  nn.softmax(%5)
}
)";

struct Built {
  test::Folder folder;
  KernelCache cache{folder.path()};
  BuildResult build;
  std::unique_ptr<Executor> executor;

  Built() {
    initialize();
    const IRModule module = infer_types(parse_module(kNet, "net.relay"));
    BuildOptions options;
    options.cache = &cache;
    options.opt_level = 3;
    for (const char* name : {"weight", "bias"}) {
      for (const Var& param : module->find("main")->params())
        if (param->name() == name) {
          const auto* type = as_type<TensorTypeNode>(param->annotation());
          options.params.emplace_back(name, parameter_value(name, type->extents(), type->dtype()));
        }
    }
    build = baton::build(module, options);
    executor = make_executor(build);
    executor->set_threads(1);
    const PlanEntry& entry = executor->input_entry(0);
    EXPECT_TRUE(executor->set_input(0, tensor_value("data", entry.shape, entry.dtype)).ok());
  }
};

/// Times as a run would give them: 10 us and 30 us for the two kernels, 41 us for the whole.
FusedTimes made_up(const Plan& plan) {
  FusedTimes times;
  for (uint32_t i = 0; i < plan.nodes.size(); ++i)
    if (!plan.nodes[i].func_name.empty() && plan.nodes[i].func_name != "__nop") times.nodes.push_back(i);
  for (size_t i = 0; i < times.nodes.size(); ++i) times.node_us.push_back({10.0 + 20 * i, 9.0 + 20 * i, 12.0 + 20 * i});
  times.plain_us = {41, 40, 43};
  times.profiled_us = {41.5, 41, 44};
  times.load_before = 0.25;
  return times;
}

ProfileReport report_of(const Built& built) {
  std::map<std::string, InsideTimes> inside;
  const BuiltKernel& first = built.build.kernels.front();
  InsideTimes times;
  times.parts = {{{0}, false, "dense", 0.8, InsideMethod::kMarkers, false},
                 {{1}, false, "add", 0.05, InsideMethod::kAblation, false},
                 {{2}, false, "add", 0, InsideMethod::kAblation, true},
                 {{}, true, "add", 0.25, InsideMethod::kMarkers, false}};
  times.stage_sum = 1.1;
  inside[first.func_name] = times;
  ProfileReport report = make_report(built.build, built.executor->plan(), made_up(built.executor->plan()), inside);
  report.model = "net";
  report.source = "net.relay";
  report.version = "0.0.0";
  return report;
}

std::string table_of(const ProfileReport& report, bool all = false) {
  std::ostringstream out;
  write_table(out, report, all);
  return out.str();
}

TEST(ProfileReport, TableForPeople) {
  const Built built;
  EXPECT_EQ(table_of(report_of(built)), R"(net on llvm, 1 thread, opt level 3, baton 0.0.0
lines are those of net.relay

node   kernel, and the operators it computes                  median us    cv   share  GFLOP/s    GB/s of roof  by
   4   fused_nn_contrib_dense_pack_add_nn_relu_add                 10.0  15 %  25.0 %      0.2     0.3
       nn.dense line 3  [dense]  as nn.contrib_dense_pack         ~8.00        80.0 %                           markers
       nn.bias_add line 4  as add                                 ~0.50         5.0 %                           ablation
       load, store, loop  [add]                                   ~2.50        25.0 %                           markers
       nn.relu line 5                                           < noise                                         ablation
       (the stages sum to 110.0 % of the kernel: estimates)
   5   fused_nn_softmax                                            30.0   5 %  75.0 %      0.0     0.0
       nn.softmax line 9

       sum of kernels                                                                  40.0   97.6 %
       end to end, profiling off                                                       41.0  100.0 %  median of 3 runs
       residual: between kernels                                                       1.00    2.4 %
       end to end, profiling on                                                        41.5  101.2 %  overhead 1.012x
       runs vary by 3.7 % (standard deviation), load average was 0.2

line   operator: alone, fused, and inside            unfused us  fused in node    node us  inside us   share   gain us
   3   nn.dense units=16                                      -  4                   10.0       8.00  20.0 %         -
   4   nn.bias_add                                            -  4                   10.0       0.50   1.2 %         -
   8   add                                                    -  4                   10.0          -                 -
   9   nn.softmax                                             -  5                   30.0          -                 -
       1 more under 1 % each (--all shows them)               -                              < noise                 -
       all of them, and what the compiler added               -                      40.0          -                 -

folded at compile time (FoldConstant: all their inputs are constants)
       exp line 7                               into a constant of node 4

retired
       nn.dropout line 6                        SimplifyInference: dropout is the identity at inference
)");
}

/// The same with the other two times and a machine: 20 GFLOP/s, 2 GB/s from memory, 4 GB/s from caches of 1 kB.
ProfileReport full_report_of(const Built& built) {
  ProfileReport report = report_of(built);
  report.notes = {"runs vary by 3.7 % (standard deviation): --wait measures once the machine is quiet"};
  report.operators[0].unfused_us = 9;
  report.operators[1].unfused_us = 2.5;
  report.operators[2].unfused_us = 0.01;
  report.operators[5].unfused_us = 0.02;
  report.operators[6].unfused_us = 30;
  report.unfused = {{"fused_nn_dense", {0}, {}, 9}, {"fused_copy", {}, {0}, 1}};
  report.unfused_us = 82;
  MachinePeaks peaks{"a machine", 20, 2, 4};
  peaks.cache_bytes = 1000;
  add_peaks(report, peaks);
  return report;
}

TEST(ProfileReport, TableOfAllThreeTimes) {
  const Built built;
  const std::string table = table_of(full_report_of(built));
  EXPECT_EQ(table.substr(table.find("\n       roofs")), R"(
       roofs of this machine: compute 20.0 GFLOP/s, memory 2.0 GB/s, cache 4.0 GB/s for up to 0.00 MB (a machine)
       note: runs vary by 3.7 % (standard deviation): --wait measures once the machine is quiet

line   operator: alone, fused, and inside            unfused us  fused in node    node us  inside us   share   gain us
   3   nn.dense units=16                                   9.00  4                   10.0       8.00  20.0 %     +1.00
   4   nn.bias_add                                         2.50  4                   10.0       0.50   1.2 %     +2.00
   9   nn.softmax                                          30.0  5                   30.0          -                 -
       2 more under 1 % each (--all shows them)            0.03                              < noise             +0.03
       all of them, and what the compiler added            42.5                      40.0          -                 -
       the model end to end: 82.0 us unfused, 41.0 us as built, 2.00x as fast

folded at compile time (FoldConstant: all their inputs are constants)
       exp line 7                               into a constant of node 4

retired
       nn.dropout line 6                        SimplifyInference: dropout is the identity at inference
)");
}

TEST(ProfileReport, TableOfEverything) {
  const Built built;
  const std::string table = table_of(full_report_of(built), /*all=*/true);
  EXPECT_EQ(table.substr(table.find("\nline")), R"(
lines are those of net.relay

node   kernel, and the operators it computes                  median us    cv   share  GFLOP/s    GB/s of roof  by
   4   fused_nn_contrib_dense_pack_add_nn_relu_add                 10.0  15 %  25.0 %      0.2     0.3    13 %  memory
       nn.dense line 3  [dense]  as nn.contrib_dense_pack         ~8.00        80.0 %                           markers
       nn.bias_add line 4  as add                                 ~0.50         5.0 %                           ablation
       nn.relu line 5                                           < noise                                         ablation
       load, store, loop  [add]                                   ~2.50        25.0 %                           markers
       (the stages sum to 110.0 % of the kernel: estimates)
   5   fused_nn_softmax                                            30.0   5 %  75.0 %      0.0     0.0     0 %  cache
       nn.softmax line 9

       sum of kernels                                                                  40.0   97.6 %
       end to end, profiling off                                                       41.0  100.0 %  median of 3 runs
       residual: between kernels                                                       1.00    2.4 %
       end to end, profiling on                                                        41.5  101.2 %  overhead 1.012x
       runs vary by 3.7 % (standard deviation), load average was 0.2
       roofs of this machine: compute 20.0 GFLOP/s, memory 2.0 GB/s, cache 4.0 GB/s for up to 0.00 MB (a machine)
       note: runs vary by 3.7 % (standard deviation): --wait measures once the machine is quiet

line   operator: alone, fused, and inside            unfused us  fused in node    node us  inside us   share   gain us
   3   nn.dense units=16                                   9.00  4                   10.0       8.00  20.0 %     +1.00
   4   nn.bias_add                                         2.50  4                   10.0       0.50   1.2 %     +2.00
   5   nn.relu                                             0.01  4                   10.0    < noise             +0.01
   6   nn.dropout                                                retired by SimplifyInference: dropout is the iden...
   7   exp                                                       computed when it was built, for node 4
   8   add                                                 0.02  4                   10.0          -                 -
   9   nn.softmax                                          30.0  5                   30.0          -                 -
       all of them, and what the compiler added            42.5                      40.0          -                 -
       the model end to end: 82.0 us unfused, 41.0 us as built, 2.00x as fast

folded at compile time (FoldConstant: all their inputs are constants)
       exp line 7                               into a constant of node 4

retired
       nn.dropout line 6                        SimplifyInference: dropout is the identity at inference
)");
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
}

TEST(ProfileReport, EveryOperatorIsInTheJsonWithTheNodesThatComputeIt) {
  const Built built;
  const auto json = to_json(report_of(built));
  ASSERT_EQ(json["operators"].size(), 7u);
  std::vector<std::string> ops;
  for (const auto& row : json["operators"]) {
    ops.push_back(row["op"]);
    const bool somewhere = !row["nodes"].empty() || !row["folded_into"].empty() || !row["retired"].is_null();
    EXPECT_TRUE(somewhere) << row;
    EXPECT_GT(row["line"].get<int>(), 2) << row;
    EXPECT_GT(row["column"].get<int>(), 0) << row;
  }
  EXPECT_THAT(ops, ElementsAre("nn.dense", "nn.bias_add", "nn.relu", "nn.dropout", "exp", "add", "nn.softmax"));
  EXPECT_EQ(json["operators"][3]["retired"]["pass"], "SimplifyInference");
  EXPECT_FALSE(json["operators"][4]["folded_into"].empty());
  EXPECT_DOUBLE_EQ(json["end_to_end_us"]["median"], 41);
  EXPECT_DOUBLE_EQ(json["end_to_end_us"]["min"], 40);
  EXPECT_DOUBLE_EQ(json["sum_us"], 40);
  EXPECT_DOUBLE_EQ(json["residual_us"], 1);
  EXPECT_DOUBLE_EQ(json["overhead"].get<double>(), 41.5 / 41);
  ASSERT_EQ(json["kernels"].size(), 2u);
  const auto& kernel = json["kernels"][0];
  EXPECT_EQ(kernel["samples"].size(), 3u);
  EXPECT_DOUBLE_EQ(kernel["share"], 0.25);
  EXPECT_FALSE(kernel["trusted"]);
  EXPECT_GT(kernel["flops"], 2 * 2 * 16 * 32);
  EXPECT_EQ(kernel["inside"][0]["id"], 0);
  EXPECT_DOUBLE_EQ(kernel["inside"][0]["us"], 8);
  EXPECT_TRUE(kernel["inside"][3]["id"].is_null());
  EXPECT_EQ(kernel["inside"][3]["label"], "load, store, loop");
  EXPECT_DOUBLE_EQ(json["operators"][0]["inside_us"], 8);
}

TEST(ProfileReport, ReadsWhatItWrote) {
  const Built built;
  ProfileReport report = report_of(built);
  report.operators[1].unfused_us = 2.5;
  report.operators[1].not_fused = "its users meet in no common operator";
  report.unfused = {{"fused_exp", {4}, {}, 3, 16, 128}};
  report.unfused_us = 55;
  report.peaks = MachinePeaks{"a machine", 100, 20, 60};
  report.notes = {"the clock stepped"};
  const std::string json = to_json(report).dump();
  EXPECT_EQ(to_json(read_report(json, "p.json")).dump(), json);
  EXPECT_THAT(report.kernels[1].inputs, ElementsAre(report.kernels[0].node));
  EXPECT_THAT(report.functions.at(report.kernels[1].func_name).relay, HasSubstr("nn.softmax"));
}

std::string refusal(const std::string& json) {
  try {
    read_report(json, "p.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(ProfileReport, SaysWhatIsWrongWithAFileThatIsNoProfile) {
  const Built built;
  auto json = to_json(report_of(built));
  EXPECT_THAT(refusal("{"), HasSubstr("p.json is no profile"));
  EXPECT_THAT(refusal("{\"schema\": 1}"), HasSubstr("p.json is no profile"));
  auto other = json;
  other["schema"] = 99;
  EXPECT_THAT(refusal(other.dump()), HasSubstr("p.json has schema 99, this Baton reads schema 1"));
  other = json;
  other["kernels"][0].erase("median_us");
  EXPECT_THAT(refusal(other.dump()), HasSubstr("median_us"));
  other = json;
  other["kernels"][0]["origins"].push_back(77);
  EXPECT_THAT(refusal(other.dump()), HasSubstr("operator 77 is named, but there are 7"));
}

TEST(ProfileReport, WithoutInsideTimesRowsNameTheirOperators) {
  const Built built;
  const ProfileReport report = make_report(built.build, built.executor->plan(), made_up(built.executor->plan()), {});
  std::ostringstream out;
  write_table(out, report);
  EXPECT_THAT(out.str(), HasSubstr("nn.bias_add line 4"));
  EXPECT_TRUE(to_json(report)["operators"][0]["inside_us"].is_null());
}

/// Clocks of which every third interval is too long by a millisecond.
Clocks stepping() {
  const auto readings = std::make_shared<int>(0);
  const auto clocks = Clocks::of_this_machine();
  return {[=] {
            const bool steps = ++*readings % 6 == 0;
            return clocks.ticks() + (steps ? static_cast<uint64_t>(1e6 / clocks.ns_per_tick) : 0);
          },
          clocks.system_ns, clocks.ns_per_tick};
}

TEST(Measure, RunsDuringWhichTheClockSteppedAreLeftOut) {
  Built built;
  MeasureOptions options;
  options.min_runs = 9;
  options.min_seconds = 0.001;
  options.clocks = stepping();
  const FusedTimes fused = measure_fused(*built.executor, options);
  EXPECT_THAT(fused.notes, testing::Contains(HasSubstr("runs were left out: the processor's time stamp counter stepped")));
  for (double us : fused.plain_us) EXPECT_LT(us, 1e6);
}

TEST(Measure, ClocksThatNeverAgreeAreAnError) {
  Built built;
  MeasureOptions options;
  options.min_runs = 3;
  options.min_seconds = 0.001;
  options.clocks.ns_per_tick *= 100;
  try {
    measure_fused(*built.executor, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("could be timed: this machine's time stamp counter and its monotonic clock disagree"));
  }
}

TEST(Measure, LeavesTheShippedKernelsAsTheyAre) {
  Built built;
  const std::string library = built.build.kernels_so;
  std::vector<std::string> objects;
  for (const BuiltKernel& kernel : built.build.kernels) objects.push_back(kernel.kernel->object);
  ASSERT_TRUE(built.executor->run().ok());
  const NDArray before = built.executor->output(0).copy();
  MeasureOptions options;
  options.min_runs = 3;
  options.min_seconds = 0.01;
  const FusedTimes fused = measure_fused(*built.executor, options);
  InsideOptions inside_options;
  inside_options.ms_per_kernel = 5;
  inside_options.compile.cache = &built.cache;
  const auto inside = measure_inside(built.build, *built.executor, inside_options);
  EXPECT_EQ(inside.size(), built.build.kernels.size());
  for (size_t i = 0; i < objects.size(); ++i) {
    // Compiled again, from nothing, as if nobody had asked for a profile: byte by byte what was measured.
    const test::Folder folder;
    KernelCache fresh(folder.path());
    CompileOptions compile;
    compile.cache = &fresh;
    const KernelRequest& request = built.build.kernels[i].request;
    EXPECT_EQ(compile_kernels({&request, 1}, compile)[0]->object, objects[i]) << built.build.kernels[i].func_name;
  }
  EXPECT_EQ(built.build.kernels_so, library);
  ASSERT_TRUE(built.executor->run().ok());
  EXPECT_TRUE(built.executor->output(0).equal_bytes(before));

  const ProfileReport report = make_report(built.build, built.executor->plan(), fused, inside);
  for (const KernelRow& row : report.kernels) {
    double sum = 0;
    std::set<uint32_t> named;
    for (const InsideRow& part : row.inside) {
      EXPECT_GE(part.share, 0);
      sum += part.share;
      named.insert(part.ids.begin(), part.ids.end());
    }
    EXPECT_GT(sum, 0.5) << row.name;
    for (uint32_t id : row.origins) EXPECT_TRUE(named.count(id)) << row.name << " lacks operator " << id;
  }
}

TEST(Measure, StopsWhenAsked) {
  Built built;
  const std::atomic<bool> stop{true};
  MeasureOptions options;
  options.interrupt = &stop;
  EXPECT_THROW(measure_fused(*built.executor, options), Interrupted);
}

TEST(Statistics, MedianAndVariation) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(coefficient_of_variation({5}), 0);
  EXPECT_DOUBLE_EQ(coefficient_of_variation({1, 3}), std::sqrt(2.0) / 2);
}

}  // namespace
}  // namespace baton
