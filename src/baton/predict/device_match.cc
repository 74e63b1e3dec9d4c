#include "baton/predict/device_match.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace baton {

namespace {

// How far apart rates of one machine may lie, measured on two days: its clock changes by some percent, its
// memory and third-level cache are shared with other virtual machines.
constexpr double kSameCore = 1.25, kSameMemory = 1.6;
constexpr double kLikeRate = 2;

/// "znver5" of "x86-64-linux-tune_znver5-sse41-..."; else the whole target.
std::string code_name(const DeviceSheet& sheet) {
  const std::string& text = sheet.code_target;
  constexpr std::string_view kTune = "tune_";
  const size_t at = text.find(kTune);
  if (at == std::string::npos) return text;
  const size_t begin = at + kTune.size();
  return text.substr(begin, text.find('-', begin) - begin);
}

std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// "AuthenticAMD family 26" of "AuthenticAMD family 26 model 2 stepping 1, under KVMKVMKVM".
std::string family_of(const DeviceSheet& sheet) {
  return sheet.processor.substr(0, sheet.processor.find(" model "));
}

bool is_processor(const DeviceSheet& sheet) { return sheet.device_type == 1; }

class Comparison {
 public:
  Comparison(const DeviceSheet& a, const DeviceSheet& b, const std::string& here)
      : a_(a), b_(b), here_(here) {}

  std::string run() const {
    if (a_.kind != b_.kind) return differ("is a device of kind " + a_.kind, b_.kind);
    if (is_processor(a_) && !a_.processor.empty() && !b_.processor.empty() && a_.processor != b_.processor)
      return differ("is " + a_.processor, b_.processor);
    if (a_.code_target != b_.code_target) {
      const bool tuned = code_name(a_) != code_name(b_);
      return tuned ? differ("runs code for " + code_name(a_), code_name(b_))
                   : differ("runs code for " + a_.code_target, b_.code_target);
    }
    for (const auto& [what, size] : kCaches)
      if (a_.*size != b_.*size)
        return differ(std::string("has ") + what + " of " + std::to_string(a_.*size) + " bytes",
                      std::to_string(b_.*size));
    if (a_.code_hash() != b_.code_hash() && a_.cores == b_.cores)
      return "its device sheet has other facts than that of " + here_;
    if (a_.name != b_.name) return differ("is called " + a_.name, b_.name);
    if (const std::string rate = other_rate(); !rate.empty()) return rate;
    const bool known = !a_.processor.empty() && !b_.processor.empty();
    if (is_processor(a_) && !known && !compared())
      return "which processor it is was not recorded, and the rates of " +
             std::string(a_.peaks ? here_ + " could not be measured" : "it were not measured");
    return "";
  }

  /// Whether rescaling by the rates is better than nothing.
  bool is_like() const {
    if (!is_processor(a_) || a_.kind != b_.kind || a_.code_target != b_.code_target || !compared())
      return false;
    if (!a_.processor.empty() && !b_.processor.empty() && family_of(a_) != family_of(b_)) return false;
    return std::ranges::all_of(kRates, [this](const Rate& rate) { return ratio_of(rate) <= kLikeRate; });
  }

 private:
  struct Cache {
    const char* what;
    int64_t DeviceSheet::* size;
  };
  static constexpr Cache kCaches[] = {{"a first-level cache", &DeviceSheet::l1_bytes},
                                      {"a second-level cache", &DeviceSheet::l2_bytes},
                                      {"a third-level cache", &DeviceSheet::l3_bytes}};
  struct Rate {
    const char *does, *unit;
    double DevicePeaks::* value;
    double same;
  };
  static constexpr Rate kRates[] = {
      {"computes", " GFLOP/s", &DevicePeaks::gflops, kSameCore},
      {"reads its own caches at", " GB/s", &DevicePeaks::cache_gbytes_per_s, kSameCore},
      {"reads the third-level cache at", " GB/s", &DevicePeaks::l3_gbytes_per_s, kSameMemory},
      {"reads memory at", " GB/s", &DevicePeaks::gbytes_per_s, kSameMemory}};

  std::string differ(const std::string& it, const std::string& other) const {
    return "it " + it + ", " + here_ + (it.starts_with("is ") ? " is " : ": ") + other;
  }

  bool compared() const { return a_.peaks && b_.peaks && a_.peaks->threads == b_.peaks->threads; }

  std::string other_rate() const {
    if (!compared()) return "";
    for (const Rate& rate : kRates)
      if (ratio_of(rate) > rate.same)
        return "it " + std::string(rate.does) + " " + shown((*a_.peaks).*rate.value) + rate.unit + ", " +
               here_ + ": " + shown((*b_.peaks).*rate.value);
    return "";
  }

  /// Of the greater to the smaller one; 1 where one of them is not known.
  double ratio_of(const Rate& rate) const {
    const double mine = (*a_.peaks).*rate.value, other = (*b_.peaks).*rate.value;
    return mine <= 0 || other <= 0 ? 1 : std::max(mine, other) / std::min(mine, other);
  }

  const DeviceSheet &a_, &b_;
  const std::string& here_;
};

}  // namespace

std::string device_title(const DeviceSheet& sheet) {
  const std::string which = sheet.processor.empty() ? code_name(sheet) : sheet.processor;
  return is_processor(sheet) && !which.empty() ? sheet.name + " (" + which + ")" : sheet.name;
}

std::string why_other_device(const DeviceSheet& trained, const DeviceSheet& other, const std::string& here) {
  return Comparison(trained, other, here).run();
}

DeviceMatch match_of(const DeviceSheet& trained, const DeviceSheet& other, const std::string& here) {
  const Comparison comparison(trained, other, here);
  DeviceMatch match{Likeness::kSame, comparison.run()};
  if (!match.why.empty()) match.likeness = comparison.is_like() ? Likeness::kLike : Likeness::kOther;
  return match;
}

}  // namespace baton
