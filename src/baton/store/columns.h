#pragma once
// The columns of a measurement, once: its table and the view `rows`, what is inserted and read, its JSON and
// its digest are made of them. Another column is its member, its line here and a migration that adds it to
// the table (docs/design/0036). Not here: the work, the build and the device, which many rows share.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "baton/store/measurement.h"

namespace baton {

/// The member that a column is the value of. Texts that are empty are NULL in SQL and absent in JSON; numbers
/// are written always; lists are blobs of the table `sample`, absent in JSON when they are empty.
template <class... Value>
using MemberOfOne = std::variant<Value Measurement::*...>;
using ColumnMember =
    MemberOfOne<std::string, CacheState, int, uint32_t, int64_t, double, std::optional<double>,
                std::vector<double>, std::vector<uint32_t>, std::vector<WorkOrigin>>;

enum class InDigest {
  kFirst,       ///< of the first schema: by its type, in the order of the table
  kUnlessZero,  ///< behind the numbers of the first schema, so that rows before it keep their ids
  kNamed,       ///< at the end with its name, unless it has its default: all later columns
};

struct MeasurementColumn {
  const char* name;  ///< in SQL and JSON
  ColumnMember member;
  InDigest digest = InDigest::kNamed;
  bool required = false;  ///< in JSON
  /// For a text: what it is in SQL when it is no column of `measurement`. For a list: the column with its
  /// length.
  const char* sql = nullptr;
};

/// In the order of JSON and of the view.
inline constexpr MeasurementColumn kMeasurementColumns[] = {
    {"machine", &Measurement::machine, InDigest::kFirst, true, "machine.name"},
    {"threads", &Measurement::threads, InDigest::kFirst, true},
    {"cache", &Measurement::cache, InDigest::kFirst, true},
    {"median_us", &Measurement::median_us, InDigest::kFirst, true},
    {"cv", &Measurement::cv, InDigest::kFirst, true},
    {"plus_minus_us", &Measurement::plus_minus_us, InDigest::kFirst},
    {"samples_us", &Measurement::samples_us, InDigest::kFirst, true, "samples"},
    {"disturbed", &Measurement::disturbed, InDigest::kFirst, false, "disturbed"},
    {"outliers", &Measurement::outliers, InDigest::kFirst, false, "outliers"},
    {"unreliable", &Measurement::unreliable, InDigest::kFirst},
    {"simulated", &Measurement::simulated, InDigest::kFirst},
    {"load", &Measurement::load, InDigest::kFirst},
    {"others_busy", &Measurement::others_busy, InDigest::kFirst},
    {"core_ns", &Measurement::core_ns, InDigest::kUnlessZero},
    {"reference_us", &Measurement::reference_us, InDigest::kFirst},
    {"begun_s", &Measurement::begun_s, InDigest::kFirst, true},
    {"model", &Measurement::model, InDigest::kFirst, false, "model.name"},
    {"model_id", &Measurement::model_id, InDigest::kFirst, false, "model.work_id"},
    {"family", &Measurement::family, InDigest::kFirst, false, "model.family"},
    {"node", &Measurement::node, InDigest::kFirst},
    {"calls", &Measurement::calls, InDigest::kFirst},
    {"origins", &Measurement::origins, InDigest::kFirst},
    {"made_for", &Measurement::made_for, InDigest::kFirst},
    {"share", &Measurement::share, InDigest::kFirst},
    {"method", &Measurement::method, InDigest::kFirst},
    {"protocol", &Measurement::protocol},
    {"campaign", &Measurement::campaign, InDigest::kFirst, false, "campaign.name"},
    {"configuration", &Measurement::configuration, InDigest::kFirst},
};

/// Whether it is a blob of the table `sample`.
bool is_list(const MeasurementColumn& column);
/// The column of the table `measurement` that it is written to, of a list its length; null: another table.
const char* own_column(const MeasurementColumn& column);
/// The same as an item of a SELECT, from wherever it is: "m.threads", "machine.name AS machine"; empty for
/// origins.
std::string selected_column(const MeasurementColumn& column);

/// Calls `use(column, row.*member)` for each of them; `row` is a Measurement, const or not.
template <class Row, class Use>
void for_each_column(Row& row, const Use& use) {
  for (const MeasurementColumn& column : kMeasurementColumns)
    std::visit([&](auto member) { use(column, row.*member); }, column.member);
}

}  // namespace baton
