// A report as flat tables and as CSV.
#include "baton/profile/write/tables.h"

#include <gmock/gmock.h>

#include "baton/profile/report/portions.h"
#include "baton/profile/write/csv.h"
#include "baton/support/error.h"

#include "profile/made_up.h"

namespace baton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// RFC 4180, read strictly: every line ends with CR LF, quotes enclose whole fields.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> line;
  size_t at = 0;
  while (at < text.size()) {
    std::string field;
    if (text[at] == '"') {
      for (++at;; ++at) {
        if (at >= text.size()) throw Error("a quote is open");
        if (text[at] != '"')
          field += text[at];
        else if (at + 1 < text.size() && text[at + 1] == '"')
          field += text[++at];
        else
          break;
      }
      ++at;
    } else {
      while (at < text.size() && text[at] != ',' && text[at] != '\r') {
        if (text[at] == '"' || text[at] == '\n') throw Error("a quote or a line end in a bare field");
        field += text[at++];
      }
    }
    line.push_back(field);
    if (at < text.size() && text[at] == ',') {
      ++at;
      continue;
    }
    if (text.compare(at, 2, "\r\n") != 0) throw Error("CR LF is missing");
    at += 2;
    lines.push_back(std::move(line));
    line.clear();
  }
  return lines;
}

size_t column(const std::vector<std::string>& head, const std::string& name) {
  return static_cast<size_t>(std::find(head.begin(), head.end(), name) - head.begin());
}

TEST(ReportTables, RowsAreAsLongAsTheirHeads) {
  const ProfileReport report = test::made_up();
  for (const std::string& name : table_names()) {
    const ReportTable table = report_table(report, name);
    EXPECT_EQ(table.name, name);
    EXPECT_FALSE(table.rows.empty()) << name;
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << name;
    const auto lines = read_csv(csv(table));
    ASSERT_EQ(lines.size(), table.rows.size() + 1);
    for (const auto& line : lines) EXPECT_EQ(line.size(), table.columns.size());
  }
  EXPECT_THROW(report_table(report, "kernel"), Error);
}

TEST(ReportTables, CsvKeepsWhatIsInTheCells) {
  const auto lines = read_csv(csv(operators_table(test::made_up())));
  EXPECT_EQ(lines[1][column(lines[0], "attrs")], "{\"strides\":[2,2],\"note\":\"a \\\"b\\\", c\"}");
  EXPECT_EQ(lines[1][column(lines[0], "fused_with")], "1 2");
  EXPECT_EQ(lines[1][column(lines[0], "kernels_us")], "10");
  EXPECT_EQ(lines[4][column(lines[0], "retired_why")], "dropout is the identity at inference");
  EXPECT_EQ(lines[4][column(lines[0], "us")], "");
  const auto kernels = read_csv(csv(kernels_table(test::made_up())));
  EXPECT_EQ(kernels[2][column(kernels[0], "trusted")], "false");
  EXPECT_EQ(kernels[1][column(kernels[0], "trusted")], "") << "a kernel that was not split";
  EXPECT_EQ(kernels[2][column(kernels[0], "gflops")], "2");
  ReportTable table{"t", {{"a\nb", CellKind::kText}}, {{std::string("x\r\n\"y\"")}, {1.0 / 3}, {}}};
  table.rows[2] = {Cell()};
  EXPECT_EQ(csv(table), "\"a\nb\"\r\n\"x\r\n\"\"y\"\"\"\r\n0.3333333333333333\r\n\r\n");
}

TEST(Portions, AddUpToTheirKernel) {
  const ProfileReport report = test::made_up();
  double all = 0;
  for (const KernelRow& kernel : report.kernels) {
    double sum = 0;
    for (const Portion& portion : portions(kernel)) sum += portion.share;
    EXPECT_NEAR(sum, 1, 1e-12) << kernel.name;
    for (const Portion& portion : portions(kernel))
      if (!portion.id) all += portion.share * kernel.median_us;
  }
  const std::vector<OperatorTime> times = operator_times(report);
  for (const OperatorTime& time : times) all += time.us;
  EXPECT_NEAR(all, report.sum_us, 1e-9);
  // Stages that sum up to 110 % are scaled to the kernel.
  EXPECT_NEAR(times[0].us, 8 / 1.1, 1e-12);
  EXPECT_EQ(times[0].by, PortionBy::kSplit);
  EXPECT_EQ(times[2].us, 0);
  EXPECT_TRUE(times[2].has_kernel);
  EXPECT_EQ(times[5].us, 30);
  EXPECT_EQ(times[5].by, PortionBy::kWhole);
  EXPECT_EQ(times[6].us, 2);
  EXPECT_EQ(times[6].by, PortionBy::kEqual);
  EXPECT_FALSE(times[3].has_kernel);
}

TEST(Portions, AnOperatorAloneHasItsWholeKernel) {
  KernelRow kernel = test::kernel_row(1, "fused_relu", 4, {3}, {});
  kernel.inside = {{{3}, "nn.relu", false, "s", 0.4, 1.6, InsideMethod::kAblation, false},
                   {{}, "", true, "s", 0.6, 2.4, InsideMethod::kMarkers, false}};
  const std::vector<Portion> found = portions(kernel);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].share, 1);
}

TEST(Portions, APartOfSeveralOperatorsIsSharedEqually) {
  KernelRow kernel = test::kernel_row(1, "fused", 10, {3, 4}, {});
  kernel.inside = {{{3, 4}, "x", false, "s", 0.9, 9, InsideMethod::kMarkers, false}};
  const std::vector<Portion> found = portions(kernel);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_DOUBLE_EQ(found[0].share, 0.45);
  EXPECT_DOUBLE_EQ(found[1].share, 0.45);
  EXPECT_EQ(found[2].by, PortionBy::kRest);
  EXPECT_NEAR(found[2].share, 0.1, 1e-12);
}

}  // namespace
}  // namespace baton
