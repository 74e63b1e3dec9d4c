// What a target's processor can do, and which target is the current one.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "baton/target/target.h"

namespace baton {

namespace {

// Processors by LLVM's names.
constexpr std::array<std::string_view, 16> kAvx512{
    "skylake-avx512", "skx",       "knl",        "knm",          "cannonlake",     "cascadelake",    "cooperlake",     "icelake-client",
    "icelake-server", "tigerlake", "rocketlake", "sapphirerapids", "emeraldrapids", "graniterapids", "znver4", "znver5"};
constexpr std::array<std::string_view, 16> kAvx2{
    "haswell", "core-avx2", "broadwell", "skylake", "znver1", "znver2", "znver3", "bdver4",
    "alderlake", "raptorlake", "meteorlake", "arrowlake", "lunarlake", "sierraforest", "grandridge", "x86-64-v3"};
constexpr std::array<std::string_view, 11> kVnni{
    "cascadelake", "cooperlake", "icelake-client", "icelake-server", "tigerlake", "rocketlake", "sapphirerapids", "emeraldrapids",
    "graniterapids", "znver4", "znver5"};

template <size_t N>
bool among(const std::array<std::string_view, N>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool has_feature(const Target& target, const std::string& feature) {
  return target.option("mattr").find("+" + feature) != std::string::npos;
}

std::vector<TargetRef>& targets() {
  thread_local std::vector<TargetRef> stack;
  return stack;
}

}  // namespace

std::string Target::option(std::string_view name) const {
  for (const auto& [at, value] : attrs) {
    if (at != name) continue;
    const auto* number = std::get_if<int64_t>(&value);
    return number ? std::to_string(*number) : std::get<std::string>(value);
  }
  return "";
}

int Target::float_lanes() const {
  const std::string cpu = option("mcpu");
  if (among(kAvx512, cpu) || has_feature(*this, "avx512f")) return 16;
  if (among(kAvx2, cpu) || has_feature(*this, "avx2")) return 8;
  return 4;
}

bool Target::has_vnni() const { return among(kVnni, option("mcpu")) || has_feature(*this, "avx512vnni"); }

const Target* Target::current() { return targets().empty() ? nullptr : targets().back().get(); }

void enter_target(TargetRef target) { targets().push_back(std::move(target)); }
void exit_target() {
  if (!targets().empty()) targets().pop_back();
}

}  // namespace baton
