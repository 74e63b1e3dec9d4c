#include "baton/runtime/kernel_library.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <unistd.h>

#include "baton/support/base/kernel_shim.h"

#include "test_paths.h"

namespace baton {
namespace {

std::string test_kernels() { return std::string(build_dir()) + "/generated/test_kernels.so"; }

std::vector<uint8_t> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(KernelLibrary, FromAFile) {
  const auto library = KernelLibrary::open(test_kernels());
  ASSERT_TRUE(library.ok()) << library.status().message;
  ASSERT_NE((*library)->find("empty"), nullptr);
  EXPECT_EQ((*library)->find("empty")(nullptr), 0);
  EXPECT_EQ((*library)->find("nothing"), nullptr);
}

TEST(KernelLibrary, TwoFromMemoryAreTwo) {
  const std::vector<uint8_t> bytes = contents(test_kernels());
  const auto first = KernelLibrary::from_memory(bytes);
  const auto second = KernelLibrary::from_memory(bytes);
  ASSERT_TRUE(first.ok()) << first.status().message;
  ASSERT_TRUE(second.ok()) << second.status().message;
  EXPECT_NE((*first)->find("empty"), (*second)->find("empty"));
  for (int i = 0; i < 50; ++i) {  // descriptors and mappings are given back
    ASSERT_TRUE(KernelLibrary::from_memory(bytes).ok());
  }
  EXPECT_EQ((*first)->find("fail")(nullptr), -7);
}

TEST(KernelLibrary, AReplacedFileIsANewLibrary) {
  const std::string path = ::testing::TempDir() + "baton-replaced-" + std::to_string(getpid()) + ".so";
  std::filesystem::copy_file(test_kernels(), path, std::filesystem::copy_options::overwrite_existing);
  const auto first = KernelLibrary::open(path);
  ASSERT_TRUE(first.ok());
  std::ofstream(path, std::ios::trunc) << "no library";
  EXPECT_EQ((*first)->find("fail")(nullptr), -7);
  EXPECT_FALSE(KernelLibrary::open(path).ok());
  std::filesystem::remove(path);
}

TEST(KernelLibrary, TheShimsFunctionsStayInside) {
  const auto library = KernelLibrary::open(test_kernels());
  ASSERT_TRUE(library.ok());
  for (const char* name : {"halide_malloc", "halide_free", "halide_do_par_for", "baton_mark_fenced"}) {
    EXPECT_EQ((*library)->symbol(name), nullptr) << name;
  }
}

TEST(KernelLibrary, RefusesWhatIsNone) {
  const auto missing = KernelLibrary::open("/nowhere/kernels.so");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.status().message.find("cannot open the kernels `/nowhere/kernels.so`: No such file"),
            std::string::npos);

  const auto foreign = KernelLibrary::open("/lib/x86_64-linux-gnu/libm.so.6");
  ASSERT_FALSE(foreign.ok());

  const std::vector<uint8_t> bytes = contents(test_kernels());
  for (size_t length = 0; length < bytes.size(); length += 97) {
    EXPECT_FALSE(KernelLibrary::from_memory(std::span(bytes).first(length)).ok()) << length;
  }
  EXPECT_FALSE(KernelLibrary::from_memory(std::span(bytes).first(bytes.size() - 1)).ok());
  EXPECT_FALSE(KernelLibrary::from_memory({}).ok());
}

int seven(void**) { return 7; }
int eight(void**) { return 8; }

TEST(KernelLibrary, FromFunctions) {
  auto alive = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = alive;
  auto library = KernelLibrary::from_functions({{"b", eight}, {"a", seven}}, std::move(alive));
  EXPECT_EQ(library->find("a"), &seven);
  EXPECT_EQ(library->find("b"), &eight);
  EXPECT_EQ(library->find("c"), nullptr);
  EXPECT_FALSE(watch.expired());
  library.reset();
  EXPECT_TRUE(watch.expired());
}

TEST(KernelShim, IsAnObjectFile) {
  const auto shim = kernel_shim_object();
  ASSERT_GT(shim.size(), 64u);
  EXPECT_EQ(std::string(shim.begin(), shim.begin() + 4),
            "\x7f"
            "ELF");
}

}  // namespace
}  // namespace baton
