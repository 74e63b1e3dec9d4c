#include "baton/target/device_sheet.h"

#include <charconv>

#include "baton/support/hash.h"

namespace baton {
namespace {

constexpr std::string_view kFirstLine = "device sheet 1";
constexpr const char* kProcessor = "processor";

std::string number(double value) {
  char text[32];
  const auto [end, failed] = std::to_chars(text, text + sizeof text, value);  // shortest round-trip form
  return {text, end};
}
std::string number(int64_t value) { return std::to_string(value); }
std::string number(int value) { return std::to_string(value); }
std::string number(bool value) { return value ? "1" : "0"; }

template <class Value>
bool read(std::string_view text, Value& value) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size();
}
bool read(std::string_view text, bool& value) {
  value = text == "1";
  return value || text == "0";
}
bool read(std::string_view text, std::string& value) {
  value = text;
  return true;
}

/// Visits all facts by name, in the order of the text; `decides` tells which ones affect code.
template <class Sheet, class Visit>
void visit_facts(Sheet& sheet, Visit&& visit) {
  constexpr bool decides = true, known = false;
  visit("kind", sheet.kind, decides);
  visit("device_type", sheet.device_type, decides);
  visit("name", sheet.name, known);
  visit("code_target", sheet.code_target, decides);
  visit("float_lanes", sheet.float_lanes, decides);
  visit("vector_registers", sheet.vector_registers, decides);
  visit("halves_at_full_rate", sheet.halves_at_full_rate, decides);
  visit("cores", sheet.cores, decides);
  visit("l1_bytes", sheet.l1_bytes, decides);
  visit("l2_bytes", sheet.l2_bytes, decides);
  visit("l3_bytes", sheet.l3_bytes, decides);
  visit("bytes_per_multiply_add", sheet.bytes_per_multiply_add, decides);
  visit("not_overlapped", sheet.not_overlapped, decides);
  visit("memory_bytes", sheet.memory_bytes, known);
  visit(kProcessor, sheet.processor, known);
}

template <class Peaks, class Visit>
void visit_peaks(Peaks& peaks, Visit&& visit) {
  visit("peak.threads", peaks.threads);
  visit("peak.gflops", peaks.gflops);
  visit("peak.gbytes_per_s", peaks.gbytes_per_s);
  visit("peak.cache_gbytes_per_s", peaks.cache_gbytes_per_s);
  visit("peak.cache_bytes", peaks.cache_bytes);
  visit("peak.l3_gbytes_per_s", peaks.l3_gbytes_per_s);
  visit("peak.l3_program_bytes", peaks.l3_program_bytes);
  visit("peak.measured_s", peaks.measured_s);
}

std::string written(const std::string& value) {
  std::string line = value;  // newlines in names are replaced
  for (char& c : line)
    if (c == '\n') c = ' ';
  return line;
}
template <class Value>
std::string written(const Value& value) {
  return number(value);
}

/// The device name, then two numbers: `gpu0 12.5 8`.
std::optional<DeviceLink> link_of(std::string_view text) {
  DeviceLink link;
  const size_t second = text.rfind(' ');
  if (second == std::string_view::npos || second == 0) return {};
  const size_t first = text.rfind(' ', second - 1);
  if (first == std::string_view::npos) return {};
  link.to = text.substr(0, first);
  if (!read(text.substr(first + 1, second - first - 1), link.gbytes_per_s) ||
      !read(text.substr(second + 1), link.latency_us))
    return {};
  return link;
}

/// Parses one line; false when it is unknown.
bool take(DeviceSheet& sheet, std::string_view name, std::string_view value) {
  bool met = false, good = true;
  const auto offer = [&](const char* fact, auto& to) {
    if (name != fact) return;
    met = true;
    good = read(value, to);
  };
  visit_facts(sheet, [&](const char* fact, auto& to, bool) { offer(fact, to); });
  if (name.starts_with("peak.")) {
    if (!sheet.peaks) sheet.peaks.emplace();
    visit_peaks(*sheet.peaks, offer);
  }
  if (name == "link") {
    const std::optional<DeviceLink> link = link_of(value);
    met = true;
    good = link.has_value();
    if (link) sheet.links.push_back(*link);
  }
  return met && good;
}

}  // namespace

std::string DeviceSheet::text() const {
  std::string text = std::string(kFirstLine) + "\n";
  const auto line = [&](const char* name, const auto& value) {
    text += std::string(name) + ": " + written(value) + "\n";
  };
  visit_facts(*this, [&](const char* name, const auto& value, bool) {
    // What is not known is not said: texts and digests of older sheets stay what they were.
    if (std::string_view(name) != kProcessor || !processor.empty()) line(name, value);
  });
  if (peaks) visit_peaks(*peaks, line);
  for (const DeviceLink& link : links)
    line("link", link.to + " " + number(link.gbytes_per_s) + " " + number(link.latency_us));
  return text;
}

std::optional<DeviceSheet> DeviceSheet::from_text(std::string_view text) {
  DeviceSheet sheet;
  bool first = true;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};  // truncated
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (first) {
      if (line != kFirstLine) return {};
      first = false;
      continue;
    }
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos || !take(sheet, line.substr(0, colon), line.substr(colon + 2)))
      return {};
  }
  if (first) return {};
  return sheet;
}

uint64_t DeviceSheet::hash() const {
  Hasher hasher;
  hasher.add_text(text());
  return hasher.value();
}

uint64_t DeviceSheet::code_hash() const {
  Hasher hasher;
  visit_facts(*this, [&](const char*, const auto& value, bool decides) {
    if (decides) hasher.add_text(written(value));
  });
  return hasher.value();
}

}  // namespace baton
