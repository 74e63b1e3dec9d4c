// The simulated device `mirror` for runtime tests, with the kernels of test_kernels.c.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "baton/runtime/executor.h"
#include "baton/runtime/processor.h"

#include "test_paths.h"

namespace baton {

/// DLPack device type of mirror's device.
inline constexpr int kMirrorKind = 12;

inline const Plugin& mirror_plugin() {
  const Result<const Plugin*> found = Plugin::find("mirror");
  EXPECT_TRUE(found.ok()) << found.status().message;
  return **found;
}

inline std::string test_kernels_blob() {
  std::ifstream file(std::string(build_dir()) + "/generated/test_kernels.so", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::shared_ptr<const PluginModule> load_test_kernels(const Plugin& plugin) {
  const std::string blob = test_kernels_blob();
  auto module = PluginModule::load(plugin, {reinterpret_cast<const uint8_t*>(blob.data()), blob.size()});
  EXPECT_TRUE(module.ok()) << module.status().message;
  return *module;
}

/// The same kernels on the CPU and on mirror.
inline Executor::Modules on_both() {
  return {load_test_kernels(processor()), load_test_kernels(mirror_plugin())};
}

}  // namespace baton
