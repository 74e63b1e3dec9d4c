// Bundles: what is written is verified, and what is not as it was written is refused.
#include "baton/farm/bundle.h"

#include <filesystem>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "baton/farm/job/bundle_files.h"
#include "baton/farm/job/expectations.h"
#include "baton/farm/job/signature.h"
#include "baton/support/base/files.h"
#include "baton/support/error.h"

#include "profile/small_net.h"

namespace baton {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
namespace fs = std::filesystem;

class Bundles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { built_ = new test::Built(); }
  static void TearDownTestSuite() {
    delete built_;
    built_ = nullptr;
  }
  void SetUp() override {
    ASSERT_TRUE(folder_.create("bundle").ok());
    bundle_ = folder_.path("net");
    digest_ = write_bundle(built_->build, bundle_, {.model = "net"});
  }
  std::string file(const char* name) const { return bundle_ + "/" + name; }
  std::string text(const char* name) const { return *read_file(file(name)); }
  void replace(const char* name, const std::string& text) {
    ASSERT_TRUE(replace_file(file(name), {text}).ok());
  }
  void refused(const char* why, const std::vector<std::string>& keys = {}) {
    EXPECT_THAT([&] { read_bundle(bundle_, keys); }, ThrowsMessage<Error>(HasSubstr(why)));
  }

  static test::Built* built_;
  TemporaryFolder folder_;
  std::string bundle_, digest_;
};
test::Built* Bundles::built_ = nullptr;

TEST_F(Bundles, AreReadAsTheyWereWritten) {
  const BundleFiles read = read_bundle(bundle_, {});
  EXPECT_EQ(read.digest, digest_);
  EXPECT_EQ(read.manifest.model, "net");
  EXPECT_EQ(BundleManifest::parse(read.manifest.text()), read.manifest);
  ASSERT_FALSE(read.manifest.inputs.empty());
  EXPECT_EQ(read.manifest.inputs[0].name, "data");
  EXPECT_EQ(read.manifest.outputs.size(), 1u);
  EXPECT_THAT([&] { write_bundle(built_->build, bundle_, {}); },
              ThrowsMessage<Error>(HasSubstr("exists already")));
}

TEST_F(Bundles, WithAnyBitChangedAreRefused) {
  for (const char* name : {"model.baton", "outputs.params", "manifest.json"}) {
    const std::string whole = text(name);
    for (size_t at = 0; at < whole.size(); at += whole.size() / 40 + 1) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 1);
      replace(name, changed);
      try {
        // A manifest may still be one; then it is another bundle, as its digest tells.
        EXPECT_NE(read_bundle(bundle_, {}).digest, digest_) << name << " at " << at;
        EXPECT_STREQ(name, "manifest.json") << "at " << at;
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("is refused")) << name << " at " << at;
      }
    }
    replace(name, whole.substr(0, whole.size() / 2));
    EXPECT_THROW(read_bundle(bundle_, {}), Error) << name;
    replace(name, whole);
  }
  EXPECT_EQ(read_bundle(bundle_, {}).digest, digest_);
}

TEST_F(Bundles, HaveNoLinksAndNoOtherFiles) {
  replace("more", "");
  refused("its manifest does not name");
  fs::remove(file("more"));
  fs::rename(file("model.baton"), folder_.path("elsewhere"));
  refused("No such file");
  fs::create_symlink(folder_.path("elsewhere"), file("model.baton"));
  refused("symbolic link");
  fs::remove(file("model.baton"));
  ASSERT_EQ(mkfifo(file("model.baton").c_str(), 0600), 0);
  refused("not a plain file");
}

TEST_F(Bundles, CannotNameFilesElsewhere) {
  const std::string whole = text("manifest.json");
  for (const char* name : {"../model.baton", "/etc/passwd", "a/b", "", ".hidden", "..", "manifest.json"}) {
    std::string changed = whole;
    for (size_t at; (at = changed.find("\"model.baton\"")) != std::string::npos;)
      changed.replace(at, 13, std::string("\"") + name + "\"");
    EXPECT_THAT([&] { BundleManifest::parse(changed); }, ThrowsMessage<Error>(HasSubstr("only plain names")))
        << name;
  }
}

TEST_F(Bundles, OfAnotherFormatAreRefused) {
  std::string newer = text("manifest.json");
  newer.replace(newer.find("\"format\": 1"), 11, "\"format\": 2");
  replace("manifest.json", newer);
  refused("update Baton");
}

TEST_F(Bundles, AreTrustedWhenSignedByATrustedKey) {
  const KeyPair pair = make_key_pair(), other = make_key_pair();
  refused("not signed", {pair.key});
  sign_bundle(bundle_, pair.secret);
  EXPECT_EQ(read_bundle(bundle_, {other.key, pair.key}).signed_by, pair.key);
  refused("not among the trusted keys", {other.key});
  std::string manifest = text("manifest.json");
  manifest.replace(manifest.find("\"net\""), 5, "\"ten\"");
  replace("manifest.json", manifest);
  refused("changed after it was signed", {pair.key});
  replace("manifest.sig", "{}");
  refused("(none)", {pair.key});
  replace("manifest.sig", "[");
  refused("(none)", {pair.key});
}

TEST_F(Bundles, ExpectTheOutputsOfTheReferenceRun) {
  const auto near = [](std::vector<float> found, std::vector<float> wanted) {
    const auto array = [](const std::vector<float>& values) {
      return NDArray::of<float>({static_cast<int64_t>(values.size())}, values, DType::float_(32));
    };
    const Expectations expected = expect({array(wanted)});
    return difference({array(found)}, expected.outputs, expected.sampled, {1e-3, 1e-4});
  };
  const float nan = NAN, infinity = INFINITY;
  EXPECT_EQ(near({1, 2, 3}, {1, 2, 3}), "");
  EXPECT_EQ(near({1, 2, 3.001f}, {1, 2, 3}), "");
  EXPECT_EQ(near({}, {}), "");
  EXPECT_THAT(near({1, 2, 3.1f}, {1, 2, 3}), HasSubstr("output0[2] is 3.1, expected 3 (1 of 3 elements"));
  EXPECT_EQ(near({nan, infinity, 1}, {nan, infinity, 1}), "");
  EXPECT_THAT(near({nan, 2}, {1, 2}), HasSubstr("output0[0] is nan"));
  EXPECT_THAT(near({1, infinity}, {1, -infinity}), HasSubstr("output0[1]"));
  EXPECT_THAT(near({1, 2}, {1, 2, 3}), HasSubstr("expected float32[3]"));
  // Beyond the elements that are kept: by their mean and the number of those that are not finite.
  std::vector<float> many(10000, 1), changed = many, broken = many;
  for (size_t i = 1; i < many.size(); i += 3) changed[i] = 2;
  broken[1] = nan;
  EXPECT_EQ(near(many, many), "");
  EXPECT_NE(near(changed, many), "");
  EXPECT_THAT(near(broken, many), HasSubstr("not finite"));
}

}  // namespace
}  // namespace baton
