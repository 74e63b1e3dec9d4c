#include "baton/target/processor.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace baton {

namespace {

// Processors by LLVM's names.
constexpr std::array<std::string_view, 16> kAvx512{
    "skylake-avx512", "skx",           "knl",        "knm",
    "cannonlake",     "cascadelake",   "cooperlake", "icelake-client",
    "icelake-server", "tigerlake",     "rocketlake", "sapphirerapids",
    "emeraldrapids",  "graniterapids", "znver4",     "znver5"};
constexpr std::array<std::string_view, 16> kAvx2{"haswell",   "core-avx2",    "broadwell",  "skylake",
                                                 "znver1",    "znver2",       "znver3",     "bdver4",
                                                 "alderlake", "raptorlake",   "meteorlake", "arrowlake",
                                                 "lunarlake", "sierraforest", "grandridge", "x86-64-v3"};
constexpr std::array<std::string_view, 11> kVnni{
    "cascadelake",    "cooperlake",    "icelake-client", "icelake-server", "tigerlake", "rocketlake",
    "sapphirerapids", "emeraldrapids", "graniterapids",  "znver4",         "znver5"};

constexpr std::array<std::string_view, 16> kSse42{"nehalem",    "westmere",  "corei7",        "sandybridge",
                                                  "corei7-avx", "ivybridge", "core-avx-i",    "silvermont",
                                                  "slm",        "goldmont",  "goldmont-plus", "tremont",
                                                  "btver2",     "bdver1",    "bdver2",        "x86-64-v2"};

// Processors of x86 without SSE 4.2, and names of any machine's.
constexpr std::array<std::string_view, 22> kOther{
    "generic",   "native",   "x86-64",  "x86-64-v4", "core2",    "penryn",  "nocona",   "prescott",
    "yonah",     "atom",     "bonnell", "k8",        "k8-sse3",  "opteron", "athlon64", "athlon-fx",
    "barcelona", "amdfam10", "btver1",  "bdver3",    "pentium4", "i686"};
// Families of other machines.
constexpr std::array<std::string_view, 14> kFamilies{"cortex-", "neoverse-", "apple-",  "exynos-", "thunderx",
                                                     "kryo",    "falkor",    "ampere",  "carmel",  "a64fx",
                                                     "sifive-", "generic-",  "hexagon", "pwr"};

template <size_t N>
bool among(const std::array<std::string_view, N>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::string option(const Target& target, std::string_view name) {
  for (const auto& [at, value] : target.attrs)
    if (at == name && std::holds_alternative<std::string>(value)) return std::get<std::string>(value);
  return "";
}

bool has_feature(const Target& target, const char* feature) {
  return option(target, "mattr").find(std::string("+") + feature) != std::string::npos;
}

}  // namespace

int float_lanes(const Target& target) {
  const std::string cpu = option(target, "mcpu");
  if (among(kAvx512, cpu) || has_feature(target, "avx512f")) return 16;
  if (among(kAvx2, cpu) || has_feature(target, "avx2")) return 8;
  return 4;
}

bool has_sse42(const Target& target) {
  if (float_lanes(target) > 4 || among(kSse42, option(target, "mcpu"))) return true;
  return has_feature(target, "sse4.2") || has_feature(target, "avx");
}

bool is_known_processor(const Target& target) {
  const std::string cpu = option(target, "mcpu");
  return cpu.empty() || among(kAvx512, cpu) || among(kAvx2, cpu) || among(kVnni, cpu) || among(kSse42, cpu) ||
         among(kOther, cpu) ||
         std::ranges::any_of(kFamilies, [&](std::string_view family) { return cpu.starts_with(family); });
}

bool has_vnni(const Target& target) {
  return among(kVnni, option(target, "mcpu")) || has_feature(target, "avx512vnni");
}

}  // namespace baton
