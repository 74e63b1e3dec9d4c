#include "baton/store/measurement.h"

#include <array>

#include "baton/store/digest_bytes.h"

namespace baton {
namespace {

// In the order of the enums.
constexpr std::array<std::string_view, 5> kWorkKinds{"kernel", "part", "model", "transfer", "reference"};
constexpr std::array<std::string_view, 3> kCacheStates{"hot", "flushed", "in model"};

template <class Enum, size_t count>
std::optional<Enum> enum_named(const std::array<std::string_view, count>& names, std::string_view name) {
  for (size_t i = 0; i < count; ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  return {};
}

}  // namespace

std::string_view work_kind_name(WorkKind kind) { return kWorkKinds.at(static_cast<size_t>(kind)); }
std::optional<WorkKind> work_kind_named(std::string_view name) {
  return enum_named<WorkKind>(kWorkKinds, name);
}

std::string_view cache_state_name(CacheState state) { return kCacheStates.at(static_cast<size_t>(state)); }
std::optional<CacheState> cache_state_named(std::string_view name) {
  return enum_named<CacheState>(kCacheStates, name);
}

Digest Work::digest() const {
  DigestBytes bytes;
  bytes.add(work_kind_name(kind));
  bytes.add(text);
  return bytes.digest();
}
std::string Work::id() const { return digest().hex(); }

Digest BuildFacts::digest() const {
  DigestBytes bytes;
  for (const std::string* text : {&backend, &target, &compiler, &template_name, &parameters})
    bytes.add(*text);
  bytes.add(opt_level);
  if (precision != "f32") bytes.add(precision);  // rows of older versions keep their hashes
  return bytes.digest();
}
std::string BuildFacts::id() const { return digest().hex(); }

Digest sheet_digest(const DeviceSheet& sheet) {
  const std::string text = sheet.text();
  return digest128(text.data(), text.size());
}

Digest sheet_identity(const DeviceSheet& sheet) {
  DeviceSheet facts = sheet;
  facts.peaks.reset();
  facts.links.clear();
  facts.processor.clear();  // older sheets do not say it: may_be_same_processor()
  return sheet_digest(facts);
}

bool may_be_same_processor(const DeviceSheet& a, const DeviceSheet& b) {
  return a.processor.empty() || b.processor.empty() || a.processor == b.processor;
}

MeasurementKeys Measurement::keys() const { return {work.digest(), build.digest(), sheet_digest(device)}; }

}  // namespace baton
