#pragma once
// What tests of the backend `cuda` need of this machine: ptxas, NVIDIA's assembler, of the wheel
// nvidia-cuda-nvcc-cu12 or on PATH. It needs no device.
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <unistd.h>

#include "baton/runtime/plugin.h"
#include "baton/support/subprocess.h"

#include "test_paths.h"

namespace baton {

/// DLPack's type of CUDA devices.
inline constexpr int kCudaKind = 2;

/// Why models cannot run on a CUDA device here; empty when they can.
inline std::string cuda_missing() {
  const Result<const Plugin*> plugin = Plugin::find("cuda");
  return plugin.ok() ? (*plugin)->has_device(kCudaKind, 0).message : plugin.status().message;
}

/// Tests that need a device of NVIDIA's: skipped where there is none, as on most machines that build Baton.
class OnCudaDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = cuda_missing(); !why.empty()) GTEST_SKIP() << why;
  }
};

/// The path of ptxas; empty when it is not here.
inline std::string ptxas() {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path libraries = fs::path(build_dir()).parent_path() / "venv" / "lib";
  for (const fs::directory_entry& python : fs::directory_iterator(libraries, none)) {
    const fs::path path = python.path() / "site-packages" / "nvidia" / "cuda_nvcc" / "bin" / "ptxas";
    if (fs::exists(path, none)) return path.string();
  }
  return find_program("ptxas");
}

/// What ptxas says against the text for an architecture such as "sm_80"; empty when it assembles. Functions
/// that the text does not define are refused, too.
inline std::string assembly_error(std::string_view ptx, const std::string& arch) {
  namespace fs = std::filesystem;
  const fs::path stem = fs::temp_directory_path() / ("baton-ptx-" + std::to_string(getpid()));
  const std::string text = stem.string() + ".ptx", said = stem.string() + ".log";
  std::ofstream(text, std::ios::binary) << ptx;
  const int code = run_program({ptxas(), "-arch=" + arch, text, "-o", "/dev/null"}, said);
  const std::string error = code == 0 ? "" : "ptxas gives " + std::to_string(code) + ": " + start_of(said);
  fs::remove(text);
  fs::remove(said);
  return error;
}

}  // namespace baton
