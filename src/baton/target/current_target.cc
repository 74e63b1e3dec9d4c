#include "baton/target/current_target.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <vector>

#include "baton/support/error.h"

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

std::vector<Target>& targets() {
  thread_local std::vector<Target> stack;
  return stack;
}

}  // namespace

Target::Target(const std::string& text) : text_(text) {
  std::istringstream words(text);
  words >> kind_;
  if (kind_.empty()) throw UsageError("a target such as \"llvm\" is expected, not \"" + text + "\"");
  for (std::string word; words >> word;) {
    const size_t name = word.find_first_not_of('-'), equal = word.find('=');
    if (name == std::string::npos) continue;
    options_[word.substr(name, equal == std::string::npos ? equal : equal - name)] =
        equal == std::string::npos ? "1" : word.substr(equal + 1);
  }
}

std::string Target::option(const std::string& name) const {
  const auto found = options_.find(name);
  return found == options_.end() ? std::string() : found->second;
}

int Target::float_lanes() const {
  const std::string cpu = option("mcpu");
  if (among(kAvx512, cpu) || has_feature(*this, "avx512f")) return 16;
  if (among(kAvx2, cpu) || has_feature(*this, "avx2")) return 8;
  return 4;
}

bool Target::has_vnni() const { return among(kVnni, option("mcpu")) || has_feature(*this, "avx512vnni"); }

const Target* Target::current() { return targets().empty() ? nullptr : &targets().back(); }

void enter_target(const std::string& text) { targets().emplace_back(text); }
void exit_target() {
  if (!targets().empty()) targets().pop_back();
}

}  // namespace baton
