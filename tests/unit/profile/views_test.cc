// Views of a report: by module, by source, by operator. Their parts add up.
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "baton/profile/views/module_tree.h"
#include "baton/profile/views/source_times.h"
#include "baton/profile/views/time_shares.h"
#include "baton/profile/write/report_json.h"
#include "baton/profile/write/table.h"
#include "baton/support/base/files.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

#include "profile/made_up.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// The report of made_up.h in modules: conv and bias in stem/conv, relu in stem, softmax in head, what
/// follows in head/last; the change of layout is for conv.
ProfileReport in_modules() {
  ProfileReport report = test::made_up();
  const char* const modules[] = {"stem/conv", "stem/conv", "stem",      "stem",
                                 "",          "head",      "head/last", "head/last"};
  for (size_t i = 0; i < report.operators.size(); ++i) report.operators[i].module = modules[i];
  return report;
}

const ModuleRow& at(const std::vector<ModuleRow>& tree, const std::string& path) {
  const auto row = std::ranges::find(tree, path, &ModuleRow::path);
  if (row == tree.end()) throw Error("no module " + path);
  return *row;
}

void expect_sums(const ProfileReport& report) {
  const std::vector<ModuleRow> tree = module_tree(report);
  double sum = 0;
  for (const KernelRow& kernel : report.kernels) sum += kernel.median_us;
  EXPECT_NEAR(tree[0].us, sum, 1e-9 * sum);
  for (const ModuleRow& row : tree) {
    double parts = row.own_us + row.rest_us + row.added_us;
    for (const size_t child : row.children) parts += tree[child].us;
    EXPECT_NEAR(row.us, parts, 1e-9 * sum) << row.path;
  }
  const SourceTimes lines = source_times(report);
  double by_line = lines.rest_us + lines.unplaced_us;
  for (const SourceRow& row : lines.rows) by_line += row.us;
  EXPECT_NEAR(by_line, sum, 1e-9 * sum);
}

TEST(ModuleTree, PartsAddUpToTheirParentAndTheKernels) {
  expect_sums(in_modules());
  expect_sums(test::made_up());
  ProfileReport odd = in_modules();
  odd.kernels[0].made_for.clear();  // nobody's
  odd.kernels[1].inside.clear();
  expect_sums(odd);
}

TEST(ModuleTree, ASharedKernelIsSplitAsItsInsideIs) {
  const std::vector<ModuleRow> tree = module_tree(in_modules());
  // The stages of the first kernel, 10 us, sum up to 110 %: 0.8, 0.05 and 0.25 of that.
  EXPECT_NEAR(at(tree, "stem/conv").own_us, 10 * 0.85 / 1.1, 1e-9);
  EXPECT_NEAR(at(tree, "stem").rest_us, 10 * 0.25 / 1.1, 1e-9)
      << "load, store and loop are of what holds them all";
  EXPECT_NEAR(at(tree, "stem/conv").added_us, 2, 1e-9) << "the change of layout goes to its cause";
  EXPECT_NEAR(at(tree, "stem").us, 12, 1e-9);
  EXPECT_NEAR(at(tree, "head/last").us, 4, 1e-9);
  EXPECT_TRUE(at(tree, "head/last").estimated && at(tree, "head").estimated && tree[0].estimated);
  EXPECT_FALSE(at(tree, "stem").estimated);
  EXPECT_EQ(tree[0].operator_count, 8u);
  EXPECT_THAT(tree[0].operators, ElementsAre(4)) << "the operator without a module";
}

TEST(ModuleTree, TwoModulesThatShareAKernel) {
  ProfileReport report = in_modules();
  report.operators[7].module = "tail";
  const std::vector<ModuleRow> tree = module_tree(report);
  EXPECT_NEAR(at(tree, "head/last").us, 2, 1e-9) << "not split: in equal portions";
  EXPECT_NEAR(at(tree, "tail").us, 2, 1e-9);
  expect_sums(report);
}

TEST(ModuleTree, CausesShareWhatWasMadeForThem) {
  ProfileReport report = in_modules();
  report.kernels[0].made_for = {0, 5};
  const std::vector<ModuleRow> tree = module_tree(report);
  EXPECT_NEAR(at(tree, "stem/conv").added_us, 1, 1e-9);
  EXPECT_NEAR(at(tree, "head").added_us, 1, 1e-9);
}

TEST(ModuleTree, LayersOfTheSameStructureAreAlike) {
  ProfileReport report = test::made_up();
  const char* const modules[] = {"block0/a", "block0/b", "block1/a", "block1/b",
                                 "block2/a", "other",    "other",    "q"};
  const char* const ops[] = {"exp", "tanh", "exp", "tanh", "exp", "exp", "tanh", "exp"};
  for (size_t i = 0; i < report.operators.size(); ++i) {
    report.operators[i].module = modules[i];
    report.operators[i].op = ops[i];
  }
  const std::vector<ModuleRow> tree = module_tree(report);
  EXPECT_EQ(at(tree, "block0").alike, 2u);
  EXPECT_EQ(tree[at(tree, "block1").first_alike].path, "block0");
  EXPECT_EQ(at(tree, "block2").alike, 1u) << "it lacks b";
  EXPECT_EQ(at(tree, "other").alike, 1u) << "another name";
  EXPECT_EQ(at(tree, "block0/a").alike, 1u) << "one operator is no layer";
  report.operators[2].type = "Tensor[(2, 8), float32]";
  EXPECT_EQ(at(module_tree(report), "block0").alike, 1u) << "other sizes";
}

TEST(ModuleTree, PairsHoldTheModulesOfBothBelowWhatHoldsThem) {
  ProfileReport other = in_modules();
  other.operators[2].module = "stem/pool";
  other.operators[3].module = "tail";
  const std::vector<ModulePair> pairs = module_pairs(in_modules(), other);
  std::vector<std::string> paths;
  for (const ModulePair& each : pairs) paths.push_back(each.path);
  const auto place = [&](const std::string& path) { return std::ranges::find(paths, path) - paths.begin(); };
  EXPECT_EQ(place(""), 0);
  EXPECT_EQ(place("tail"), std::ssize(paths) - 1) << "only in the second";
  EXPECT_LT(place("stem"), place("stem/pool"));
  EXPECT_LT(place("stem/conv"), place("stem/pool"));
  EXPECT_EQ(std::abs(place("stem/pool") - place("stem/conv")), 1) << "before what stem does not hold";
  EXPECT_EQ(pairs[place("stem/pool")].a_us, 0);
  EXPECT_DOUBLE_EQ(pairs[place("stem")].a_us, at(module_tree(in_modules()), "stem").us);
  EXPECT_DOUBLE_EQ(pairs[place("stem")].b_us, at(module_tree(other), "stem").us);
}

TEST(ModuleTree, OddPathsDoNoHarm) {
  ProfileReport report = in_modules();
  report.operators[0].module = "a//b/";
  for (int i = 0; i < 100000; ++i) report.operators[1].module += "/x";
  report.operators[2].module = "stems";  // no part of stem
  EXPECT_LT(module_tree(report).size(), 100u);
  expect_sums(report);
  EXPECT_EQ(common_module(report, {2, 3}), "");
  EXPECT_EQ(common_module(report, {6, 7}), "head/last");
  EXPECT_EQ(common_module(report, {5, 7}), "head");
  EXPECT_EQ(common_module(report, {}), "");
}

TEST(SourceTimes, LinesOfPythonAndOfRelay) {
  ProfileReport report = in_modules();
  report.operators[0].source_line =
      report.operators[1].source_line = {"net.py", 12, "forward", "x = conv(x)"};
  report.operators[2].source_line = {"net.py", 9, "act", ""};
  report.operators[5].line = 0;
  const SourceTimes times = source_times(report);
  std::vector<std::string> lines;
  for (const SourceRow& row : times.rows)
    lines.push_back(row.where.file + ":" + std::to_string(row.where.line));
  EXPECT_THAT(lines, ElementsAre("net.py:9", "net.py:12", ":6", ":7", ":9", ":10"));
  EXPECT_NEAR(times.rows[1].us, 2 + 10 * 0.85 / 1.1, 1e-9)
      << "two operators, and the change of layout for one";
  EXPECT_NEAR(times.rest_us, 10 * 0.25 / 1.1, 1e-9) << "of lines 9 and 12";
  EXPECT_NEAR(times.unplaced_us, 30, 1e-9) << "softmax has no line";
  expect_sums(report);
}

TEST(SourceTimes, OnlyFilesThatSayWhatTheModelKnowsAreRead) {
  TemporaryFolder folder;
  ASSERT_TRUE(folder.create("views").ok());
  const std::string path = folder.path("net.py"), other = folder.path("secret.txt");
  std::ofstream(path) << "def forward(x):\n    return relu(x)\n";
  std::ofstream(other) << "def forward(x):\n    return relu(x)\n";
  const auto sources_of = [&](const SourceLine& line) {
    ProfileReport report = in_modules();
    report.operators[0].source_line = line;
    add_source_files(report);
    return report.sources.size();
  };
  EXPECT_EQ(sources_of({path, 2, "forward", "return relu(x)"}), 1u);
  EXPECT_EQ(sources_of({path, 1, "forward", "return relu(x)"}), 0u) << "the file was changed";
  EXPECT_EQ(sources_of({path, 2, "forward", ""}), 0u) << "nothing says that it is this file";
  EXPECT_EQ(sources_of({other, 2, "forward", "return relu(x)"}), 0u) << "no Python";
  EXPECT_EQ(sources_of({path + ".gone.py", 2, "forward", "return relu(x)"}), 0u);
}

std::string table_by_name(const ProfileReport& report, const std::string& by, bool all = false) {
  TableOptions options;
  options.by = table_by(by);
  options.all = all;
  options.heading = false;
  std::ostringstream out;
  write_table(out, report, options);
  const std::string text = out.str();
  return text.substr(0, text.find("       sum of kernels"));
}

TEST(Views, TableByModule) {
  EXPECT_EQ(table_by_name(in_modules(), "module"), R"(
module                                                  operators          us    share
net                                                             8       ~46.0   92.0 %  #############################
  stem                                                          4        12.0   24.0 %  ########
    conv                                                        2        9.73   19.5 %  ######
    its own operators                                           2     < noise    0.0 %
    load, store, loop                                                    2.27    4.5 %  #
  head                                                          3       ~34.0   68.0 %  ######################
    last                                                        2       ~4.00    8.0 %  ###
    its own operators                                           1        30.0   60.0 %  ###################
  in no module                                                  1                0.0 %
outside kernels                                                          4.00    8.0 %  ###
end to end                                                               50.0  100.0 %  ################################
       ~ with kernels whose inside was not measured: their operators count alike

)");
  const std::string all = table_by_name(in_modules(), "module", true);
  EXPECT_THAT(all, HasSubstr("      conv2d, line 3"));
  EXPECT_THAT(all, HasSubstr("added by the compiler"));
  EXPECT_THAT(table_by_name(test::made_up(), "module"), HasSubstr("no operator has a module"));
}

TEST(Views, LayersThatAreAlikeAreOneRow) {
  ProfileReport report = test::made_up();
  const char* const modules[] = {"l0/a", "l0/b", "l1/a", "l1/b", "l2/a", "l2/b", "end", "end"};
  for (size_t i = 0; i < report.operators.size(); ++i) {
    OperatorRow& row = report.operators[i];
    row.module = modules[i];
    row.op = i % 2 ? "tanh" : "exp";
  }
  const std::string text = table_by_name(report, "module");
  EXPECT_THAT(text, HasSubstr("  l0 .. l2  x3 alike"));
  EXPECT_THAT(text, Not(HasSubstr("  l1")));
  const std::string all = table_by_name(report, "module", true);
  EXPECT_THAT(all, HasSubstr("  l1  x3 alike"));
}

TEST(Views, TableBySource) {
  ProfileReport report = in_modules();
  report.operators[5].source_line = {"/home/me/net.py", 2, "forward", "return softmax(x)"};
  const std::string rows = table_by_name(report, "source");
  EXPECT_THAT(rows, HasSubstr("/home/me/net.py"));
  EXPECT_THAT(rows, HasSubstr("     2        30.0   60.0 %  ##########  return softmax(x)  (in forward)"));
  report.sources = {{"/home/me/net.py", "# 1\nreturn softmax(x)\n# 3\n# 4\n# 5\n"}};
  const std::string listing = table_by_name(report, "source");
  EXPECT_THAT(listing, HasSubstr("     3                                   # 3\n"));
  EXPECT_THAT(listing, Not(HasSubstr("# 4")));
  EXPECT_THAT(table_by_name(report, "source", true), HasSubstr("# 5"));
}

TEST(Views, TableByOperatorAndKernel) {
  const std::string operators = table_by_name(in_modules(), "operator");
  EXPECT_LT(operators.find("softmax, line 8"), operators.find("conv2d, line 3"));
  EXPECT_THAT(operators, HasSubstr("added by the compiler"));
  EXPECT_THAT(operators, HasSubstr("~2.00"));
  EXPECT_THAT(table_by_name(in_modules(), "kernel"), HasSubstr("softmax, line 8"));
  EXPECT_THROW(table_by("modul"), UsageError);
}

TEST(Views, JsonHasThemAndReadsPlaces) {
  ProfileReport report = in_modules();
  report.operators[0].source_line = {"net.py", 12, "forward", "x = conv(x)"};
  const Json json = to_json(report);
  EXPECT_EQ(json["operators"][0]["module"], "stem/conv");
  EXPECT_EQ(json["operators"][4]["module"], nullptr);
  EXPECT_EQ(json["operators"][0]["source_line"]["line"], 12);
  EXPECT_EQ(json["operators"][1]["source_line"], nullptr);
  double roots = 0, lines = 0;
  for (const Json& row : json["modules"])
    if (row["parent"].is_null()) roots += row["us"].get<double>();
  for (const Json& row : json["lines"]) lines += row["us"].get<double>();
  EXPECT_NEAR(roots, 46, 1e-9);
  EXPECT_NEAR(lines, 46 - 10 * 0.25 / 1.1, 1e-9);
  const ProfileReport again = read_report(json.dump(), "again");
  for (size_t i = 0; i < report.operators.size(); ++i) {
    EXPECT_EQ(again.operators[i].module, report.operators[i].module);
    EXPECT_EQ(again.operators[i].source_line, report.operators[i].source_line);
  }
  EXPECT_EQ(to_json(again).dump(), json.dump());
  EXPECT_THAT(to_json(test::made_up())["modules"], IsEmpty());
}

}  // namespace
}  // namespace baton
