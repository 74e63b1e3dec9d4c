#include "baton/transform/layout/layout_config.h"

#include <algorithm>

namespace baton {

namespace {

struct Config {
  std::vector<int64_t> skip;
  int64_t met = 0;
};

std::vector<Config>& configs() {
  thread_local std::vector<Config> stack;
  return stack;
}

}  // namespace

void enter_layout_config(const std::vector<int64_t>& skip_layers) { configs().push_back({skip_layers}); }
void exit_layout_config() {
  if (!configs().empty()) configs().pop_back();
}

void reset_layout_config() {
  if (!configs().empty()) configs().back().met = 0;
}

bool layout_config_skips() {
  if (configs().empty()) return false;
  Config& config = configs().back();
  const int64_t number = config.met++;
  return std::ranges::find(config.skip, number) != config.skip.end();
}

}  // namespace baton
