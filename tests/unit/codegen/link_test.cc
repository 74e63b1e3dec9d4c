#include "baton/codegen/kernel/link.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "baton/runtime/kernel_library.h"

#include "changed_setting.h"
#include "test_paths.h"

namespace baton {
namespace {

class LinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = ::testing::TempDir() + "baton link \" XXXXXX";  // a name that needs quoting
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    object_ = folder_ + "/kernels.o";
    std::filesystem::copy_file(std::string(build_dir()) + "/generated/test_kernels.o", object_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void expect_good() const {
    const std::string output = folder_ + "/k.so";
    const Status status = link_kernels(std::vector{object_}, output);
    ASSERT_TRUE(status.ok()) << status.message;
    const auto library = KernelLibrary::open(output);
    ASSERT_TRUE(library.ok()) << library.status().message;
    EXPECT_EQ((*library)->find("fail")(nullptr), -7);
  }

  std::string folder_;
  std::string object_;
};

TEST_F(LinkTest, WithWhateverThereIs) {
  ASSERT_NE(find_linker(), "");
  expect_good();
}

TEST_F(LinkTest, WithTheLinkerAlone) {
  const ChangedSetting changed(&Environment::linker, "ld");
  if (find_linker().empty()) GTEST_SKIP() << "no ld on this machine";
  expect_good();
}

TEST_F(LinkTest, ThroughACompiler) {
  const ChangedSetting changed(&Environment::linker, "cc");
  if (find_linker().empty()) GTEST_SKIP() << "no cc on this machine";
  expect_good();
}

TEST_F(LinkTest, SaysWhatIsWrongAndLeavesNothing) {
  const std::string output = folder_ + "/k.so";
  {
    const ChangedSetting changed(&Environment::linker, "no-such-linker");
    EXPECT_EQ(link_kernels(std::vector{object_}, output).code, StatusCode::kUnavailable);
  }
  const Status missing = link_kernels(std::vector{folder_ + "/none.o"}, output);
  EXPECT_EQ(missing.code, StatusCode::kIo);
  EXPECT_NE(missing.message.find("none.o"), std::string::npos) << missing.message;
  EXPECT_FALSE(std::filesystem::exists(output));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

}  // namespace
}  // namespace baton
