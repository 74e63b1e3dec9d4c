#include "baton/target/processor_sheet.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/support/base/processor_features.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/target/processor.h"

namespace baton {
namespace {

/// Text of an option; numbers are written as they were. Empty when it is not given.
std::string text_option(const Target& target, std::string_view name) {
  for (const auto& [at, value] : target.attrs) {
    if (at != name) continue;
    const auto* number = std::get_if<int64_t>(&value);
    return number ? std::to_string(*number) : std::get<std::string>(value);
  }
  return "";
}

std::optional<int64_t> number_option(const Target& target, std::string_view name) {
  for (const auto& [at, value] : target.attrs)
    if (at == name && std::holds_alternative<int64_t>(value)) return std::get<int64_t>(value);
  return {};
}

std::string triple_of(const Target& target) {
  for (const char* name : {"mtriple", "target", "march"})
    if (std::string text = text_option(target, name); !text.empty()) return text;
  return "";
}

[[noreturn]] void refuse(const Target& target, const std::string& why) {
  throw UsageError("target \"" + target.asked() + "\": " + why);
}

enum class Machine { kX86, kArm, kRiscv };

/// The machine of "aarch64-linux-gnu", or of the architecture alone.
Machine machine_of(const Target& target, const std::string& triple) {
  const std::string_view arch = std::string_view(triple).substr(0, triple.find('-'));
  const std::string_view rest = std::string_view(triple).substr(std::min(arch.size(), triple.size()));
  constexpr const char* kList =
      "code is made for x86_64-linux-gnu, aarch64-linux-gnu and riscv64-linux-gnu (with the V extension)";
  const bool linux_triple = rest.empty() || triple == "x86-64" ||
                            (rest.find("linux") != rest.npos && rest.find("android") == rest.npos);
  if (!linux_triple) refuse(target, "`" + triple + "` is not a system of Linux; " + kList);
  if (arch == "x86_64" || arch == "amd64" || triple == "x86-64") return Machine::kX86;
  if (arch == "aarch64" || arch == "arm64") return Machine::kArm;
  if (arch == "riscv64" || arch == "riscv64gc" || arch == "riscv64gcv") return Machine::kRiscv;
  refuse(target, "there is no code generator for the architecture `" + std::string(arch) + "`; " + kList);
}

/// Adds or removes what -mattr says: "+avx2,+fma,-avx512f".
template <class Apply>
void each_attribute(const Target& target, Apply&& apply) {
  const std::string all = text_option(target, "mattr");
  std::string_view left = all;
  while (!left.empty()) {
    const size_t end = std::min(left.find(','), left.size());
    const std::string_view word = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    if (word.empty()) continue;
    if (word[0] != '+' && word[0] != '-')
      refuse(target, "-mattr takes features as +avx2,-fma, and not `" + std::string(word) + "`");
    apply(std::string(word.substr(1)), word[0] == '+');
  }
}

// Features of x86 by Halide's names. Each level has what those before it have; code generation relies on
// that. The last one has VNNI and BF16, and a name for each vendor: LLVM makes code for a processor of AMD or
// of Intel, which both have instructions that the other lacks (SSE4a; FP16).
constexpr std::array<std::string_view, 9> kX86Levels{
    "sse41", "avx", "f16c", "fma", "avx2", "avx512", "avx512_skylake", "avx512_cannonlake", "avx512_zen4"};
constexpr std::string_view kOfIntel = "avx512_sapphirerapids";
enum X86Level {
  kUpToNone,
  kUpToSse41,
  kUpToAvx,
  kUpToF16c,
  kUpToFma,
  kUpToAvx2,
  kUpToAvx512 = 7,
  kUpToCannonlake,
  kUpToBf16
};

struct NamedX86 {
  std::string_view name;
  X86Level level;
  std::string_view tune = {};
  std::string_view bf16 = kX86Levels[kUpToBf16 - 1];  // the name of the last level
};

// -mcpu's names of LLVM. Foundation AVX-512 without its byte and short vectors (knl, knm) is not told apart
// by Halide's code: they get AVX2.
constexpr NamedX86 kX86[] = {
    {"x86-64", kUpToNone},
    {"generic", kUpToNone},
    {"x86-64-v2", kUpToSse41},
    {"x86-64-v3", kUpToAvx2},
    {"x86-64-v4", kUpToAvx512},
    {"penryn", kUpToSse41},
    {"nehalem", kUpToSse41},
    {"corei7", kUpToSse41},
    {"westmere", kUpToSse41},
    {"silvermont", kUpToSse41},
    {"slm", kUpToSse41},
    {"goldmont", kUpToSse41},
    {"goldmont-plus", kUpToSse41},
    {"tremont", kUpToSse41},
    {"sandybridge", kUpToAvx},
    {"corei7-avx", kUpToAvx},
    {"bdver1", kUpToAvx},
    {"btver2", kUpToF16c, "tune_btver2"},
    {"ivybridge", kUpToF16c},
    {"core-avx-i", kUpToF16c},
    {"bdver2", kUpToFma},
    {"bdver3", kUpToFma},
    {"bdver4", kUpToAvx2},
    {"haswell", kUpToAvx2},
    {"core-avx2", kUpToAvx2},
    {"broadwell", kUpToAvx2},
    {"skylake", kUpToAvx2},
    {"alderlake", kUpToAvx2},
    {"raptorlake", kUpToAvx2},
    {"meteorlake", kUpToAvx2},
    {"arrowlake", kUpToAvx2},
    {"lunarlake", kUpToAvx2},
    {"sierraforest", kUpToAvx2},
    {"grandridge", kUpToAvx2},
    {"knl", kUpToAvx2},
    {"knm", kUpToAvx2},
    {"znver1", kUpToAvx2, "tune_znver1"},
    {"znver2", kUpToAvx2, "tune_znver2"},
    {"znver3", kUpToAvx2, "tune_znver3"},
    {"skylake-avx512", kUpToAvx512},
    {"skx", kUpToAvx512},
    {"cascadelake", kUpToAvx512},
    {"cooperlake", kUpToAvx512},
    {"cannonlake", kUpToCannonlake},
    {"icelake-client", kUpToCannonlake},
    {"icelake-server", kUpToCannonlake},
    {"tigerlake", kUpToCannonlake},
    {"rocketlake", kUpToCannonlake},
    {"sapphirerapids", kUpToBf16, {}, kOfIntel},
    {"emeraldrapids", kUpToBf16, {}, kOfIntel},
    {"graniterapids", kUpToBf16, {}, kOfIntel},
    {"znver4", kUpToBf16, "tune_znver4"},
    {"znver5", kUpToBf16, "tune_znver5"},
};

/// The features of code for an x86 processor: those of -mcpu, with -mattr's added and removed.
DeviceSheet x86_sheet(const Target& target, const std::string& cpu) {
  auto levels = kX86Levels;
  std::array<bool, levels.size()> has{};
  std::string_view tune;
  if (const auto* at = std::ranges::find(kX86, std::string_view(cpu), &NamedX86::name);
      at != std::end(kX86)) {
    std::fill_n(has.begin(), static_cast<size_t>(at->level), true);
    tune = at->tune;
    levels.back() = at->bf16;
  }
  bool bytes = has[kUpToAvx512 - 1], words = bytes, lengths = bytes;  // AVX512-BW, -DQ, -VL
  each_attribute(target, [&](const std::string& name, bool on) {
    constexpr std::pair<std::string_view, X86Level> kOne[] = {{"sse4.1", kUpToSse41}, {"sse4.2", kUpToSse41},
                                                              {"avx", kUpToAvx},      {"f16c", kUpToF16c},
                                                              {"fma", kUpToFma},      {"avx2", kUpToAvx2}};
    for (const auto& [attribute, level] : kOne)
      if (name == attribute) has[static_cast<size_t>(level) - 1] = on;
    if (name == "avx512bw") bytes = on;
    if (name == "avx512dq") words = on;
    if (name == "avx512vl") lengths = on;
    if (name == "avx512f" && !on) bytes = false;
    if (name.starts_with("avx512") && !on)
      std::fill(has.begin() + kUpToAvx512, has.end(), false);  // what is above the common part
  });
  const bool wide = bytes && words && lengths;
  has[kUpToAvx512 - 2] = has[kUpToAvx512 - 1] = wide;
  // LLVM's +avx2 brings AVX and SSE 4 along, and wide vectors all of these.
  if (wide) std::fill_n(has.begin(), static_cast<size_t>(kUpToAvx2), true);
  if (!wide) std::fill(has.begin() + kUpToAvx512, has.end(), false);
  if (has[kUpToAvx2 - 1] || has[kUpToFma - 1] || has[kUpToF16c - 1]) has[kUpToAvx - 1] = true;
  if (has[kUpToAvx - 1]) has[kUpToSse41 - 1] = true;
  DeviceSheet sheet;
  sheet.code_target = "x86-64-linux";
  if (!tune.empty()) sheet.code_target += "-" + std::string(tune);
  for (size_t i = 0; i < has.size(); ++i)
    if (has[i]) sheet.code_target += "-" + std::string(levels[i]);
  set_vector_widths(sheet);
  return sheet;
}

/// Whether processors of that name have the instructions of dot products of bytes.
bool has_dot_products(std::string_view cpu) {
  constexpr std::string_view kFirst[] = {
      "cortex-a55",  "cortex-a65",  "cortex-a75",  "cortex-a76",  "cortex-a77", "cortex-a78", "cortex-a510",
      "cortex-a520", "cortex-a710", "cortex-a715", "cortex-a720", "cortex-x",   "neoverse-",  "apple-m",
      "apple-a13",   "apple-a14",   "apple-a15",   "apple-a16",   "apple-a17",  "ampere1"};
  return std::ranges::any_of(kFirst, [&](std::string_view name) { return cpu.starts_with(name); });
}

DeviceSheet arm_sheet(const Target& target, const std::string& cpu) {
  constexpr std::string_view k32Bits[] = {"cortex-a5",  "cortex-a7",  "cortex-a8",  "cortex-a9",
                                          "cortex-a12", "cortex-a15", "cortex-a17", "cortex-a32"};
  if (std::ranges::count(k32Bits, cpu) || cpu.starts_with("cortex-m") || cpu.starts_with("cortex-r"))
    refuse(target,
           "`" + cpu +
               "` is a processor of 32 bits; code is made for those of 64 (cortex-a53, cortex-a72, ...)");
  bool dot = has_dot_products(cpu);
  each_attribute(target, [&](const std::string& name, bool on) {
    if (name == "dotprod") dot = on;
  });
  DeviceSheet sheet;
  sheet.code_target = dot ? "arm-64-linux-arm_dot_prod" : "arm-64-linux";
  sheet.l2_bytes = 512 << 10;
  sheet.l3_bytes = 4 << 20;
  set_vector_widths(sheet);
  return sheet;
}

/// Scalar code: lanes are unrolled (codegen/compile.cc). Halide makes none without the V extension, though,
/// and LLVM may use it to move data: it is for vectors of 128 bits.
DeviceSheet riscv_sheet(const Target& target) {
  each_attribute(target, [&](const std::string& name, bool on) {
    if (name == "v" && !on)
      refuse(target, "code for riscv64 needs the V extension: Halide makes none without it");
    if (on && name.starts_with("zvl") && name != "zvl128b" && name != "zvl64b" && name != "zvl32b")
      refuse(target, "code for riscv64 is for vectors of 128 bits (zvl128b), not for `" + name + "`");
  });
  DeviceSheet sheet;
  sheet.code_target = "riscv-64-linux-rvv-vector_bits_128";
  sheet.l2_bytes = 512 << 10;
  sheet.l3_bytes = 4 << 20;
  set_vector_widths(sheet);
  sheet.vector_registers = 8;  // 32 scalar ones, of four lanes each
  return sheet;
}

// Features by LLVM's names. Those that this file does not look at change no code.
constexpr std::string_view kX86Features[] = {"64bit",
                                             "adx",
                                             "aes",
                                             "allow-light-256-bit",
                                             "amx-bf16",
                                             "amx-complex",
                                             "amx-fp16",
                                             "amx-int8",
                                             "amx-tile",
                                             "avx",
                                             "avx2",
                                             "avx512bf16",
                                             "avx512bitalg",
                                             "avx512bw",
                                             "avx512cd",
                                             "avx512dq",
                                             "avx512er",
                                             "avx512f",
                                             "avx512fp16",
                                             "avx512ifma",
                                             "avx512pf",
                                             "avx512vbmi",
                                             "avx512vbmi2",
                                             "avx512vl",
                                             "avx512vnni",
                                             "avx512vp2intersect",
                                             "avx512vpopcntdq",
                                             "avxifma",
                                             "avxneconvert",
                                             "avxvnni",
                                             "avxvnniint16",
                                             "avxvnniint8",
                                             "bmi",
                                             "bmi2",
                                             "cldemote",
                                             "clflushopt",
                                             "clwb",
                                             "clzero",
                                             "cmov",
                                             "cmpccxadd",
                                             "crc32",
                                             "cx16",
                                             "cx8",
                                             "enqcmd",
                                             "ermsb",
                                             "evex512",
                                             "f16c",
                                             "fma",
                                             "fma4",
                                             "fsgsbase",
                                             "fsrm",
                                             "fxsr",
                                             "gfni",
                                             "hreset",
                                             "invpcid",
                                             "kl",
                                             "lwp",
                                             "lzcnt",
                                             "mmx",
                                             "movbe",
                                             "movdir64b",
                                             "movdiri",
                                             "mwaitx",
                                             "pclmul",
                                             "pconfig",
                                             "pku",
                                             "popcnt",
                                             "prefer-256-bit",
                                             "prefer-128-bit",
                                             "prefetchi",
                                             "prfchw",
                                             "ptwrite",
                                             "raoint",
                                             "rdpid",
                                             "rdpru",
                                             "rdrnd",
                                             "rdseed",
                                             "retpoline",
                                             "rtm",
                                             "sahf",
                                             "serialize",
                                             "sgx",
                                             "sha",
                                             "sha512",
                                             "shstk",
                                             "sm3",
                                             "sm4",
                                             "soft-float",
                                             "sse",
                                             "sse2",
                                             "sse3",
                                             "sse4.1",
                                             "sse4.2",
                                             "sse4a",
                                             "ssse3",
                                             "tbm",
                                             "tsxldtrk",
                                             "uintr",
                                             "usermsr",
                                             "vaes",
                                             "vpclmulqdq",
                                             "vzeroupper",
                                             "waitpkg",
                                             "wbnoinvd",
                                             "widekl",
                                             "x87",
                                             "xop",
                                             "xsave",
                                             "xsavec",
                                             "xsaveopt",
                                             "xsaves"};
constexpr std::string_view kArmFeatures[] = {"aes",
                                             "altnzcv",
                                             "bf16",
                                             "brbe",
                                             "bti",
                                             "ccdp",
                                             "ccpp",
                                             "chk",
                                             "complxnum",
                                             "cpa",
                                             "crc",
                                             "crypto",
                                             "cssc",
                                             "d128",
                                             "dotprod",
                                             "ecv",
                                             "ete",
                                             "f32mm",
                                             "f64mm",
                                             "faminmax",
                                             "fgt",
                                             "flagm",
                                             "fp-armv8",
                                             "fp16fml",
                                             "fp8",
                                             "fptoint",
                                             "fullfp16",
                                             "gcs",
                                             "hbc",
                                             "i8mm",
                                             "jsconv",
                                             "lor",
                                             "ls64",
                                             "lse",
                                             "lse128",
                                             "lse2",
                                             "lut",
                                             "mec",
                                             "mops",
                                             "mpam",
                                             "mte",
                                             "neon",
                                             "nmi",
                                             "outline-atomics",
                                             "pan",
                                             "pan-rwv",
                                             "pauth",
                                             "perfmon",
                                             "predres",
                                             "prfm-slc-target",
                                             "rand",
                                             "ras",
                                             "rasv2",
                                             "rcpc",
                                             "rcpc-immo",
                                             "rcpc3",
                                             "rdm",
                                             "rme",
                                             "sb",
                                             "sel2",
                                             "sha2",
                                             "sha3",
                                             "sm4",
                                             "spe",
                                             "specrestrict",
                                             "ssbs",
                                             "strict-align",
                                             "tagged-globals",
                                             "the",
                                             "tlb-rmi",
                                             "tme",
                                             "tracev8.4",
                                             "trbe",
                                             "uaops",
                                             "vh",
                                             "wfxt",
                                             "xs"};
constexpr std::string_view kRiscvFeatures[] = {"64bit",
                                               "a",
                                               "b",
                                               "c",
                                               "d",
                                               "e",
                                               "f",
                                               "forced-atomics",
                                               "h",
                                               "i",
                                               "m",
                                               "relax",
                                               "save-restore",
                                               "unaligned-scalar-mem",
                                               "unaligned-vector-mem",
                                               "v"};

bool is_known_feature(Machine machine, std::string_view name) {
  const auto begins = [&](std::initializer_list<std::string_view> families) {
    return std::ranges::any_of(families, [&](std::string_view family) { return name.starts_with(family); });
  };
  switch (machine) {
    case Machine::kX86:
      return std::ranges::count(kX86Features, name) > 0 || begins({"tuning-", "fast-", "slow-"});
    case Machine::kArm:
      return std::ranges::count(kArmFeatures, name) > 0 ||
             begins({"sve", "sme", "ssve", "v8", "v9", "reserve-x"});
    case Machine::kRiscv:
      return std::ranges::count(kRiscvFeatures, name) > 0 || begins({"z", "s", "x", "reserve-x"});
  }
  return true;
}

std::vector<std::string> known_features(Machine machine) {
  if (machine == Machine::kX86) return {std::begin(kX86Features), std::end(kX86Features)};
  if (machine == Machine::kArm) return {std::begin(kArmFeatures), std::end(kArmFeatures)};
  return {std::begin(kRiscvFeatures), std::end(kRiscvFeatures)};
}

/// Throws UsageError for a feature that LLVM has no name for: nothing would come of it.
void check_features(const Target& target, Machine machine) {
  each_attribute(target, [&](const std::string& name, bool) {
    if (is_known_feature(machine, name)) return;
    const std::string near = did_you_mean(name, known_features(machine));
    refuse(target, "-mattr: there is no feature `" + name + "` of such processors" +
                       (near.empty() ? "" : "; did you mean `" + near + "`?"));
  });
}

/// Whether LLVM's processor of that name belongs to the machine; true for names of no machine.
bool belongs(Machine machine, const std::string& cpu) {
  if (cpu.empty() || cpu == "generic") return true;
  constexpr std::string_view kArm[] = {"cortex-", "neoverse-", "apple-", "exynos-", "thunderx",
                                       "kryo",    "falkor",    "ampere", "carmel",  "a64fx"};
  const auto starts = [&](std::string_view family) { return cpu.starts_with(family); };
  const bool x86 = std::ranges::find(kX86, std::string_view(cpu), &NamedX86::name) != std::end(kX86);
  const bool arm = std::ranges::any_of(kArm, starts), riscv = starts("sifive-") || starts("generic-rv");
  if (!x86 && !arm && !riscv) return true;
  return machine == Machine::kX86 ? x86 : machine == Machine::kArm ? arm : riscv;
}

const char* triple_name(Machine machine) {
  return machine == Machine::kX86   ? "x86_64-linux-gnu"
         : machine == Machine::kArm ? "aarch64-linux-gnu"
                                    : "riscv64-linux-gnu";
}

}  // namespace

bool names_processor(const Target& target) {
  if (target.kind != "llvm") return false;
  return !triple_of(target).empty() || !text_option(target, "mcpu").empty() ||
         !text_option(target, "mattr").empty() || !text_option(target, "num-cores").empty();
}

void require_known_processor(const Target& target) {
  const std::string cpu = text_option(target, "mcpu");
  const bool x86 = std::ranges::find(kX86, std::string_view(cpu), &NamedX86::name) != std::end(kX86);
  if (target.kind != "llvm" || x86 || is_known_processor(target)) return;
  std::vector<std::string> names;
  for (const NamedX86& each : kX86) names.emplace_back(each.name);
  const std::string near = did_you_mean(cpu, names);
  refuse(target, "-mcpu: no processor is known as `" + cpu + "`" +
                     (near.empty() ? "; -mcpu=native is this machine's, x86-64-v3 and the like are levels"
                                   : "; did you mean `" + near + "`?"));
}

DeviceSheet processor_sheet(const Target& target, const DeviceSheet& host) {
  const std::string triple = triple_of(target), cpu = text_option(target, "mcpu");
  const std::string_view here = host.code_target;
  const Machine own = here.starts_with("x86-64")   ? Machine::kX86
                      : here.starts_with("arm-64") ? Machine::kArm
                                                   : Machine::kRiscv;
  const Machine machine = triple.empty() ? own : machine_of(target, triple);
  if (cpu == "native" && machine != own)
    refuse(target, "-mcpu=native is this machine's processor, which is none of " + triple);
  for (const Machine other : {Machine::kX86, Machine::kArm, Machine::kRiscv})
    if (!belongs(machine, cpu) && belongs(other, cpu))
      refuse(target, "`" + cpu + "` is a processor of " + triple_name(other) +
                         ": write -mtriple=" + triple_name(other) + (triple.empty() ? " too" : ""));
  DeviceSheet sheet;
  check_features(target, machine);
  if (!triple.empty()) require_known_processor(target);
  const bool unknown = triple.empty() && !is_known_processor(target);
  if (cpu == "native" || unknown || (triple.empty() && cpu.empty() && text_option(target, "mattr").empty())) {
    sheet = host;
  } else {
    sheet = machine == Machine::kX86   ? x86_sheet(target, cpu)
            : machine == Machine::kArm ? arm_sheet(target, cpu)
                                       : riscv_sheet(target);
    sheet.cores = host.cores;
    const std::string name = target.asked();
    const bool runs_here = missing_features(sheet.code_target).empty();
    sheet.name = runs_here ? host.name + ", code for " + name : name;
    if (runs_here) sheet.processor = host.processor;
  }
  if (!text_option(target, "num-cores").empty()) {
    const auto cores = number_option(target, "num-cores");
    if (!cores || *cores < 1 || *cores > 4096)
      refuse(target, "-num-cores takes a number of cores from 1 to 4096");
    sheet.cores = static_cast<int>(*cores);
  }
  return sheet;
}

}  // namespace baton
