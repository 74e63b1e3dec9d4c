// Profiles of programs of the virtual machine: every part of a run, loops, branches, curves over extents.
#include <map>

#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/driver/plan/graph_json.h"
#include "baton/driver/shape_points.h"
#include "baton/driver/vm/build_program.h"
#include "baton/driver/vm/runnable_program.h"
#include "baton/profile/report/curve.h"
#include "baton/profile/report/profile.h"
#include "baton/profile/report/report_text.h"
#include "baton/profile/write/curve.h"
#include "baton/profile/write/report_json.h"
#include "baton/runtime/vm/listing.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"
#include "driver/program_values.h"

namespace baton {
namespace {

using program::Value;
using test::floats;
using test::number;
using testing::HasSubstr;

constexpr const char* kLoop = R"(#[version = "0.0.5"]
def @loop(%i: int32, %x: Tensor[(?, 16), float32], %w: Tensor[(16, 16), float32]) -> Tensor[(?, 16), float32] {
  if (equal(%i, 0)) { %x } else { @loop(subtract(%i, 1), tanh(nn.dense(%x, %w, units=16)), %w) }
}
def @main(%n: int32, %x: Tensor[(?, 16), float32], %w: Tensor[(16, 16), float32]) {
  let %y = @loop(%n, %x, %w);
  if (less(sum(%y), 1e9f)) { nn.relu(%y) } else { multiply(%y, 2f) }
}
)";

BuildResult built(const std::string& text) {
  initialize();
  return build_program(infer_types(parse_module(text)), {.context = host_context()});
}

ProfileReport profiled(const BuildResult& build, std::vector<Value> args) {
  ProfileOptions options;
  options.context = host_context();
  options.peaks = false;
  options.measure.min_runs = 4;
  options.measure.min_seconds = 0.02;
  options.measure.rounds = 2;
  options.max_seconds = 2;
  return profile(program_source(build), {"main", std::move(args), 1}, options);
}

const KernelRow* row_of(const ProfileReport& report, const std::string& title) {
  for (const KernelRow& row : report.kernels)
    if (row.title.find(title) != std::string::npos) return &row;
  return nullptr;
}

TEST(ProgramProfile, EveryPartOfARunHasARow) {
  const BuildResult build = built(kLoop);
  const ProfileReport report = profiled(build, {number(7), floats("x", {3, 16}), floats("w", {16, 16})});
  ASSERT_TRUE(report.program);
  std::vector<std::string> parts;
  for (const ProgramTimes::Part& part : report.program->parts) parts.push_back(part.name);
  EXPECT_THAT(parts, testing::ElementsAre("shape code", "allocation", "arguments and results", "control"));
  EXPECT_GT(report.program->instructions, 7 * 5);
  EXPECT_EQ(report.program->pieces, 7 + 2);
  const KernelRow* dense = row_of(report, "dense");
  ASSERT_TRUE(dense);
  EXPECT_EQ(dense->calls, 7);
  EXPECT_EQ(dense->flops, 7 * (2 * 3 * 16 * 16 + 3 * 16));
  ASSERT_EQ(dense->shapes.size(), 1);
  EXPECT_EQ(dense->shapes[0].shapes, "float32[3, 16], float32[16, 16], float32[3, 16]");
  // Operators on integers are instructions, and have rows too.
  const KernelRow* equal = row_of(report, "equal");
  ASSERT_TRUE(equal);
  EXPECT_EQ(equal->calls, 8);
  EXPECT_GT(equal->median_us, 0);
  EXPECT_FALSE(row_of(report, "multiply")) << "was not called";
  // What is measured adds up to the measured runs.
  EXPECT_NEAR(report.sum_us + report.program->parts_us(), median(report.profiled_us),
              0.3 * median(report.profiled_us));
  for (const OperatorRow& row : report.operators) EXPECT_FALSE(row.nodes.empty()) << row.op;
  ASSERT_EQ(report.inputs.size(), 3);
  EXPECT_EQ(report.inputs[1].name + " " + report.inputs[1].type, "x float32[3, 16]");
  EXPECT_GT(report.memory->inputs_bytes, 0);
}

TEST(ProgramProfile, LoopsAndBranchesAreCounted) {
  const BuildResult build = built(kLoop);
  const ProfileReport report = profiled(build, {number(7), floats("x", {3, 16}), floats("w", {16, 16})});
  ASSERT_EQ(report.program->loops.size(), 1);
  const ProgramTimes::Loop& loop = report.program->loops[0];
  EXPECT_EQ(loop.function, "loop");
  EXPECT_EQ(loop.line, 2);
  EXPECT_EQ(loop.entries, 1);
  EXPECT_EQ(loop.iterations, 7);
  EXPECT_GE(loop.us, row_of(report, "dense")->median_us * 0.5);
  std::map<uint32_t, const ProgramTimes::Branch*> branches;
  for (const ProgramTimes::Branch& each : report.program->branches) branches[each.line] = &each;
  ASSERT_EQ(branches.size(), 2);
  ASSERT_TRUE(branches.contains(3) && branches.contains(7));
  EXPECT_EQ(branches[3]->what, "if");
  EXPECT_EQ(branches[3]->taken, 1);
  EXPECT_EQ(branches[3]->not_taken, 7);
  EXPECT_GT(branches[3]->not_taken_us, branches[3]->taken_us) << "the body of the loop";
  EXPECT_EQ(branches[7]->taken, 1);
  EXPECT_EQ(branches[7]->not_taken, 0);
  EXPECT_GT(branches[7]->taken_us, 0);
  EXPECT_EQ(branches[7]->not_taken_us, 0);
}

TEST(ProgramProfile, RecursionThatIsNoTailCallAndMatches) {
  const BuildResult build = built(R"(#[version = "0.0.5"]
type Chain { Link(int32, Chain), End, }
def @make(%n: int32) -> Chain { if (equal(%n, 0)) { End } else { Link(%n, @make(subtract(%n, 1))) } }
def @sum(%c: Chain) -> int32 { match (%c) { Link(%v, %r) => add(%v, @sum(%r)), End => 0, } }
def @main(%n: int32) -> int32 { @sum(@make(%n)) })");
  const ProfileReport report = profiled(build, {number(5)});
  std::map<std::string, ProgramTimes::Loop> loops;
  for (const ProgramTimes::Loop& loop : report.program->loops) loops[loop.function] = loop;
  ASSERT_EQ(loops.size(), 2);
  EXPECT_EQ(loops["sum"].iterations, 5);
  EXPECT_EQ(loops["make"].iterations, 5);
  bool found = false;
  for (const ProgramTimes::Branch& each : report.program->branches) {
    if (each.what != "match Link") continue;
    found = true;
    EXPECT_EQ(each.taken, 5);
    EXPECT_EQ(each.not_taken, 1);
  }
  EXPECT_TRUE(found);
}

TEST(ProgramProfile, ShapesThatDifferBetweenCalls) {
  const BuildResult build = built(R"(#[version = "0.0.5"]
def @grow(%i: int32, %x: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] {
  if (equal(%i, 0)) { %x } else { @grow(subtract(%i, 1), concatenate((%x, %x), axis=0)) }
}
def @main(%n: int32, %x: Tensor[(?, 2), float32]) { @grow(%n, %x) })");
  const ProfileReport report = profiled(build, {number(3), floats("x", {1, 2})});
  const KernelRow* concatenate = row_of(report, "concatenate");
  ASSERT_TRUE(concatenate);
  EXPECT_EQ(concatenate->calls, 3);
  ASSERT_EQ(concatenate->shapes.size(), 3);
  EXPECT_THAT(concatenate->shapes[2].shapes, HasSubstr("float32[8, 2]"));
  EXPECT_EQ(concatenate->bytes, 4 * 2 * (1 + 2 + 4) * (1 + 2))
      << "each input read once, each result written once";
}

TEST(ProgramProfile, IsReadAgain) {
  const BuildResult build = built(kLoop);
  ProfileReport report = profiled(build, {number(2), floats("x", {3, 16}), floats("w", {16, 16})});
  report.point = {"n=3", 3};
  const std::string text = to_json(report).dump();
  const ProfileReport again = read_report(text, "the text");
  EXPECT_EQ(to_json(again).dump(), text);
  EXPECT_EQ(again.program->loops[0].iterations, 2);
  EXPECT_EQ(again.point->name, "n=3");
}

TEST(ProgramProfile, CurvesHaveEveryOperatorAtEveryPoint) {
  const BuildResult build = built(kLoop);
  std::vector<ProfileReport> points;
  for (const int64_t n : {1, 40}) {
    points.push_back(profiled(build, {number(3), floats("x", {n, 16}), floats("w", {16, 16})}));
    points.back().model = "loop";
    points.back().point = {"n=" + std::to_string(n), static_cast<double>(n)};
  }
  ASSERT_TRUE(is_curve(points));
  const std::vector<CurveRow> rows = curve_rows(points);
  EXPECT_EQ(rows.back().kind, CurveRow::Kind::kWhole);
  for (size_t i = 0; i < points.size(); ++i) {
    double sum = 0;
    for (const CurveRow& row : rows)
      if (row.kind != CurveRow::Kind::kWhole) sum += row.us.at(i);
    EXPECT_NEAR(sum, points[i].sum_us + points[i].program->parts_us(), 1e-3 + 2e-3 * sum);
  }
  const std::string csv = curve_bytes(points, {"c.csv", ".csv", ""});
  EXPECT_THAT(csv, HasSubstr("loop,n=40,40,operator,"));
  EXPECT_THAT(csv, HasSubstr(",part,,control,,"));
  EXPECT_THAT(curve_bytes(points, {"c.txt", ".txt", ""}), HasSubstr("n=40"));
  EXPECT_THAT(curve_bytes(points, {"c.html", ".html", ""}), HasSubstr("\"n=40\""));
  points[1].point.reset();
  EXPECT_FALSE(is_curve(points));
}

TEST(ProgramProfile, ListingsTellOperatorsAndCounts) {
  const BuildResult build = built(kLoop);
  vm::ListingComments comments;
  comments.node = [](uint32_t node) { return "node " + std::to_string(node); };
  comments.made_for = [](uint32_t node) { return "for node " + std::to_string(node); };
  comments.count = [](size_t, uint32_t) { return "x5"; };
  const std::string text = vm::listing(*build.program, comments);
  EXPECT_THAT(text, HasSubstr("x5, if, line 3"));
  EXPECT_THAT(text, HasSubstr("for node "));
  EXPECT_THAT(text, testing::ContainsRegex("equal.bool .*; x5, node [0-9]+"));
  EXPECT_THAT(vm::listing(*build.program), testing::Not(HasSubstr("line 3"))) << "TVM's form";
}

TEST(ShapePoints, Ranges) {
  const auto names = [](std::vector<std::string> shapes) {
    std::vector<std::string> found;
    for (const ShapePoint& each : shape_points(shapes)) found.push_back(each.name);
    return found;
  };
  EXPECT_THAT(names({"n=1:512:x8"}), testing::ElementsAre("n=1", "n=8", "n=64", "n=512"));
  EXPECT_THAT(names({"n=5:9:2"}), testing::ElementsAre("n=5", "n=7", "n=9"));
  EXPECT_THAT(names({"x=2:4,80"}), testing::ElementsAre("x=2,80", "x=3,80", "x=4,80"));
  EXPECT_THAT(names({"x=1:4:x2x80"}), testing::ElementsAre("x=1,80", "x=2,80", "x=4,80"));
  EXPECT_THAT(names({"a=b=3:3"}), testing::ElementsAre("a=b=3"));
  EXPECT_THAT(names({"n=0:2", "m=4:6", "k=9"}), testing::ElementsAre("n=0 m=4", "n=1 m=5", "n=2 m=6"));
  const std::vector<ShapePoint> points = shape_points({"n=0:2", "k=9"});
  EXPECT_EQ(points[2].value, 2);
  EXPECT_THAT(points[2].shapes, testing::ElementsAre("n=2", "k=9"));
  EXPECT_FALSE(has_ranges({"n=4", "x=1,3"}));
  for (const char* bad : {"n=9:3", "n=0:8:x2", "n=1:8:x1", "n=1:8:0", "n=1:b", "n=:4", "n=1:4:", "n=-1:4",
                          "n=1:1000000", "n=1:99999999999999999999"})
    EXPECT_THROW(shape_points({bad}), UsageError) << bad;
  EXPECT_THROW(shape_points({"n=1:4", "m=1:3"}), UsageError);
  EXPECT_EQ(shape_points({"n=1:9223372036854775807:x9223372036854775807"}).size(), 2);
}

/// A built file of the program with one section replaced; an empty one is left out.
std::shared_ptr<const Artifact> file_of(const BuildResult& build, const std::string& path,
                                        const std::string& changed, const std::string& text) {
  write_artifact(build, path);
  const std::shared_ptr<const Artifact> whole = *Artifact::open(path);
  ArtifactWriter writer;
  for (const std::string& name : whole->names()) {
    if (name == section::kParams || name == section::kParamsIndex) continue;
    const std::string content = name == changed ? text : std::string(whole->text(name));
    if (!content.empty()) writer.add(name, content);
  }
  writer.set_params(whole->params());
  EXPECT_TRUE(writer.write(path + "2").ok());
  return *Artifact::open(path + "2");
}

TEST(ProgramProfile, AFileIsReadLikeItsBuildAndNotBelieved) {
  const test::Folder folder;
  const std::string path = folder.path() + "/loop.baton";
  const BuildResult build = built(kLoop);
  const ProgramSource of_build = program_source(build);
  const ProgramSource of_file = program_source(file_of(build, path, "", ""), "loop.baton");
  EXPECT_EQ(titles_of(of_file), titles_of(of_build));
  EXPECT_EQ(of_file.is_kernel, of_build.is_kernel);
  for (size_t node = 0; node < of_build.functions.size(); ++node)
    if (of_build.is_kernel[node]) {
      ASSERT_TRUE(of_file.functions[node]);
      EXPECT_EQ(function_text(of_file.functions[node]), function_text(of_build.functions[node]));
    }
  const auto refusal = [&](const std::string& changed, const std::string& text) -> std::string {
    try {
      program_source(file_of(build, path, changed, text), "loop.baton");
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  const std::string small = graph_json(
      *built("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(?), float32]) { nn.relu(%x) }").plan.graph);
  EXPECT_THAT(refusal(section::kPlan, small), HasSubstr("does not belong to its graph.json"));
  EXPECT_THAT(refusal(section::kPlan, "{}"), HasSubstr("the plan (graph.json) is damaged"));
  EXPECT_THAT(refusal(section::kFunctions, "{"), HasSubstr("functions.json is damaged"));
  EXPECT_THAT(refusal(section::kProgram, "abc"), HasSubstr("version"));
  EXPECT_THAT(refusal(section::kOrigins, ""), HasSubstr("stripped of its origins"));
  EXPECT_NE(refusal(section::kFunctions, R"({"format": "x"})"), "none");
  EXPECT_NE(refusal(section::kFunctions, ""), "none");
}

}  // namespace
}  // namespace baton
