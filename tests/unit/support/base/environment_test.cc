#include "baton/support/base/environment.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "changed_setting.h"
#include "test_paths.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Row {
  std::string name, otherwise, meaning;
};

std::vector<Row> rows() {
  return {
#define BATON_SETTING(member, name, kind, otherwise, meaning) {name, otherwise, meaning},
#define BATON_FOREIGN_SETTING(name, kind, otherwise, meaning) {name, otherwise, meaning},
#include "baton/support/base/environment.def"
#undef BATON_SETTING
#undef BATON_FOREIGN_SETTING
  };
}

TEST(Environment, TheDocumentationIsTheTable) {
  std::string table = "| variable | meaning | default |\n|---|---|---|\n";
  for (const Row& row : rows()) {
    table.append("| `").append(row.name).append("` | ").append(row.meaning).append(" | ");
    table.append(row.otherwise).append(" |\n");
  }
  std::ifstream file(std::string(source_dir()) + "/docs/environment.md");
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_THAT(page.str(), HasSubstr(table));
  EXPECT_TRUE(std::ranges::is_sorted(rows(), {}, &Row::name));
}

TEST(Environment, IsReadOnceAndReplacedByEntryPoints) {
  const std::shared_ptr<const Environment> before = environment();
  EXPECT_EQ(before->path, Environment::read().path);
  {
    const ChangedSetting changed(&Environment::machine, "elsewhere");
    EXPECT_EQ(environment()->machine, "elsewhere");
    EXPECT_EQ(environment()->path, before->path);
  }
  EXPECT_EQ(environment()->machine, before->machine);
}

TEST(Environment, ListsAndFolders) {
  EXPECT_THAT(listed(":/a::/b/c:"), ElementsAre("/a", "/b/c"));
  EXPECT_TRUE(listed("").empty());
  const ChangedSetting changed(&Environment::tmpdir, "");
  EXPECT_EQ(temporary_folder(), "/tmp");
}

}  // namespace
}  // namespace baton
