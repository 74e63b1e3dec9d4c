#include "baton/store/measurement.h"

#include <array>
#include <cmath>

#include "baton/support/error.h"

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

/// What a digest is computed from. Texts and lists begin with their length, so that no two values have the
/// same bytes.
class DigestBytes {
 public:
  void text(std::string_view value) {
    integer(static_cast<int64_t>(value.size()));
    bytes_.append(value);
  }
  void integer(int64_t value) { raw(&value, sizeof value); }
  void real(double value) { raw(&value, sizeof value); }
  void digest(const Digest& value) {
    raw(&value.high, sizeof value.high);
    raw(&value.low, sizeof value.low);
  }
  template <class T>
  void list(const std::vector<T>& values) {
    integer(static_cast<int64_t>(values.size()));
    raw(values.data(), values.size() * sizeof(T));
  }
  void origins(const std::vector<WorkOrigin>& values) {
    integer(static_cast<int64_t>(values.size()));
    for (const WorkOrigin& origin : values) {
      integer(origin.id);
      text(origin.op);
      text(origin.source);
    }
  }
  Digest value() const { return digest128(bytes_.data(), bytes_.size()); }

 private:
  void raw(const void* data, size_t size) { bytes_.append(static_cast<const char*>(data), size); }
  std::string bytes_;
};

void check_number(double value, const char* what) {
  if (!std::isfinite(value)) throw Error(std::string("a measurement's ") + what + " is not a finite number");
}

void check_indices(const std::vector<uint32_t>& indices, size_t samples, const char* what) {
  for (const uint32_t index : indices)
    if (index >= samples)
      throw Error("a measurement has " + std::to_string(samples) + " samples, and counts number " +
                  std::to_string(index) + " among its " + what);
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
  bytes.text(work_kind_name(kind));
  bytes.text(text);
  return bytes.value();
}
std::string Work::id() const { return digest().hex(); }

Digest BuildFacts::digest() const {
  DigestBytes bytes;
  for (const std::string* text : {&backend, &target, &compiler, &template_name, &parameters})
    bytes.text(*text);
  bytes.integer(opt_level);
  if (precision != "f32") bytes.text(precision);  // rows of older versions keep their hashes
  return bytes.value();
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

Digest Measurement::digest(const MeasurementKeys& keys) const {
  DigestBytes bytes;
  for (const Digest* key : {&keys.work, &keys.build, &keys.device}) bytes.digest(*key);
  for (const std::string* text :
       {&machine, &unreliable, &simulated, &model, &model_id, &family, &method, &campaign, &configuration})
    bytes.text(*text);
  bytes.text(cache_state_name(cache));
  for (const int64_t number : {int64_t{threads}, begun_s, int64_t{node}, int64_t{calls}})
    bytes.integer(number);
  for (const double number : {median_us, cv, load, others_busy, reference_us, share}) bytes.real(number);
  if (core_ns != 0) bytes.real(core_ns);  // rows of older stores keep their digest
  bytes.integer(plus_minus_us.has_value());
  bytes.real(plus_minus_us.value_or(0));
  bytes.list(samples_us);
  bytes.list(disturbed);
  bytes.list(outliers);
  bytes.origins(origins);
  bytes.origins(made_for);
  return bytes.value();
}

MeasurementKeys Measurement::keys() const { return {work.digest(), build.digest(), sheet_digest(device)}; }
std::string Measurement::id() const { return digest(keys()).hex(); }

void check_measurement(const Measurement& measurement) {
  for (const double sample : measurement.samples_us) check_number(sample, "sample");
  check_number(measurement.median_us, "median_us");
  check_number(measurement.cv, "cv");
  check_number(measurement.plus_minus_us.value_or(0), "plus_minus_us");
  check_number(measurement.load, "load");
  check_number(measurement.others_busy, "others_busy");
  check_number(measurement.core_ns, "core_ns");
  check_number(measurement.reference_us, "reference_us");
  check_number(measurement.share, "share");
  check_number(measurement.work.flops, "flops");
  check_number(measurement.work.bytes, "bytes");
  check_indices(measurement.disturbed, measurement.samples_us.size(), "disturbed ones");
  check_indices(measurement.outliers, measurement.samples_us.size(), "outliers");
}

}  // namespace baton
