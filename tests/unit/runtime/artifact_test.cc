#include "baton/runtime/artifact.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "baton/runtime/c_api.h"
#include "baton/runtime/model.h"
#include "baton/support/base/processor_features.h"
#include "baton/support/base/tensor_rule.h"

#include "runtime/plan_text.h"
#include "test_paths.h"

namespace baton {
namespace {

/// A folder of its own for each test, so that several runs of the tests do not meet.
class ArtifactTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = ::testing::TempDir() + "baton-artifact-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name = "model.baton") const { return folder_ + "/" + name; }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  static std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::span<const uint8_t> bytes(const std::string& text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  }

  static NamedArrays params() {
    return {{"p0", tensor_value("p0", {40, 50}, DType::float_(32))},
            {"p1", tensor_value("p1", {3}, DType::int_(8))},
            {"scalar", tensor_value("scalar", {}, DType::float_(64))}};
  }

  std::string written() const {
    ArtifactWriter writer;
    writer.add(section::kPlan, "{}");
    writer.add("kernels.so", std::string(5000, 'k'));
    writer.add("empty", "");
    writer.set_params(params());
    EXPECT_TRUE(writer.write(path()).ok());
    return contents(path());
  }

  std::string folder_;
};

TEST_F(ArtifactTest, RoundTrip) {
  written();
  const auto opened = Artifact::open(path());
  ASSERT_TRUE(opened.ok()) << opened.status().message;
  const Artifact& artifact = **opened;
  EXPECT_EQ(artifact.text(section::kPlan), "{}");
  EXPECT_EQ(artifact.text("kernels.so"), std::string(5000, 'k'));
  EXPECT_TRUE(artifact.has("empty"));
  EXPECT_FALSE(artifact.has("other"));
  ASSERT_EQ(artifact.params().size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(artifact.params()[i].first, params()[i].first);
    EXPECT_TRUE(artifact.params()[i].second.equal_bytes(params()[i].second));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(artifact.params()[i].second.data()) % 64, 0u);
  }
  EXPECT_EQ(files(), 1u);
}

TEST_F(ArtifactTest, SameContentSameBytes) { EXPECT_EQ(written(), written()); }

TEST_F(ArtifactTest, ConstantsOutliveTheArtifact) {
  written();
  NDArray constant = (*Artifact::open(path()))->params()[0].second;
  std::filesystem::remove(path());
  EXPECT_TRUE(constant.equal_bytes(params()[0].second));
}

TEST_F(ArtifactTest, EveryTruncationIsSeen) {
  const std::string whole = written();
  std::set<size_t> lengths = {0, 1, 7, 8, 9, 31, 32, 33, whole.size() - 1};
  for (size_t at = 0; at < whole.size(); at += 64) lengths.insert({at, at + 1});
  for (const size_t length : lengths) {
    if (length >= whole.size()) continue;
    const std::string part = whole.substr(0, length);
    EXPECT_FALSE(Artifact::from_memory(bytes(part)).ok()) << length;
  }
  std::ofstream(path("cut"), std::ios::binary) << whole.substr(0, 4096);
  EXPECT_EQ(Artifact::open(path("cut")).status().message,
            "`" + path("cut") + "` is not complete: it has 4096 bytes of " + std::to_string(whole.size()) +
                "; copy it again, or build it again with `baton build`");
  EXPECT_FALSE(Artifact::from_memory(bytes(whole + "x")).ok());
}

TEST_F(ArtifactTest, EveryDamagedByteIsSeenOrMeansNothing) {
  const std::string whole = written();
  size_t unseen = 0;
  for (size_t at = 0; at < whole.size(); at += at < 600 ? 1 : 13) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    const auto opened = Artifact::from_memory(bytes(damaged));
    if (!opened.ok()) continue;
    ++unseen;  // padding between sections
    EXPECT_EQ(whole[at], 0) << at;
    EXPECT_EQ((*opened)->text(section::kPlan), "{}");
  }
  EXPECT_LT(unseen, whole.size() / 13);
}

TEST_F(ArtifactTest, DamagedConstantsAreSeenUnlessToldNotToLook) {
  std::string whole = written();
  const size_t first = whole.find(std::string(static_cast<const char*>(params()[0].second.data()), 64));
  ASSERT_NE(first, std::string::npos);
  whole[first + 10] = static_cast<char>(whole[first + 10] ^ 1);
  const std::string damaged = "(in memory) is damaged in its constants; build it again with `baton build`";
  EXPECT_EQ(Artifact::from_memory(bytes(whole)).status().message, damaged);
  const auto opened = Artifact::from_memory(bytes(whole), /*verify=*/false);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ((*opened)->check_params().message, damaged);
}

TEST_F(ArtifactTest, SaysWhatItSaw) {
  const std::string whole = written();
  const auto error = [](const std::string& content) {
    return Artifact::from_memory(bytes(content)).status().message;
  };
  EXPECT_EQ(error(""),
            "(in memory) is not an artifact of Baton (0 bytes); build it again with `baton build`");
  EXPECT_EQ(error("PK\3\4 a zip file"),
            "(in memory) is not an artifact of Baton (15 bytes); build it again with `baton build`");
  std::string newer = whole;
  newer[8] = kArtifactVersion + 1;
  EXPECT_EQ(error(newer),
            "(in memory) has format 3, this Baton reads format 2: update Baton, or build the model again "
            "with this one");
  std::string text_mode = whole;
  text_mode.erase(5, 1);
  EXPECT_NE(error(text_mode).find("was damaged when it was copied"), std::string::npos);
  std::string kernels = whole;
  kernels[whole.find("kkkk")] = 'x';
  EXPECT_EQ(error(kernels),
            "(in memory) is damaged in its section kernels.so; build it again with `baton build`");
  EXPECT_EQ(Artifact::open(path("nothing")).status().message,
            "cannot open the artifact `" + path("nothing") + "`: No such file or directory");
  EXPECT_EQ(Artifact::open(folder_).status().message,
            "cannot open the artifact `" + folder_ + "`: it is not a file");
}

TEST_F(ArtifactTest, AFailedWriteLeavesNothing) {
  ArtifactWriter writer;
  writer.set_params(params());
  EXPECT_EQ(writer.write(path("no/such/folder")).code, StatusCode::kIo);
  EXPECT_EQ(writer.write("/dev/null").code, StatusCode::kIo) << "a file was put in the place of a device";
  // A limit on the size of files stands in for a full disk: the write in the middle of the file fails.
  const auto write_with_limit = [&] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit;
    limit.rlim_cur = limit.rlim_max = 5000;
    setrlimit(RLIMIT_FSIZE, &limit);
    const Status status = writer.write(path());
    _exit(status.code == StatusCode::kIo && files() == 0 ? 0 : 1);
  };
  EXPECT_EXIT(write_with_limit(), ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(files(), 0u);
}

// Such a model ended the program by an illegal instruction.
TEST_F(ArtifactTest, KernelsOfAnotherProcessorAreRefused) {
  PlanText text;
  text.input("x", {"[2, 2]", 0}).call("twice", "add", "[0, 0, 0], [0, 0, 0]", {{"[2, 2]", 1}});
  const auto load = [&](const std::string& processor) {
    ArtifactWriter writer;
    writer.add(section::kPlan, text.text("[1, 0, 0]"));
    writer.add(section::kKernels, contents(std::string(build_dir()) + "/generated/test_kernels.so"));
    writer.add(section::kProcessor, processor);
    EXPECT_TRUE(writer.write(path()).ok());
    return Model::load(path()).status();
  };
  std::string here(processor_machine());
  EXPECT_TRUE(load(here).ok());
  here += "-tune_znver9";
  for (const std::string& feature : processor_features()) here += "-" + feature;
  EXPECT_TRUE(load(here).ok());
  EXPECT_EQ(load(here + "-warp-impulse").message,
            "the model's kernels were built for another processor (" + here +
                "-warp-impulse): this one lacks warp, impulse; build the model for this machine");
  EXPECT_NE(
      load("riscv-64-linux-rvv").message.find("processor, riscv64 (riscv-64-linux-rvv), and this one is"),
      std::string::npos);
}

TEST_F(ArtifactTest, ModelAndCInterface) {
  PlanText text;
  text.input("x", {"[2, 2]", 0})
      .input("p0", {"[2, 2]", 1})
      .call("sum", "add", "[0, 0, 0], [1, 0, 0]", {{"[2, 2]", 2}});
  ArtifactWriter writer;
  writer.add(section::kPlan, text.text("[2, 0, 0]"));
  writer.add(section::kKernels, contents(std::string(build_dir()) + "/generated/test_kernels.so"));
  const NDArray p0 = tensor_value("p0", {2, 2}, DType::float_(32));
  writer.set_params({{"p0", p0}});
  ASSERT_TRUE(writer.write(path()).ok());

  baton_model* model = baton_model_load(path().c_str());
  ASSERT_NE(model, nullptr) << baton_last_error();
  EXPECT_EQ(baton_num_inputs(model), 1);
  EXPECT_EQ(baton_num_outputs(model), 1);
  EXPECT_STREQ(baton_input_name(model, 0), "x");
  EXPECT_EQ(baton_input_index(model, "x"), 0);
  EXPECT_EQ(baton_input_index(model, "p0"), -1);
  EXPECT_STREQ(baton_input_dtype(model, 0), "float32");
  EXPECT_STREQ(baton_output_dtype(model, 0), "float32");
  const int64_t* shape = nullptr;
  ASSERT_EQ(baton_output_shape(model, 0, &shape), 2);
  EXPECT_EQ(shape[1], 2);
  ASSERT_EQ(baton_input_shape(model, 0, &shape), 2);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(baton_input_shape(model, 1, &shape), -1);
  EXPECT_EQ(baton_input_name(model, 1), nullptr);
  const float x[4] = {1, 2, 3, 4};
  ASSERT_EQ(baton_set_threads(model, 1), 0);
  ASSERT_EQ(baton_set_input(model, 0, x, sizeof x), 0);
  ASSERT_EQ(baton_run(model), 0);
  float y[4] = {};
  ASSERT_EQ(baton_get_output(model, 0, y, sizeof y), 0);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(y[i], x[i] + p0.as<float>()[i]);
  size_t size = 0;
  EXPECT_EQ(std::memcmp(baton_output_data(model, 0, &size), y, sizeof y), 0);
  EXPECT_EQ(size, sizeof y);

  alignas(64) float mine[4] = {5, 6, 7, 8};
  ASSERT_EQ(baton_bind_input(model, 0, mine, sizeof mine), 0);
  mine[3] = 9;
  ASSERT_EQ(baton_run(model), 0);
  ASSERT_EQ(baton_get_output(model, 0, y, sizeof y), 0);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(y[i], mine[i] + p0.as<float>()[i]);
  EXPECT_EQ(baton_bind_input(model, 0, mine, 3), BATON_ERROR_ARGUMENT);
  ASSERT_EQ(baton_set_input(model, 0, x, sizeof x), 0);

  EXPECT_EQ(baton_set_input(model, 0, x, 3), BATON_ERROR_ARGUMENT);
  EXPECT_STREQ(baton_last_error(), "input `x` is float32[2, 2] of 16 bytes, not 3");
  EXPECT_EQ(baton_get_output(model, 5, y, sizeof y), BATON_ERROR_ARGUMENT);
  EXPECT_STREQ(baton_last_error(), "there is no output 5: the model has 1");

  EXPECT_EQ(baton_profile_calls(model), 0);
  ASSERT_EQ(baton_profile(model, 3), 0);
  EXPECT_EQ(baton_profile_calls(model), 1);
  EXPECT_STREQ(baton_profile_node_name(model, 0), "sum");
  EXPECT_STREQ(baton_profile_kernel_name(model, 0), "add");
  EXPECT_GT(baton_profile_ns(model, 0, 2), 0);
  EXPECT_GE(baton_profile_total_ns(model, 2), baton_profile_ns(model, 0, 2));
  EXPECT_LT(baton_profile_ns(model, 0, 3), 0);
  baton_model_free(model);

  const std::string whole = contents(path());
  model = baton_model_load_memory(whole.data(), whole.size());
  ASSERT_NE(model, nullptr) << baton_last_error();
  baton_model_free(model);
  EXPECT_EQ(baton_model_load(path("nothing").c_str()), nullptr);
  EXPECT_NE(std::string(baton_last_error()).find("cannot open the artifact"), std::string::npos);
}

}  // namespace
}  // namespace baton
