// Reports from made-up times over models that are really built: what a user reads, and what a program reads.
#include <sstream>

#include <gmock/gmock.h>

#include "baton/profile/report/peaks.h"
#include "baton/profile/write/report_json.h"
#include "baton/profile/write/table.h"
#include "baton/support/json.h"

#include "profile/small_net.h"

namespace baton {
namespace {

using test::Built;
using test::made_up;
using testing::ElementsAre;
using testing::HasSubstr;

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
  ProfileReport report =
      make_report(built.build, built.executor->plan(), made_up(built.executor->plan()), inside);
  report.model = "net";
  report.source = "net.relay";
  report.version = "0.0.0";
  return report;
}

std::string table_of(const ProfileReport& report, bool all = false) {
  std::ostringstream out;
  write_table(out, report, {.all = all});
  return out.str();
}

TEST(ProfileReport, TableForPeople) {
  const Built built;
  EXPECT_EQ(table_of(report_of(built)), R"(net on llvm, 1 thread, opt level 3, precision f32, baton 0.0.0
lines are those of net.relay

time by operator       operators          us   share     sum    memory
softmax                        1        30.0  75.0 %  75.0 %            ##############################
dense                          1        7.27  18.2 %  93.2 %            #######
load, store, loop                       2.27   5.7 %  98.9 %            ##
bias_add                       1      455 ns   1.1 % 100.0 %
add                            1     < noise   0.0 % 100.0 %
relu                           1     < noise   0.0 % 100.0 %

node   kernels, the longest first                             median us    +-   share GFLOP/s    GB/s of roof  by
   5   softmax 2x16, line 9                                        30.0        75.0 %      0.0     0.0
   4   dense 32->16 x2 + bias_add + relu + add, line 3             10.0        25.0 %      0.2     0.3

       sum of kernels                                                                  40.0   97.6 %
       end to end, profiling off                                                       41.0  100.0 %  median of 3 runs
       end to end, profiling on                                                        41.5  101.2 %  overhead 1.012x
       24390.2 runs per second; of the runs 90 % take at most 43.0 us, 99 % at most 43.0 us
       runs vary by 3.7 % (standard deviation), load average was 0.2
       7 operators in 2 kernels; without a time, or with a part of it: 1 folded at compile time, 1 retired
       --all: every kernel with its operators, and their times alone and inside
)");
}

/// The same with the other two times and a machine: 20 GFLOP/s, 2 GB/s from memory, 4 GB/s from caches of 1
/// kB.
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
  DeviceSheet device;
  device.name = "a machine";
  device.peaks = DevicePeaks{.gflops = 20, .gbytes_per_s = 2, .cache_gbytes_per_s = 4, .cache_bytes = 1000};
  add_peaks(report, device);
  return report;
}

TEST(ProfileReport, TableEndsWithTheMachineAndWhatElseThereIs) {
  const Built built;
  const std::string table = table_of(full_report_of(built));
  EXPECT_EQ(table.substr(table.find("\n       roofs")), R"(
       roofs of this machine: compute 20.0 GFLOP/s, memory 2.0 GB/s, cache 4.0 GB/s for up to 0.00 MB (a machine)
       note: runs vary by 3.7 % (standard deviation): --wait measures once the machine is quiet
       7 operators in 2 kernels; without a time, or with a part of it: 1 folded at compile time, 1 retired
       --all: every kernel with its operators, and their times alone and inside
)");
}

TEST(ProfileReport, TableOfEverything) {
  const Built built;
  const std::string table = table_of(full_report_of(built), /*all=*/true);
  EXPECT_EQ(table.substr(table.find("\nline")), R"(
lines are those of net.relay

time by operator       operators          us   share     sum    memory
softmax                        1        30.0  75.0 %  75.0 %            ##############################
dense                          1        7.27  18.2 %  93.2 %            #######
load, store, loop                       2.27   5.7 %  98.9 %            ##
bias_add                       1      455 ns   1.1 % 100.0 %
add                            1     < noise   0.0 % 100.0 %
relu                           1     < noise   0.0 % 100.0 %

node   kernel, and the operators it computes                  median us    +-   share GFLOP/s    GB/s of roof  by
   4   dense 32->16 x2 + bias_add + relu + add, line 3             10.0        25.0 %      0.2     0.3    13 %  memory
       fused_nn_contrib_dense_pack_add_nn_relu_add
       nn.dense line 3  [dense]  as nn.contrib_dense_pack         ~8.00        80.0 %                           markers
       nn.bias_add line 4  as add                               ~500 ns         5.0 %                           ablation
       nn.relu line 5                                           < noise                                         ablation
       load, store, loop  [add]                                   ~2.50        25.0 %                           markers
       (the stages sum to 110.0 % of the kernel: estimates)
   5   softmax 2x16, line 9                                        30.0        75.0 %      0.0     0.0     0 %  cache
       fused_nn_softmax

       sum of kernels                                                                  40.0   97.6 %
       end to end, profiling off                                                       41.0  100.0 %  median of 3 runs
       end to end, profiling on                                                        41.5  101.2 %  overhead 1.012x
       24390.2 runs per second; of the runs 90 % take at most 43.0 us, 99 % at most 43.0 us
       runs vary by 3.7 % (standard deviation), load average was 0.2
       roofs of this machine: compute 20.0 GFLOP/s, memory 2.0 GB/s, cache 4.0 GB/s for up to 0.00 MB (a machine)
       note: runs vary by 3.7 % (standard deviation): --wait measures once the machine is quiet

line   operator: alone, fused, and inside            unfused us  fused in node    node us  inside us   share   gain us
   3   dense 32->16 x2                                     9.00  4                   10.0       8.00  20.0 %     +1.00
   4   bias_add 2x16                                       2.50  4                   10.0     500 ns   1.2 %     +2.00
   5   relu 2x16                                          10 ns  4                   10.0    < noise            +10 ns
   6   dropout 2x16                                              retired by SimplifyInference: dropout is the iden...
   7   exp 16                                                    computed when it was built, for node 4
   8   add 2x16                                           20 ns  4                   10.0          -                 -
   9   softmax 2x16                                        30.0  5                   30.0          -                 -
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

TEST(ProfileReport, TableSaysWhatThreadsDidAndWhatWasLeftOut) {
  const Built built;
  ProfileReport report = report_of(built);
  report.kernels[0].load_threads = 2;
  report.kernels[0].threads_us = 6;
  report.kernels[0].utilisation = 0.875;
  report.kernels[0].inside_notes = {"30 of 100 rounds left out: something else held the kernel up"};
  std::ostringstream out;
  write_table(out, report, {.all = true});
  EXPECT_THAT(out.str(),
              HasSubstr("       (30 of 100 rounds left out: something else held the kernel up)\n"
                        "       (alone on 2 threads, caches warm, 6.00 us, which are busy 87.5 % of it)\n"));
}

TEST(ProfileReport, EveryOperatorIsInTheJsonWithTheNodesThatComputeIt) {
  const Built built;
  const auto json = to_json(report_of(built));
  ASSERT_EQ(json["operators"].size(), 7u);
  std::vector<std::string> ops;
  for (const auto& row : json["operators"]) {
    ops.push_back(row["op"].get<std::string>());
    const bool somewhere = !row["nodes"].empty() || !row["folded_into"].empty() || !row["retired"].is_null();
    EXPECT_TRUE(somewhere) << row;
    EXPECT_GT(row["line"].get<int>(), 2) << row;
    EXPECT_GT(row["column"].get<int>(), 0) << row;
  }
  EXPECT_THAT(ops,
              ElementsAre("nn.dense", "nn.bias_add", "nn.relu", "nn.dropout", "exp", "add", "nn.softmax"));
  EXPECT_EQ(json["operators"][3]["retired"]["pass"], "SimplifyInference");
  EXPECT_FALSE(json["operators"][4]["folded_into"].empty());
  EXPECT_DOUBLE_EQ(json["end_to_end_us"]["median"].get<double>(), 41);
  EXPECT_DOUBLE_EQ(json["end_to_end_us"]["min"].get<double>(), 40);
  EXPECT_DOUBLE_EQ(json["sum_us"].get<double>(), 40);
  EXPECT_DOUBLE_EQ(json["residual_us"].get<double>(), 1);
  EXPECT_DOUBLE_EQ(json["overhead"].get<double>(), 41.5 / 41);
  ASSERT_EQ(json["kernels"].size(), 2u);
  const auto& kernel = json["kernels"][0];
  EXPECT_EQ(kernel["samples"].size(), 3u);
  EXPECT_DOUBLE_EQ(kernel["share"].get<double>(), 0.25);
  EXPECT_FALSE(kernel["trusted"].get<bool>());
  EXPECT_GT(kernel["flops"].get<double>(), 2 * 2 * 16 * 32);
  EXPECT_EQ(kernel["inside"][0]["id"], 0);
  EXPECT_DOUBLE_EQ(kernel["inside"][0]["us"].get<double>(), 8);
  EXPECT_TRUE(kernel["inside"][3]["id"].is_null());
  EXPECT_EQ(kernel["inside"][3]["label"], "load, store, loop");
  EXPECT_DOUBLE_EQ(json["operators"][0]["inside_us"].get<double>(), 8);
}

TEST(ProfileReport, ReadsWhatItWrote) {
  const Built built;
  ProfileReport report = report_of(built);
  report.operators[1].unfused_us = 2.5;
  report.operators[1].not_fused = "its users meet in no common operator";
  report.unfused = {{"fused_exp", {4}, {}, 3, 16, 128}};
  report.unfused_us = 55;
  report.device.emplace().name = "a machine";
  report.device->peaks = DevicePeaks{.gflops = 100, .gbytes_per_s = 20, .cache_gbytes_per_s = 60};
  report.notes = {"the clock stepped"};
  report.kernels[0].load_threads = 2;
  report.kernels[0].threads_us = 6;
  report.kernels[0].utilisation = 0.875;
  report.kernels[0].loads = {{"dense", {0}, 10.5}};
  report.kernels[0].inside_notes = {"30 of 100 rounds left out: something else held the kernel up"};
  report.kernels[0].inside[0].method = InsideMethod::kSampling;
  const std::string json = to_json(report).dump();
  EXPECT_EQ(read_report(json, "p.json").kernels[0].loads[0].busy_us, 10.5);
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
  const ProfileReport report =
      make_report(built.build, built.executor->plan(), made_up(built.executor->plan()), {});
  std::ostringstream out;
  write_table(out, report, {.all = true});
  EXPECT_THAT(out.str(), HasSubstr("nn.bias_add line 4"));
  EXPECT_TRUE(to_json(report)["operators"][0]["inside_us"].is_null());
}

}  // namespace
}  // namespace baton
