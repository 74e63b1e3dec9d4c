// Sheets of the processors that targets name.
#include "baton/target/processor_sheet.h"

#include <gtest/gtest.h>

#include "baton/support/error.h"

namespace baton {
namespace {

DeviceSheet host() {
  DeviceSheet sheet;
  sheet.name = "host";
  sheet.code_target = "x86-64-linux-sse41-avx";
  sheet.cores = 6;
  return sheet;
}

DeviceSheet sheet_of(const char* target) { return processor_sheet(*Target::parse(target), host()); }

TEST(ProcessorSheet, WithoutOptionsItIsTheHost) {
  for (const char* target : {"llvm", "llvm -mcpu=native", "llvm -mcpu=unheard-of"})
    EXPECT_EQ(sheet_of(target), host()) << target;
  EXPECT_FALSE(names_processor(*Target::parse("llvm")));
  EXPECT_FALSE(names_processor(*Target::parse("opencl -device=adreno")));
  EXPECT_TRUE(names_processor(*Target::parse("llvm -num-cores=3")));
  EXPECT_EQ(sheet_of("llvm -num-cores=3").cores, 3);
}

TEST(ProcessorSheet, FeaturesComeWithThoseTheyNeed) {
  const std::string v3 = "x86-64-linux-sse41-avx-f16c-fma-avx2", v4 = v3 + "-avx512-avx512_skylake";
  const std::pair<const char*, std::string> expected[] = {
      {"llvm -mtriple=x86_64-linux-gnu", "x86-64-linux"},
      {"llvm -mcpu=x86-64-v2", "x86-64-linux-sse41"},
      {"llvm -mcpu=haswell", v3},
      {"llvm -mcpu=x86-64-v4", v4},
      {"llvm -mcpu=knl", v3},
      {"llvm -mcpu=skylake-avx512 -mattr=-avx512vl", v3},
      {"llvm -mattr=+avx512f,+avx512bw,+avx512dq,+avx512vl", v4},
      {"llvm -mattr=+avx2", "x86-64-linux-sse41-avx-avx2"},
      // What Zen 4 and Sapphire Rapids have in common is no target of LLVM's.
      {"llvm -mcpu=znver4", "x86-64-linux-tune_znver4" + v4.substr(12) + "-avx512_cannonlake-avx512_zen4"},
      {"llvm -mcpu=graniterapids", v4 + "-avx512_cannonlake-avx512_sapphirerapids"},
      {"llvm -mcpu=icelake-server", v4 + "-avx512_cannonlake"},
      {"llvm -mcpu=sapphirerapids -mattr=-avx512bf16", v4},
      {"llvm -mcpu=znver2", "x86-64-linux-tune_znver2-sse41-avx-f16c-fma-avx2"},
      {"llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72", "arm-64-linux"},
      {"llvm -mtriple=aarch64-unknown-linux-gnu -mcpu=neoverse-n1", "arm-64-linux-arm_dot_prod"},
      {"llvm -target=aarch64-linux-gnu -mattr=+dotprod", "arm-64-linux-arm_dot_prod"},
      {"llvm -mtriple=riscv64-linux-gnu", "riscv-64-linux-rvv-vector_bits_128"}};
  for (const auto& [target, code] : expected) EXPECT_EQ(sheet_of(target).code_target, code) << target;
}

TEST(ProcessorSheet, WidthsFollowFromFeatures) {
  EXPECT_EQ(sheet_of("llvm -mcpu=x86-64-v2").float_lanes, 4);
  EXPECT_EQ(sheet_of("llvm -mcpu=x86-64-v3").float_lanes, 8);
  EXPECT_EQ(sheet_of("llvm -mcpu=x86-64-v4").float_lanes, 16);
  EXPECT_EQ(sheet_of("llvm -mcpu=x86-64-v4").vector_registers, 32);
  EXPECT_EQ(sheet_of("llvm -mtriple=aarch64-linux-gnu").vector_registers, 32);
  EXPECT_EQ(sheet_of("llvm -mtriple=aarch64-linux-gnu").cores, 6);
  EXPECT_NE(sheet_of("llvm -mcpu=x86-64-v3").code_hash(), sheet_of("llvm -mcpu=x86-64-v2").code_hash());
}

TEST(ProcessorSheet, RefusesWhatNoCodeIsMadeFor) {
  for (const char* target :
       {"llvm -mtriple=mips64-linux-gnu", "llvm -mtriple=aarch64-linux-android", "llvm -mcpu=cortex-a72",
        "llvm -mtriple=aarch64-linux-gnu -mcpu=native", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a7",
        "llvm -mtriple=riscv64-linux-gnu -mcpu=znver3", "llvm -mattr=avx2", "llvm -num-cores=many"})
    EXPECT_THROW(sheet_of(target), UsageError) << target;
}

}  // namespace
}  // namespace baton
