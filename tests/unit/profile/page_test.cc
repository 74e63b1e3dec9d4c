// What pytest cannot hand in: names that are no UTF-8. The rest of the page is tested in Chromium
// (tests/python/page).
#include "baton/profile/write/page.h"

#include <gmock/gmock.h>

namespace baton {
namespace {

using testing::HasSubstr;
using testing::Not;

ProfileReport report_of(const std::string& name) {
  ProfileReport report;
  report.model = name;
  report.plain_us = report.profiled_us = {1.0, 2.0, 3.0};
  report.end_to_end_us = report.sum_us = 1.23456789;
  OperatorRow row;
  row.op = "add";
  row.source = name;
  row.attrs = {};
  report.operators.push_back(row);
  return report;
}

TEST(Page, ShowsBytesThatAreNoText) {
  const std::string text = page(report_of("caf\xe9 \xff"));
  EXPECT_THAT(text, HasSubstr("\"source\":\"caf\xef\xbf\xbd \xef\xbf\xbd\""));
}

TEST(Page, DataCannotEndItsElement) {
  const std::string text = page(report_of("</script><!--"));
  EXPECT_THAT(text, HasSubstr("\\u003c/script>\\u003c!--"));
  EXPECT_THAT(text, HasSubstr("<title>&lt;/script&gt;"));
  EXPECT_THAT(text, Not(HasSubstr("\"</script>")));
}

TEST(Page, NamesThatLookLikePlaceholdersStay) {
  const std::string text = page(report_of("@data@ @title@"));
  EXPECT_THAT(text, HasSubstr("<title>@data@ @title@: Baton profile</title>"));
  EXPECT_THAT(text, HasSubstr("\"model\":\"@data@ @title@\""));
}

TEST(Page, TimesAreShort) { EXPECT_THAT(page(report_of("m")), HasSubstr("\"sum_us\":1.23457,")); }

}  // namespace
}  // namespace baton
