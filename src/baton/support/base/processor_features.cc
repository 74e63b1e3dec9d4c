#include "baton/support/base/processor_features.h"

#include <algorithm>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) || defined(__riscv)
#include <sys/auxv.h>
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
  // And VBMI2, GFNI, BITALG, VPOPCNTDQ.
  const bool later = cannonlake && vnni && bf16 && has_bit(seven.c, 6) && has_bit(seven.c, 8) &&
                     has_bit(seven.c, 12) && has_bit(seven.c, 14);
  if (foundation) names.emplace_back("avx512");
  if (skylake) names.emplace_back("avx512_skylake");
  if (cannonlake) names.emplace_back("avx512_cannonlake");
  // Code for Zen 4 has instructions that no processor of Intel knows, and the other way round.
  if (later && has_bit(features_leaf(0x80000001).c, 6))  // SSE4a
    names.emplace_back("avx512_zen4");
  else if (later && has_bit(seven.d, 23) && has_bit(seven_one.a, 4))  // FP16, AVX-VNNI
    names.emplace_back("avx512_sapphirerapids");
  return names;
}

#elif defined(__aarch64__)

std::string_view processor_machine() { return "arm-64-linux"; }
std::string processor_tuning() { return ""; }

std::vector<std::string> processor_features() {
  constexpr unsigned long kDotProducts = 1UL << 20;  // HWCAP_ASIMDDP
  if (getauxval(AT_HWCAP) & kDotProducts) return {"arm_dot_prod"};
  return {};
}

#elif defined(__riscv) && __riscv_xlen == 64

std::string_view processor_machine() { return "riscv-64-linux"; }
std::string processor_tuning() { return ""; }

std::vector<std::string> processor_features() {
  constexpr unsigned long kVectors = 1UL << ('V' - 'A');
  if (!(getauxval(AT_HWCAP) & kVectors)) return {};
  unsigned long bytes = 0;                       // of a vector register: code is made for one length
  asm volatile("csrr %0, 0xc22" : "=r"(bytes));  // vlenb
  return {"rvv", "vector_bits_" + std::to_string(8 * bytes)};
}

#else
#error "Baton knows no Halide target for this processor; add one to support/base/processor_features.cc"
#endif

namespace {

/// The words of "-sse41-avx".
std::vector<std::string> words_of(std::string_view features) {
  std::vector<std::string> words;
  for (size_t at = 0; at < features.size();) {
    const size_t end = std::min(features.find('-', at + 1), features.size());
    words.emplace_back(features.substr(at + 1, end - at - 1));
    at = end;
  }
  return words;
}

/// The architecture, as compilers call it, that "arm-64-linux-arm_dot_prod" is for.
std::string architecture_of(std::string_view code_target) {
  if (code_target.starts_with("x86-64-")) return "x86-64";
  if (code_target.starts_with("arm-64-")) return "aarch64";
  if (code_target.starts_with("riscv-64-")) return "riscv64";
  return std::string(code_target.substr(0, code_target.find('-')));
}

}  // namespace

std::vector<std::string> missing_features(std::string_view code_target) {
  const std::string_view machine = processor_machine();
  if (!code_target.starts_with(machine)) return {std::string(code_target)};
  const std::vector<std::string> has = processor_features();
  std::vector<std::string> missing;
  for (std::string& name : words_of(code_target.substr(machine.size()))) {
    // A scheduling model orders instructions, and needs none.
    if (name.starts_with("tune_") || std::find(has.begin(), has.end(), name) != has.end()) continue;
    missing.push_back(std::move(name));
  }
  return missing;
}

std::string why_not_here(std::string_view code_target) {
  std::string names;
  for (const std::string& name : missing_features(code_target)) names += (names.empty() ? "" : ", ") + name;
  if (names.empty()) return "";
  const std::string built = "the model's kernels were built for another processor",
                    there = architecture_of(code_target), here = architecture_of(processor_machine());
  if (there != here)
    return built + ", " + there + " (" + std::string(code_target) + "), and this one is " + here;
  return built + " (" + std::string(code_target) + "): this one lacks " + names;
}

}  // namespace baton
