#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <sched.h>
#include <unistd.h>

#include "baton/support/base/processor_features.h"
#include "baton/target/device_sheet.h"
#include "baton/target/processor_sheet.h"

namespace baton {
namespace {

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const int count = CPU_COUNT(&set);
  return count > 0 ? count : 1;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "1024K", "32M" -> bytes; 0 when the text is something else.
int64_t size_of(const std::string& text) {
  int64_t value = 0;
  size_t at = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && value < (INT64_MAX >> 34); ++at)
    value = value * 10 + (text[at] - '0');
  if (at < text.size() && text[at] == 'K') return value << 10;
  if (at < text.size() && text[at] == 'M') return value << 20;
  if (at < text.size() && text[at] == 'G') return value << 30;
  return value;
}

/// The data caches of the first CPU. Values that the system does not report keep their defaults.
void read_caches(DeviceSheet& sheet) {
  const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index";
  for (int i = 0; i < 8; ++i) {
    const std::string index = folder + std::to_string(i);
    const std::string level = first_line(index + "/level"), type = first_line(index + "/type");
    const int64_t bytes = size_of(first_line(index + "/size"));
    if (bytes <= 0 || (type != "Data" && type != "Unified")) continue;
    if (level == "1") sheet.l1_bytes = bytes;
    if (level == "2") sheet.l2_bytes = bytes;
    if (level == "3") sheet.l3_bytes = bytes;
  }
}

/// Halide's target for this processor.
std::string code_target_here() {
  std::string text(processor_machine());
  if (const std::string tune = processor_tuning(); !tune.empty()) text += "-" + tune;
  for (const std::string& name : processor_features()) text += "-" + name;
  return text;
}

/// What /proc/cpuinfo says of the first processor, by name.
std::map<std::string, std::string> processor_facts() {
  std::map<std::string, std::string> facts;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    facts.emplace(line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1), line.substr(colon + 2));
  }
  return facts;
}

/// How the program that runs this virtual machine calls itself; empty: there is none, or it does not say.
std::string hypervisor() {
  std::string name;
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31)) return name;
  __cpuid(0x40000000, a, b, c, d);
  const unsigned words[] = {b, c, d};
  char text[sizeof words];
  std::memcpy(text, words, sizeof words);
  for (const char each : text)
    if (each > ' ' && each <= '~') name += each;
#endif
  return name;
}

/// DeviceSheet::processor.
std::string processor_identity(const std::map<std::string, std::string>& facts) {
  // Names in /proc/cpuinfo, of x86 and of Arm, and the words for them.
  constexpr const char* kKnown[][2] = {{"cpu family", " family "},    {"model", " model "},
                                       {"stepping", " stepping "},    {"CPU implementer", "Arm "},
                                       {"CPU part", " part "},        {"CPU variant", " variant "},
                                       {"CPU revision", " revision "}};
  const auto vendor = facts.find("vendor_id");
  std::string text = vendor == facts.end() ? "" : vendor->second;
  for (const auto& [name, word] : kKnown)
    if (const auto at = facts.find(name); at != facts.end()) text += word + at->second;
  if (const std::string under = hypervisor(); !text.empty() && !under.empty()) text += ", under " + under;
  return text;
}

DeviceSheet detect() {
  DeviceSheet sheet;
  sheet.code_target = code_target_here();
  set_vector_widths(sheet);
  const auto facts = processor_facts();
  const auto name = facts.find("model name");
  sheet.name = name == facts.end() ? sheet.code_target : name->second;
  sheet.processor = processor_identity(facts);
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) sheet.memory_bytes = static_cast<int64_t>(pages) * page;
  sheet.cores = usable_cores();
  read_caches(sheet);
  return sheet;
}

}  // namespace

const DeviceSheet& DeviceSheet::host() {
  static const DeviceSheet sheet = detect();
  return sheet;
}

}  // namespace baton
