#include "baton/pass/timing.h"

#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

#include "baton/support/log.h"

namespace baton {

namespace {

using Clock = std::chrono::steady_clock;

struct Profile {
  std::string name;
  Clock::time_point start;
  double us = 0;
  std::vector<Profile> children;
};

}  // namespace

struct PassTimingInstrument::Tree {
  Profile root;
  std::vector<size_t> open;  // the path from the root to the running pass

  Profile& innermost() {
    Profile* at = &root;
    for (const size_t child : open) at = &at->children[child];
    return *at;
  }
};

struct PassTimingInstrument::Trees {
  std::mutex mutex;
  std::map<std::thread::id, Tree> by_thread;
};

PassTimingInstrument::PassTimingInstrument() : trees_(std::make_unique<Trees>()) {}
PassTimingInstrument::~PassTimingInstrument() = default;

PassTimingInstrument::Tree& PassTimingInstrument::tree() const {
  const std::lock_guard lock(trees_->mutex);
  return trees_->by_thread[std::this_thread::get_id()];
}

namespace {

double sum_of_children(const Profile& profile) {
  double sum = 0;
  for (const Profile& child : profile.children) sum += child.us;
  return sum;
}

std::string rounded(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string percent(double part, double whole) { return rounded(part / whole * 100, 2) + "%"; }

}  // namespace

void PassTimingInstrument::run_before_pass(const IRModule&, const PassInfo& info) {
  Profile& parent = tree().innermost();
  parent.children.push_back({info.name, {}, 0, {}});
  tree().open.push_back(parent.children.size() - 1);
  tree().innermost().start = Clock::now();
}

void PassTimingInstrument::run_after_pass(const IRModule&, const PassInfo&) {
  const auto now = Clock::now();
  if (tree().open.empty()) return;  // the instrument was entered while a pass was running
  Profile& profile = tree().innermost();
  profile.us = std::chrono::duration<double, std::micro>(now - profile.start).count();
  tree().open.pop_back();
}

void PassTimingInstrument::exit_pass_ctx() {
  const std::lock_guard lock(trees_->mutex);
  trees_->by_thread.erase(std::this_thread::get_id());
}

std::string PassTimingInstrument::render() const {
  const Profile& root = tree().root;
  if (root.children.empty()) {
    log_line("Warning: no passes have been profiled, did you enable pass profiling?");
    return "";
  }
  if (!tree().open.empty()) throw Error("cannot print pass profile while still in a pass!");
  const double all = sum_of_children(root);
  struct Line {
    const Profile* profile;
    double parent_us;
    size_t depth;
  };
  std::vector<Line> todo;
  const auto push_children = [&](const Profile& profile, double us, size_t depth) {
    for (auto child = profile.children.rbegin(); child != profile.children.rend(); ++child)
      todo.push_back({&*child, us, depth});
  };
  push_children(root, all, 0);
  std::string text;
  while (!todo.empty()) {
    const Line line = todo.back();
    todo.pop_back();
    const Profile& profile = *line.profile;
    text += std::string(line.depth, '\t') + profile.name + ": " + rounded(profile.us, 0) + "us [" +
            rounded(profile.us - sum_of_children(profile), 0) + "us] (" + percent(profile.us, all) + "; " +
            percent(profile.us, line.parent_us) + ")\n";
    push_children(profile, profile.us, line.depth + 1);
  }
  return text;
}

}  // namespace baton
