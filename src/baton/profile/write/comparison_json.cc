#include "baton/profile/write/comparison_json.h"

#include "baton/support/json_fields.h"

namespace baton {

namespace {
namespace fields = json_fields;
using fields::custom, fields::derived, fields::may_lack, fields::or_null, fields::required,
    fields::unless_empty;
Json write_verdict(const OffloadRow& row) { return verdict_name(row.verdict); }
void read_verdict(const Json& json, OffloadRow& row) { row.verdict = verdict_named(json.get<std::string>()); }

constexpr fields::Field<OffloadRow> kOffloadFields[] = {
    required<OffloadRow, &OffloadRow::backend>("backend"),
    custom<OffloadRow, write_verdict, read_verdict>("verdict"),
    unless_empty<OffloadRow, &OffloadRow::why>("why"),
    required<OffloadRow, &OffloadRow::kernels_us>("kernels_us"),
    required<OffloadRow, &OffloadRow::copies_us>("copies_us"),
    required<OffloadRow, &OffloadRow::layouts_us>("layouts_us"),
    required<OffloadRow, &OffloadRow::total_us>("total_us"),
    required<OffloadRow, &OffloadRow::run_us>("run_us"),
    required<OffloadRow, &OffloadRow::rounds_us>("rounds_us"),
    or_null<OffloadRow, &OffloadRow::interval_us>("interval_us"),
    required<OffloadRow, &OffloadRow::copied_bytes>("copied_bytes"),
    required<OffloadRow, &OffloadRow::kernels>("kernels"),
    required<OffloadRow, &OffloadRow::largest_difference>("largest_difference")};

}  // namespace

static void to_json(Json& json, const OffloadRow& row) {
  fields::write<OffloadRow>(kOffloadFields, row, json);
}
static void from_json(const Json& json, OffloadRow& row) {
  fields::read<OffloadRow>(kOffloadFields, json, row);
}

namespace {

constexpr fields::Field<ComparedFunction> kFunctionFields[] = {
    required<ComparedFunction, &ComparedFunction::node>("node"),
    required<ComparedFunction, &ComparedFunction::nodes>("nodes"),
    required<ComparedFunction, &ComparedFunction::func_name>("func_name"),
    required<ComparedFunction, &ComparedFunction::title>("title"),
    required<ComparedFunction, &ComparedFunction::backend>("backend"),
    required<ComparedFunction, &ComparedFunction::origins>("origins"),
    required<ComparedFunction, &ComparedFunction::made_for>("made_for"),
    required<ComparedFunction, &ComparedFunction::own_us>("own_us"),
    required<ComparedFunction, &ComparedFunction::rounds_us>("rounds_us"),
    unless_empty<ComparedFunction, &ComparedFunction::under_load>("under_load"),
    may_lack<ComparedFunction, &ComparedFunction::core_ns>("core_ns"),
    unless_empty<ComparedFunction, &ComparedFunction::why>("why"),
    required<ComparedFunction, &ComparedFunction::others>("others")};

}  // namespace

static void to_json(Json& json, const ComparedFunction& row) {
  fields::write<ComparedFunction>(kFunctionFields, row, json);
}
static void from_json(const Json& json, ComparedFunction& row) {
  fields::read<ComparedFunction>(kFunctionFields, json, row);
}

namespace {

constexpr fields::Field<Comparison> kComparisonFields[] = {
    required<Comparison, &Comparison::base>("base"),
    required<Comparison, &Comparison::others>("others"),
    derived<Comparison, &Comparison::base_us>("base_us"),
    derived<Comparison, &Comparison::best_us>("best_us"),
    unless_empty<Comparison, &Comparison::partial>("partial"),
    required<Comparison, &Comparison::notes>("notes"),
    required<Comparison, &Comparison::functions>("functions")};

}  // namespace

Json comparison_json(const Comparison& comparison) {
  Json json;
  fields::write<Comparison>(kComparisonFields, comparison, json);
  return json;
}

Comparison read_comparison(const Json& json) {
  Comparison comparison;
  fields::read<Comparison>(kComparisonFields, json, comparison);
  return comparison;
}

}  // namespace baton
