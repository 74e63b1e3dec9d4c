// Names of kernels, sizes from types, sums by kind, memory.
#include "baton/profile/report/titles.h"

#include <limits>
#include <sstream>

#include <gmock/gmock.h>

#include "baton/profile/report/memory.h"
#include "baton/profile/report/source_lines.h"
#include "baton/profile/write/summary_table.h"
#include "baton/profile/write/table.h"
#include "baton/profile/write/tables.h"
#include "baton/support/error.h"

#include "profile/made_up.h"
#include "profile/small_net.h"

namespace baton {
namespace {

using test::Built;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ProfileReport named() {
  ProfileReport report = test::untitled();
  report.operators[0].brief = "conv2d 3x3 8->8 @4";
  report.operators[0].flops = 1000;
  report.operators[1].flops = report.operators[2].flops = 8;
  add_titles(report);
  return report;
}

TEST(KernelTitles, SayWhatTellsKernelsApart) {
  const ProfileReport report = named();
  EXPECT_EQ(report.kernels[0].title, "layout_transform, for line 3");
  EXPECT_EQ(report.kernels[1].title, "conv2d 3x3 8->8 @4 + bias_add + relu, line 3");
  EXPECT_EQ(report.kernels[2].title, "softmax, line 8");
  EXPECT_EQ(report.kernels[3].title, "add + tanh, line 9");
}

TEST(KernelTitles, NameThePythonLineAndCountWhatIsTooMuch) {
  ProfileReport report = test::untitled();
  report.operators[5].file = "/home/me/net.py";
  EXPECT_EQ(kernel_title(report, report.kernels[2]), "softmax, net.py:8");
  KernelRow many = report.kernels[1];
  many.origins = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(kernel_title(report, many), "conv2d + bias_add + relu + dropout + exp + 3 more, line 3");
}

TEST(KernelTitles, AreDistinct) {
  ProfileReport report = test::untitled();
  report.kernels[3].origins = report.kernels[2].origins;
  add_titles(report);
  EXPECT_EQ(report.kernels[2].title, "softmax, line 8, node 7");
  EXPECT_EQ(report.kernels[3].title, "softmax, line 8, node 8");
}

TEST(KernelTitles, ShapesFromTypes) {
  EXPECT_EQ(shape_in("Tensor[(1, 64, 56, 56), float32]"), "1x64x56x56");
  EXPECT_EQ(shape_in("Tensor[(?, 3), int8]"), "?x3");
  EXPECT_EQ(shape_in("Tensor[(7), float32]"), "7");
  EXPECT_EQ(shape_in("float32"), "scalar");
  EXPECT_EQ(shape_in("(Tensor[(1, 2), float32], Tensor[(3), float32])"), "1x2; 3");
  EXPECT_EQ(shape_in("fn (float32) -> float32"), "");
  EXPECT_EQ(shape_in(""), "");
}

TEST(SummaryTable, AddsUpToTheSumOfTheKernels) {
  const ProfileReport report = named();
  double sum = 0;
  std::vector<std::string> names;
  for (const KindTime& kind : times_by_kind(report)) {
    sum += kind.us;
    names.push_back(kind.name);
  }
  EXPECT_DOUBLE_EQ(sum, report.sum_us);
  EXPECT_EQ(names.front(), "softmax");
  EXPECT_THAT(names, testing::Contains("added by the compiler"));
  EXPECT_THAT(names, testing::Contains("load, store, loop"));
  EXPECT_TRUE(times_by_kind(ProfileReport()).empty());
}

std::string table_of(const ProfileReport& report, const TableOptions& options) {
  std::ostringstream out;
  write_table(out, report, options);
  return out.str();
}

size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  size_t most = 0;
  for (std::string line; std::getline(lines, line);) most = std::max(most, line.size());
  return most;
}

TEST(SummaryTable, FitsTheWidth) {
  ProfileReport report = named();
  report.notes = {std::string(40, 'a') + " " + std::string(90, 'b') + " c"};
  for (int width : {75, 80, 99, 100, 120, 200})
    EXPECT_LE(longest_line(table_of(report, {.width = width})), static_cast<size_t>(width)) << width;
  EXPECT_LE(longest_line(table_of(report, {.width = 1})), 100u) << "as narrow as it gets";
}

// Notes beside the end-to-end time were longer than the room for them.
TEST(SummaryTable, LongNotesOfTotalsFitTheWidth) {
  ProfileReport loaded = named(), predicted = named(), program = named();
  loaded.under_load = "1.2 of 2 processors busy elsewhere";
  loaded.end_to_end_plus_minus_us = 1.5 * loaded.end_to_end_us;
  predicted.predicted = "a file";
  predicted.level = 0.9;
  predicted.end_to_end_low_us = 123456.7;
  predicted.end_to_end_high_us = 234567.8;
  program.program.emplace();
  program.program->parts = {{.name = "control", .us = 100, .plus_minus_us = 150}};
  program.program->instructions = 1e9;
  for (const ProfileReport* report : {&loaded, &predicted, &program})
    for (int width : {75, 80, 100, 140})
      EXPECT_LE(longest_line(table_of(*report, {.width = width})), static_cast<size_t>(width)) << width;
  EXPECT_THAT(table_of(loaded, {.width = 80}), HasSubstr("least disturbed, +- 150.0%"));
  EXPECT_THAT(table_of(predicted, {.width = 80}),
              HasSubstr("in 90 of 100 cases between 123456.7 us and 234567.8 us"));
  EXPECT_THAT(table_of(program, {.width = 80}), HasSubstr("+- 150.0%, 1000000000 instructions"));
}

// Beside other programs there was no number, no share and no sum.
TEST(SummaryTable, TimesFromBesideOtherProgramsAreNumbers) {
  ProfileReport report = named();
  for (KernelRow& kernel : report.kernels) kernel.under_load = "1.2 of 2 processors busy elsewhere";
  report.under_load = "1.2 of 2 processors busy elsewhere";
  EXPECT_EQ(times_by_kind(report), times_by_kind(named()));
  const std::string table = table_of(report, {.all = true});
  EXPECT_THAT(table, Not(HasSubstr("unreliable")));
  EXPECT_THAT(table, HasSubstr("least disturbed"));
  EXPECT_THAT(table, Not(HasSubstr("runs vary by")));
  EXPECT_EQ(html(report), html(named()));
}

// The bar was as long as the number said: a report of another program must not take all memory.
TEST(SummaryTable, OfADamagedReportIsAsWide) {
  for (const double wrong : {1e300, -1e300, std::numeric_limits<double>::quiet_NaN()}) {
    ProfileReport report = named();
    report.kernels[2].median_us = wrong;
    EXPECT_LT(table_of(report, {}).size(), 20000u) << wrong;
  }
}

TEST(SummaryTable, ShowsTheLongestAndSumsUpTheRest) {
  const std::string table = table_of(named(), {.top = 2});
  EXPECT_THAT(table, HasSubstr("softmax, line 8"));
  EXPECT_THAT(table, HasSubstr("conv2d 3x3 8->8 @4 + bias_add + relu, line 3"));
  EXPECT_THAT(table, Not(HasSubstr("add + tanh, line 9")));
  EXPECT_THAT(table, HasSubstr("2 more (--top N, --all)"));
  EXPECT_LT(table.find("softmax, line 8"), table.find("conv2d 3x3 8->8 @4 + bias"));
  const std::string by_node = table_of(named(), {.top = 0, .order = TableOrder::kNode});
  EXPECT_LT(by_node.find("layout_transform, for"), by_node.find("conv2d 3x3 8->8 @4 + bias"));
  EXPECT_THROW(table_order("tiem"), UsageError);
}

TEST(SummaryTable, ColoursOnRequestOnly) {
  EXPECT_EQ(table_of(named(), {}).find('\x1b'), std::string::npos);
  EXPECT_THAT(table_of(named(), {.colour = true}), HasSubstr("\x1b[1;31m"));
}

TEST(ReportTables, RowsOfSeveralModelsSayWhichTheyAreOf) {
  ProfileReport other = named();
  other.model = "other";
  other.threads = 4;
  const std::vector<ProfileReport> reports = {named(), other};
  const ReportTable table = report_table(reports, "kernels");
  EXPECT_EQ(table.rows.size(), 8u);
  EXPECT_EQ(table.columns[0].name, "model");
  EXPECT_EQ(std::get<std::string>(table.rows[0][0]), "net");
  EXPECT_EQ(std::get<std::string>(table.rows[7][0]), "other");
  EXPECT_EQ(std::get<int64_t>(table.rows[7][3]), 4);
}

TEST(Memory, OfASmallNet) {
  const Built built;
  ProfileReport report =
      make_report(built.build, built.executor->plan(), test::made_up(built.executor->plan()), {});
  add_memory(report, *built.executor);
  ASSERT_TRUE(report.memory);
  EXPECT_EQ(report.memory->inputs_bytes, 2 * 32 * 4);
  EXPECT_GE(report.memory->constants_bytes, 16 * 32 * 4);
  EXPECT_EQ(report.kernels[0].result_bytes, 2 * 16 * 4);
  EXPECT_EQ(report.kernels[0].live_bytes, 2 * 16 * 4);
  EXPECT_GE(report.kernels[1].live_bytes, report.kernels[1].result_bytes);
  EXPECT_LE(report.memory->peak_bytes, report.memory->workspace_bytes);
}

TEST(SourceLines, OfAProgramThatWasReadStayAsTheyAre) {
  const Built built;
  ProfileReport report =
      make_report(built.build, built.executor->plan(), test::made_up(built.executor->plan()), {});
  add_source_lines(report, built.build);
  EXPECT_TRUE(report.sources.empty());
  EXPECT_EQ(report.operators[0].line, 3u);
}

TEST(SourceLines, OfAProgramWithoutTextAreThoseOfThePrintedModule) {
  const Built built;
  ProfileReport report =
      make_report(built.build, built.executor->plan(), test::made_up(built.executor->plan()), {});
  for (OperatorRow& row : report.operators) row.line = row.column = 0;
  add_source_lines(report, built.build);
  ASSERT_EQ(report.sources.size(), 1u);
  std::istringstream text(report.sources[0].text);
  std::vector<std::string> lines(1);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  for (const OperatorRow& row : report.operators) {
    ASSERT_GT(row.line, 0u) << row.op;
    EXPECT_THAT(lines.at(row.line), HasSubstr(row.op + "("));
  }
  EXPECT_THAT(report.kernels[0].title,
              testing::EndsWith(", line " + std::to_string(report.operators[0].line)));
}

}  // namespace
}  // namespace baton
