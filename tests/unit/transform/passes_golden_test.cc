// Scores every registered pass against what TVM 0.11.1 printed. known_misses.txt lists the cases that do not
// come out the same: one that is not listed must pass, one that is listed must not. BATON_GOLDENS=REGEX runs
// only ids that match and says what differs; BATON_GOLDENS_WRITE=FILE writes the list of misses.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>

#include <gtest/gtest.h>
#include <regex.h>

#include "baton/driver/initialize.h"

#include "in_parts.h"
#include "test_paths.h"
#include "transform/golden_case.h"

namespace baton::golden {
namespace {

std::set<std::string> known_misses() {
  std::set<std::string> misses;
  std::ifstream file(std::string(source_dir()) + "/tests/unit/transform/known_misses.txt");
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') misses.insert(line.substr(0, line.find(' ')));
  return misses;
}

struct Score {
  int passed = 0, failed = 0, skipped = 0;
};

using PassGoldens = InParts<3>;
BATON_TEST_IN_PARTS(PassGoldens, 3);
TEST_P(PassGoldens, AllButTheKnownMissesComeOut) {
  initialize();
  static PassCases cases;
  const std::set<std::string> misses = known_misses();
  const char* pattern = std::getenv("BATON_GOLDENS");
  regex_t wanted;
  ASSERT_EQ(regcomp(&wanted, pattern ? pattern : "", REG_EXTENDED | REG_NOSUB), 0) << pattern;
  std::map<std::string, Score> scores;
  std::map<std::string, int> skips;
  std::vector<std::string> failed;
  Score all;
  size_t index = 0;
  for (const auto& one : cases.cases()) {
    if (!is_mine(index++)) continue;
    const std::string id = one["id"].get<std::string>();
    if (pattern && regexec(&wanted, id.c_str(), 0, nullptr, 0) != 0) continue;
    const Result result = cases.run(one);
    Score& score = scores[one["pass"].get<std::string>()];
    if (result.verdict == Verdict::kSkipped) {
      ++score.skipped, ++all.skipped;
      ++skips[result.why];
      EXPECT_FALSE(misses.count(id)) << id << " is listed in known_misses.txt but is not run: " << result.why;
      continue;
    }
    const bool passed = result.verdict == Verdict::kPassed;
    ++(passed ? score.passed : score.failed), ++(passed ? all.passed : all.failed);
    if (!passed) failed.push_back(id);
    if (pattern && !passed) std::cout << id << ": " << result.why << "\n";
    EXPECT_NE(passed, misses.count(id) > 0)
        << id << (passed ? " passes now: take it out of known_misses.txt" : ": " + result.why);
  }
  regfree(&wanted);
  for (const auto& [pass, score] : scores)
    if (score.passed + score.failed > 0)
      std::cout << pass << ": " << score.passed << " passed, " << score.failed << " failed, " << score.skipped
                << " not run\n";
  if (pattern)
    for (const auto& [why, count] : skips) std::cout << "not run (" << count << "): " << why << "\n";
  std::cout << "passes: " << all.passed << " passed, " << all.failed << " failed, " << all.skipped
            << " not run\n";
  if (const char* file = std::getenv("BATON_GOLDENS_WRITE")) {
    std::ofstream out(file, GetParam() == 0 ? std::ios::trunc : std::ios::app);
    for (const std::string& id : failed) out << id << "\n";
  }
  EXPECT_TRUE(pattern || all.passed > 0);
}

}  // namespace
}  // namespace baton::golden
