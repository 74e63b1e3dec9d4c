// What a name asks for, and files that appear whole or not at all.
#include "baton/profile/write/files.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "baton/profile/report/diff.h"
#include "baton/profile/write/report_json.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

#include "codegen/kernels.h"
#include "profile/made_up.h"

namespace baton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> wanted(const std::string& path) {
  std::vector<std::string> paths;
  for (const WantedFile& file : wanted_files(path, report_kinds())) paths.push_back(file.path);
  return paths;
}

std::string refused(const std::string& path) {
  try {
    wanted_files(path, report_kinds());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(ReportFiles, TheSuffixSaysWhat) {
  EXPECT_THAT(wanted("d/p.json"), ElementsAre("d/p.json"));
  EXPECT_EQ(wanted_files("p.trace.json", report_kinds())[0].suffix, ".trace.json");
  EXPECT_THAT(wanted("p.csv"), ElementsAre("p.kernels.csv", "p.operators.csv", "p.parts.csv"));
  EXPECT_THAT(wanted("p.operators.csv"), ElementsAre("p.operators.csv"));
  EXPECT_THAT(wanted("kernels.csv"),
              ElementsAre("kernels.kernels.csv", "kernels.operators.csv", "kernels.parts.csv"));
  EXPECT_THAT(wanted("p.explorer.json"),
              ElementsAre("p.explorer.json", "p.fused_us.explorer.json", "p.inside_us.explorer.json",
                          "p.unfused_us.explorer.json"));
  EXPECT_THAT(refused("p.jsn"), HasSubstr("did you mean `.json`?"));
  EXPECT_THAT(refused("p"), HasSubstr("the name ends with one of .json, "));
  EXPECT_THAT(refused("d/.csv"), HasSubstr("no name before `.csv`"));
}

TEST(ReportFiles, OfSeveralModelsOneOrOneForEach) {
  const auto of_two = [](const std::string& path) {
    std::vector<std::string> paths;
    for (const WantedFile& file : wanted_files(path, report_kinds(), {"a", "b"})) paths.push_back(file.path);
    return paths;
  };
  EXPECT_THAT(of_two("p.json"), ElementsAre("p.json"));
  EXPECT_THAT(of_two("p.kernels.csv"), ElementsAre("p.kernels.csv"));
  EXPECT_THAT(of_two("p.html"), ElementsAre("p.a.html", "p.b.html"));
  EXPECT_THAT(of_two("p.fused_us.explorer.json"),
              ElementsAre("p.a.fused_us.explorer.json", "p.b.fused_us.explorer.json"));
  const ProfileReport report = test::made_up();
  const std::string both = reports_bytes({report, report}, {"p.json", ".json", ""}, {"a", "b"});
  EXPECT_EQ(read_reports(both, "p.json").size(), 2u);
  EXPECT_THROW(read_report(both, "p.json"), Error);
  EXPECT_THROW(reports_bytes({report}, {"p.b.html", ".html", "", "b"}, {"a", "b"}), Error);
}

TEST(ReportFiles, EveryKindIsMade) {
  const ProfileReport report = test::made_up();
  for (const FileKind& kind : report_kinds())
    for (const WantedFile& file : wanted_files("p" + kind.suffix, report_kinds())) {
      const std::string bytes = report_bytes(report, file);
      EXPECT_FALSE(bytes.empty()) << file.path;
      if (file.path.ends_with(".json") || kind.suffix == ".parquet") {
        EXPECT_TRUE(Json::accept(bytes)) << file.path;
      }
    }
}

TEST(ReportFiles, AreWrittenWholeOrNotAtAll) {
  const test::Folder folder;
  const std::string path = folder.path() + "/p.json";
  check_writable(path);
  EXPECT_FALSE(std::filesystem::exists(path));
  write_file(path, "one");
  check_writable(path);
  EXPECT_EQ(content(path), "one");
  write_file(path, "two");
  EXPECT_EQ(content(path), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1)
      << "something was left behind";
  EXPECT_THROW(check_writable(folder.path() + "/no/p.json"), Error);
  EXPECT_THROW(check_writable(folder.path()), Error);
  EXPECT_THROW(check_writable("/dev/null"), Error);
}

TEST(ReportFiles, SavedProfilesAreRead) {
  const test::Folder folder;
  const ProfileReport report = test::made_up();
  const std::string path = folder.path() + "/p.json", whole = report_bytes(report, {path, ".json", ""});
  write_file(path, whole);
  EXPECT_EQ(report_bytes(load_report(path), {path, ".json", ""}), whole);
  const auto refusal = [&](const std::string& bytes) -> std::string {
    write_file(path, bytes);
    try {
      load_report(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(refusal(whole.substr(0, whole.size() / 2)), HasSubstr("is no profile"));
  std::string other = whole;
  other.replace(other.find("\"schema\":1"), 10, "\"schema\":7");
  EXPECT_THAT(refusal(other), HasSubstr("has schema 7, this Baton reads schema 1"));
  other = whole;
  other.replace(other.find("\"median_us\":"), 12, "\"mean_us\":");
  EXPECT_THAT(refusal(other), HasSubstr("is damaged, or a profile of another version of Baton"));
  // Fields may be added within a schema: profiles from before are read.
  auto older = Json::parse(whole);
  older.erase("others_busy");
  for (auto& kernel : older["kernels"])
    for (const char* key :
         {"cv", "dtype", "intensity", "gflops", "gbytes_per_s", "roofline", "bound", "nominal"})
      kernel.erase(key);
  EXPECT_EQ(refusal(older.dump()), "none");
  EXPECT_THROW(load_report(folder.path() + "/none.json"), Error);
  EXPECT_THROW(load_report(folder.path()), Error);
}

/// Of the values that hold no others, the one with that number; null when there are fewer.
Json* leaf(Json& json, size_t& number) {
  if (json.empty() || !(json.is_array() || json.is_object())) return number-- == 0 ? &json : nullptr;
  for (Json& each : json)
    if (Json* found = leaf(each, number)) return found;
  return nullptr;
}

// Whatever stands in a file: it is refused with an Error, or everything can be made from it.
TEST(ReportFiles, DamagedProfilesAreRefusedOrHarmless) {
  const Json whole = Json::parse(report_bytes(test::made_up(), {"p.json", ".json", ""}));
  const ProfileReport sound = test::made_up();
  const std::vector<Json> others = {nullptr, 4000000000u, "x", Json::array()};
  size_t refused = 0, read = 0;
  for (size_t number = 0;; ++number) {
    Json damaged = whole;
    size_t left = number;
    Json* const at = leaf(damaged, left);
    if (!at) break;
    *at = others[(refused + read) % others.size()];
    try {
      const ProfileReport report = read_report(damaged.dump(), "p.json");
      ++read;
      for (const char* name : {"p.csv", "p.trace.json", "p.explorer.json", "p.txt"})
        for (const WantedFile& file : wanted_files(name, report_kinds())) report_bytes(report, file, 1);
      diff(sound, report, "a", "b");
    } catch (const Error&) {
      ++refused;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "value " << number << " in " << damaged << ": " << error.what();
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(read, 50u);
}

}  // namespace
}  // namespace baton
