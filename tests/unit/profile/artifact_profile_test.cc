// Profiles of artifacts: kernels joined with the operators that the file remembers, and what is said of files
// that don't.
#include <filesystem>

#include <gmock/gmock.h>

#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/driver/origins/origins_json.h"
#include "baton/profile/report/profile.h"
#include "baton/runtime/model.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/support/json.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct File {
  test::Folder folder;
  KernelCache cache{folder.path()};
  BuildResult build;
  std::string path = folder.path() + "/net.baton";

  File() {
    initialize();
    const IRModule module = infer_types(parse_module(R"(#[version = "0.0.5"]
def @main(%data: Tensor[(2, 32), float32]) {
  %0 = exp(%data);
  %1 = nn.relu(%0);
  nn.softmax(%1)
}
)",
                                                     "net.relay"));
    BuildOptions options{.context = host_context()};
    options.context.cache = &cache;
    options.context.passes->opt_level = 3;
    build = baton::build(module, options);
  }

  /// The artifact with sections replaced; an empty one is left out.
  std::shared_ptr<const Artifact> with(const std::vector<std::pair<std::string, std::string>>& changed) {
    write_artifact(build, path);
    const auto whole = Artifact::open(path);
    EXPECT_TRUE(whole.ok());
    ArtifactWriter writer;
    for (const std::string& name : (*whole)->names()) {
      if (name == section::kParams || name == section::kParamsIndex) continue;
      std::string content((*whole)->text(name));
      for (const auto& [other, text] : changed)
        if (other == name) content = text;
      if (!content.empty()) writer.add(name, content);
    }
    const std::string other = path + "2";
    EXPECT_TRUE(writer.write(other).ok());
    auto opened = Artifact::open(other);
    EXPECT_TRUE(opened.ok()) << opened.status().message;
    return *opened;
  }

  std::string refusal(const std::vector<std::pair<std::string, std::string>>& changed) {
    try {
      report_source(*with(changed), "net.baton");
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }
};

TEST(ArtifactProfile, JoinsKernelsWithTheOperatorsItRemembers) {
  File file;
  write_artifact(file.build, file.path);
  const auto model = Model::load(file.path);
  ASSERT_TRUE(model.ok()) << model.status().message;
  Executor& executor = (*model)->executor();
  executor.set_threads(1);
  const PlanEntry& entry = executor.input_entry(0);
  ASSERT_TRUE(executor.set_input(0, tensor_value("data", entry.shape, entry.dtype)).ok());
  ProfileOptions options;
  options.context = host_context();
  options.measure.min_runs = 3;
  options.measure.min_seconds = 0.01;
  options.peaks = false;
  const ProfileReport report = profile((*model)->artifact(), file.path, executor, options);
  ASSERT_EQ(report.kernels.size(), 2u);
  EXPECT_THAT(report.kernels[0].origins, ElementsAre(0, 1));
  EXPECT_GT(report.kernels[0].median_us, 0);
  EXPECT_GT(report.kernels[0].flops, 0);
  EXPECT_THAT(report.kernels[1].origins, ElementsAre(2));
  EXPECT_EQ(report.operators[2].op, "nn.softmax");
  EXPECT_EQ(report.operators[2].line, 5u);
  EXPECT_FALSE(report.functions.at(report.kernels[0].func_name).template_name.empty());
  EXPECT_THAT(report.notes, testing::Contains(HasSubstr("an artifact holds no Relay")));
}

TEST(ArtifactProfile, SaysWhatToDoWhenItWasStrippedOfItsOrigins) {
  File file;
  EXPECT_EQ(file.refusal({{section::kOrigins, ""}}),
            "net.baton has no section origins.json, it was stripped of its origins: nothing says which "
            "operators its kernels compute: "
            "make the artifact anew with `baton build`, or profile the model itself");
}

TEST(ArtifactProfile, SaysThatAnotherVersionMadeIt) {
  File file;
  EXPECT_THAT(file.refusal({{section::kMeta, R"({"schema": 7, "version": "9.9"})"}}),
              HasSubstr("net.baton was made by Baton 9.9, this is Baton "));
  EXPECT_THAT(file.refusal({{section::kMeta, R"({"schema": 1, "version": "9.9", "kernels": [{}]})"}}),
              HasSubstr("meta.json is damaged"));
  EXPECT_THAT(file.refusal({{section::kMeta, "x"}}), HasSubstr("does not say what its kernels are"));
}

std::string refused_report(const File& file, const std::string& origins) {
  FusedTimes times;
  times.plain_us = times.profiled_us = {1};
  try {
    make_report(ReportSource{read_origins(origins), {}, "llvm"}, *file.build.plan.graph, times);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(ArtifactProfile, ATableOfOriginsThatDoesNotFitIsRefused) {
  File file;
  EXPECT_THAT(refused_report(file, "nonsense"), HasSubstr("its origins.json cannot be read"));
  EXPECT_THAT(refused_report(file, R"({"schema": 9, "operators": []})"),
              HasSubstr("is of schema 9, and this Baton reads 1 and 2"));
  EXPECT_THAT(refused_report(file, R"({"schema": 1, "operators": []})"),
              HasSubstr("does not belong to its graph.json: operator 0 of 0"));
  EXPECT_THAT(refused_report(file, R"({"schema": 1, "operators": [{"id": 0}]})"),
              HasSubstr("its origins.json cannot be read"));
  auto origins = Json::parse(origins_json(*file.build.origins));
  origins["operators"][1]["nodes"] = {99};
  EXPECT_THAT(refused_report(file, origins.dump()), HasSubstr("node 99 of"));
}

}  // namespace
}  // namespace baton
