#include "baton/support/base/processor_features.h"

#include <algorithm>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace baton {

#if defined(__x86_64__)

namespace {

struct CpuidRegisters {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

CpuidRegisters features_leaf(unsigned leaf, unsigned subleaf = 0) {
  CpuidRegisters r;
  if (!__get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d)) return {};
  return r;
}

constexpr bool has_bit(unsigned word, int index) { return (word >> index & 1) != 0; }

/// The register state saved by the operating system: without it, vector instructions fault.
uint64_t saved_state() {
  if (!has_bit(features_leaf(1).c, 27)) return 0;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

}  // namespace

std::string_view processor_machine() { return "x86-64-linux"; }

std::string processor_tuning() {
  const CpuidRegisters vendor = features_leaf(0), model = features_leaf(1);
  if (vendor.b != signature_AMD_ebx) return "";
  const unsigned family = (model.a >> 8 & 0xF) + (model.a >> 20 & 0xFF);
  const unsigned number = (model.a >> 4 & 0xF) | (model.a >> 12 & 0xF0);
  if (family == 0x17) return number >= 0x30 ? "tune_znver2" : "tune_znver1";
  if (family == 0x19)
    return (number >= 0x10 && number <= 0x1F) || number >= 0x60 ? "tune_znver4" : "tune_znver3";
  if (family == 0x1A) return "tune_znver5";
  return "";
}

std::vector<std::string> processor_features() {
  const CpuidRegisters one = features_leaf(1), seven = features_leaf(7), seven_one = features_leaf(7, 1);
  const uint64_t state = saved_state();
  const bool ymm = (state & 0x6) == 0x6, zmm = (state & 0xE6) == 0xE6;
  std::vector<std::string> names;
  if (has_bit(one.c, 19)) names.emplace_back("sse41");
  if (!ymm || !has_bit(one.c, 28)) return names;
  names.emplace_back("avx");
  if (has_bit(one.c, 29)) names.emplace_back("f16c");
  if (has_bit(one.c, 12)) names.emplace_back("fma");
  if (!has_bit(seven.b, 5)) return names;
  names.emplace_back("avx2");
  const bool vnni = has_bit(seven.c, 11), bf16 = has_bit(seven_one.a, 5);
  const bool foundation = zmm && has_bit(seven.b, 16) && has_bit(seven.b, 28);  // F, CD
  const bool skylake =
      foundation && has_bit(seven.b, 31) && has_bit(seven.b, 30) && has_bit(seven.b, 17);  // VL, BW, DQ
  const bool cannonlake = skylake && has_bit(seven.b, 21) && has_bit(seven.c, 1);          // IFMA, VBMI
  const bool zen4 =
      cannonlake && vnni && bf16 && has_bit(seven.c, 6) && has_bit(seven.c, 12) && has_bit(seven.c, 14);
  if (foundation) names.emplace_back("avx512");
  if (skylake) names.emplace_back("avx512_skylake");
  if (cannonlake) names.emplace_back("avx512_cannonlake");
  if (zen4) names.emplace_back("avx512_zen4");
  return names;
}

#elif defined(__aarch64__)

std::string_view processor_machine() { return "arm-64-linux"; }
std::string processor_tuning() { return ""; }
std::vector<std::string> processor_features() { return {}; }

#else
#error "Baton knows no Halide target for this processor; add one to support/base/processor_features.cc"
#endif

std::vector<std::string> missing_features(std::string_view code_target) {
  const std::string_view machine = processor_machine();
  if (!code_target.starts_with(machine)) return {std::string(code_target)};
  const std::vector<std::string> has = processor_features();
  std::vector<std::string> missing;
  for (size_t at = machine.size(); at < code_target.size();) {
    const size_t end = std::min(code_target.find('-', at + 1), code_target.size());
    std::string name(code_target.substr(at + 1, end - at - 1));
    at = end;
    // A scheduling model orders instructions, and needs none.
    if (name.starts_with("tune_") || std::find(has.begin(), has.end(), name) != has.end()) continue;
    missing.push_back(std::move(name));
  }
  return missing;
}

}  // namespace baton
