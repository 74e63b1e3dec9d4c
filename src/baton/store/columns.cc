#include "baton/store/columns.h"

#include <cmath>
#include <type_traits>

#include "baton/store/digest_bytes.h"
#include "baton/support/error.h"

namespace baton {
namespace {

class RowBytes : public DigestBytes {
 public:
  using DigestBytes::add;
  void add(CacheState state) { add(cache_state_name(state)); }
  void add(const std::vector<WorkOrigin>& values) {
    add(values.size());
    for (const WorkOrigin& origin : values) {
      add(origin.id);
      add(origin.op);
      add(origin.source);
    }
  }
};

/// The columns of these types that the digest has had since the first schema, or since the one with core_ns.
template <class... Types>
void add_of_type(RowBytes& bytes, const Measurement& row, InDigest since = InDigest::kFirst) {
  for_each_column(row, [&](const MeasurementColumn& column, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr ((std::is_same_v<Value, Types> || ...))
      if (column.digest == since && !(since == InDigest::kUnlessZero && value == Value())) bytes.add(value);
  });
}

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

bool is_list(const MeasurementColumn& column) {
  return std::holds_alternative<std::vector<double> Measurement::*>(column.member) ||
         std::holds_alternative<std::vector<uint32_t> Measurement::*>(column.member);
}

const char* own_column(const MeasurementColumn& column) {
  if (std::holds_alternative<std::vector<WorkOrigin> Measurement::*>(column.member)) return nullptr;
  if (is_list(column)) return column.sql;
  return column.sql ? nullptr : column.name;
}

std::string selected_column(const MeasurementColumn& column) {
  if (const char* own = own_column(column)) return std::string("m.") + own;
  return column.sql ? std::string(column.sql) + " AS " + column.name : "";
}

Digest Measurement::digest(const MeasurementKeys& keys) const {
  RowBytes bytes;
  for (const Digest* key : {&keys.work, &keys.build, &keys.device}) bytes.add(*key);
  add_of_type<std::string>(bytes, *this);
  add_of_type<CacheState>(bytes, *this);
  add_of_type<int, uint32_t, int64_t>(bytes, *this);
  add_of_type<double>(bytes, *this);
  add_of_type<double>(bytes, *this, InDigest::kUnlessZero);
  add_of_type<std::optional<double>>(bytes, *this);
  add_of_type<std::vector<double>>(bytes, *this);
  add_of_type<std::vector<uint32_t>>(bytes, *this);
  add_of_type<std::vector<WorkOrigin>>(bytes, *this);
  static const Measurement defaults;
  for (const MeasurementColumn& column : kMeasurementColumns)
    std::visit(
        [&](auto member) {
          if (column.digest != InDigest::kNamed || this->*member == defaults.*member) return;
          bytes.add(std::string_view(column.name));
          bytes.add(this->*member);
        },
        column.member);
  return bytes.digest();
}

std::string Measurement::id() const { return digest(keys()).hex(); }

void check_measurement(const Measurement& measurement) {
  for_each_column(measurement, [](const MeasurementColumn& column, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, double>) check_number(value, column.name);
    if constexpr (std::is_same_v<Value, std::optional<double>>) check_number(value.value_or(0), column.name);
    if constexpr (std::is_same_v<Value, std::vector<double>>)
      for (const double each : value) check_number(each, column.name);
  });
  check_number(measurement.work.flops, "flops");
  check_number(measurement.work.bytes, "bytes");
  check_indices(measurement.disturbed, measurement.samples_us.size(), "disturbed ones");
  check_indices(measurement.outliers, measurement.samples_us.size(), "outliers");
}

}  // namespace baton
