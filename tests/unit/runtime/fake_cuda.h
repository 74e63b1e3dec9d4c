#pragma once
// Tests over the stand-in for CUDA's driver (fake_cuda/), which interprets kernels. A driver is looked for
// once in a process, so each test is a process of its own.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "baton/driver/initialize.h"

#include "test_paths.h"

namespace baton {

/// Environment variables of the stand-in.
using Settings = std::vector<std::pair<const char*, const char*>>;

/// Loads it under the driver's name, before anyone looks for a driver. `age`: "new", or "old", which lacks a
/// function.
inline void load_stand_in(const char* age, const Settings& settings) {
  for (const auto& [name, value] : settings) setenv(name, value, 1);
  const std::string path = std::string(build_dir()) + "/generated/fake_cuda/" + age + "/libcuda.so.1";
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) ADD_FAILURE() << dlerror();
  initialize();
}

/// Ends the child process, successfully when nothing failed in it.
[[noreturn]] inline void end_child() {
  const testing::TestResult& result = *testing::UnitTest::GetInstance()->current_test_info()->result();
  for (int i = 0; i < result.total_part_count(); ++i)
    if (result.GetTestPartResult(i).failed())
      std::fprintf(stderr, "%s\n", result.GetTestPartResult(i).message());
  std::fflush(nullptr);
  std::_Exit(testing::Test::HasFailure() ? 1 : 0);
}

/// Runs `body` in a fresh process with the stand-in. There, failures are printed, and decide on its exit
/// code.
#define IN_A_PROCESS_WITH_A_DRIVER(settings, ...) \
  GTEST_FLAG_SET(death_test_style, "threadsafe"); \
  EXPECT_EXIT(                                    \
      {                                           \
        load_stand_in("new", settings);           \
        (__VA_ARGS__)();                          \
        end_child();                              \
      },                                          \
      testing::ExitedWithCode(0), "")

/// Bytes of its memory that are allocated.
inline size_t used_bytes() {
  return reinterpret_cast<size_t (*)()>(dlsym(RTLD_DEFAULT, "fake_cuda_used_bytes"))();
}

}  // namespace baton
