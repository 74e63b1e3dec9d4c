#include "baton/profile/write/report_json.h"

#include <algorithm>

#include "baton/driver/origins/record_json.h"
#include "baton/profile/measure/measure.h"
#include "baton/profile/report/titles.h"
#include "baton/profile/write/comparison_json.h"
#include "baton/profile/write/views_json.h"
#include "baton/support/base/statistics.h"
#include "baton/support/error.h"
#include "baton/support/json.h"
#include "baton/support/json_fields.h"

namespace baton {

// ---- The fields of each row: one table for reading and writing. json_fields finds the function pairs below
// by the row's type.

namespace {

namespace fields = json_fields;
using fields::custom, fields::derived, fields::may_lack, fields::or_null, fields::required,
    fields::unless_empty;
using Ids = std::vector<uint32_t>;

constexpr int kReportSchema = 1;
constexpr const char* kNoOperator = "load, store, loop";

}  // namespace

static void to_json(Json& json, InsideMethod method) { json = method_name(method); }
static void from_json(const Json& json, InsideMethod& method) {
  method = method_named(json.get<std::string>());
}

static void to_json(Json& json, const OperatorRow& row) {
  json = to_json(row, RecordForm::kProfile);
  if (row.inside_us) json["inside_us"] = *row.inside_us;
  if (row.unfused_us) json["unfused_us"] = *row.unfused_us;
}
static void from_json(const Json& json, OperatorRow& row) {
  static_cast<OperatorRecord&>(row) = read_record(json, RecordForm::kProfile);
  fields::read_if_there<OperatorRow, &OperatorRow::inside_us>("inside_us", json, row);
  fields::read_if_there<OperatorRow, &OperatorRow::unfused_us>("unfused_us", json, row);
}

/// Generates the functions that json_fields looks up from a type's table.
#define BATON_ROW_OF_FIELDS(Row, kFields)                                                     \
  static void to_json(Json& json, const Row& row) { fields::write<Row>(kFields, row, json); } \
  static void from_json(const Json& json, Row& row) { fields::read<Row>(kFields, json, row); }

namespace {

Json first_id(const InsideRow& part) { return part.ids.empty() ? Json(nullptr) : Json(part.ids.front()); }
Json write_label(const InsideRow& part) { return part.label.empty() ? kNoOperator : part.label; }
void read_label(const Json& json, InsideRow& part) {
  if (json != kNoOperator) json.get_to(part.label);
}

constexpr fields::Field<InsideRow> kInsideFields[] = {
    derived<InsideRow, first_id>("id"),
    may_lack<InsideRow, &InsideRow::ids>("ids"),
    custom<InsideRow, write_label, read_label>("label"),
    required<InsideRow, &InsideRow::rest>("rest"),
    required<InsideRow, &InsideRow::stage>("stage"),
    required<InsideRow, &InsideRow::share>("share"),
    required<InsideRow, &InsideRow::us>("us"),
    required<InsideRow, &InsideRow::method>("method"),
    required<InsideRow, &InsideRow::below_noise>("below_noise"),
    or_null<InsideRow, &InsideRow::plus_minus_us>("plus_minus_us"),
    unless_empty<InsideRow, &InsideRow::implementation>("implementation"),
    unless_empty<InsideRow, &InsideRow::layouts>("layouts"),
    unless_empty<InsideRow, &InsideRow::reason>("reason")};

constexpr fields::Field<LoadRow> kLoadFields[] = {required<LoadRow, &LoadRow::stage>("stage"),
                                                  may_lack<LoadRow, &LoadRow::ids>("ids"),
                                                  required<LoadRow, &LoadRow::busy_us>("busy_us")};

}  // namespace

BATON_ROW_OF_FIELDS(InsideRow, kInsideFields)
BATON_ROW_OF_FIELDS(LoadRow, kLoadFields)

namespace {

/// A member of a kernel's roofline. Optional: added after the first profiles of this schema were written.
template <auto member>
constexpr fields::Field<KernelRow> of_roofline(const char* name) {
  return may_lack<KernelRow, [](auto& row) -> auto& { return row.roofline.*member; }>(name);
}

Json write_roofline(const KernelRow& row) {
  return row.roofline.bound.empty() ? Json(nullptr) : Json(row.roofline.share);
}

void write_roof(const char* name, const KernelRow& row, Json& json) { json[name] = write_roofline(row); }

constexpr fields::Field<KernelRow> kThreadFields[] = {
    required<KernelRow, &KernelRow::load_threads>("threads"),
    required<KernelRow, &KernelRow::threads_us>("us"),
    required<KernelRow, &KernelRow::utilisation>("utilisation"),
    required<KernelRow, &KernelRow::loads>("stages")};

void write_threads(const char* name, const KernelRow& row, Json& json) {
  if (row.load_threads > 1) fields::write<KernelRow>(kThreadFields, row, json[name]);
}
void read_threads(const char* name, const Json& json, KernelRow& row) {
  if (json.contains(name)) fields::read<KernelRow>(kThreadFields, json.at(name), row);
}

/// Reports of earlier versions have "unreliable" instead, and a guess for a time.
template <class Row>
void write_load(const char* name, const Row& row, Json& json) {
  if (!row.under_load.empty()) json[name] = row.under_load;
}
template <class Row>
void read_load(const char* name, const Json& json, Row& row) {
  for (const char* key : {"unreliable", name})
    if (json.contains(key)) json.at(key).get_to(row.under_load);
}

/// Of plans it is always 1.
void write_calls(const char* name, const KernelRow& row, Json& json) {
  if (row.calls != 1) json[name] = row.calls;
}

constexpr fields::Field<ShapeRow> kShapeFields[] = {required<ShapeRow, &ShapeRow::shapes>("shapes"),
                                                    required<ShapeRow, &ShapeRow::calls>("calls"),
                                                    required<ShapeRow, &ShapeRow::us>("us")};

}  // namespace

BATON_ROW_OF_FIELDS(ShapeRow, kShapeFields)

namespace {

double kernel_p90(const KernelRow& row) { return percentile(row.samples_us, 0.9); }
double kernel_p99(const KernelRow& row) { return percentile(row.samples_us, 0.99); }

constexpr fields::Field<KernelRow> kKernelFields[] = {
    required<KernelRow, &KernelRow::node>("node"),
    required<KernelRow, &KernelRow::name>("name"),
    required<KernelRow, &KernelRow::func_name>("func_name"),
    may_lack<KernelRow, &KernelRow::title>("title"),
    may_lack<KernelRow, &KernelRow::target>("target"),
    unless_empty<KernelRow, &KernelRow::simulated>("simulated"),
    unless_empty<KernelRow, &KernelRow::device>("device"),
    unless_empty<KernelRow, &KernelRow::copied_from>("copied_from"),
    required<KernelRow, &KernelRow::median_us>("median_us"),
    required<KernelRow, &KernelRow::share>("share"),
    required<KernelRow, &KernelRow::samples_us>("samples"),
    may_lack<KernelRow, &KernelRow::inputs>("inputs"),
    may_lack<KernelRow, &KernelRow::origins>("origins"),
    may_lack<KernelRow, &KernelRow::made_for>("made_for"),
    or_null<KernelRow, &KernelRow::reason>("reason"),
    required<KernelRow, &KernelRow::inside>("inside"),
    required<KernelRow, &KernelRow::stage_sum>("stage_sum"),
    required<KernelRow, &KernelRow::noise>("noise"),
    required<KernelRow, &KernelRow::trusted>("trusted"),
    required<KernelRow, &KernelRow::flops>("flops"),
    required<KernelRow, &KernelRow::bytes>("bytes"),
    may_lack<KernelRow, &KernelRow::result_bytes>("result_bytes"),
    may_lack<KernelRow, &KernelRow::constant_bytes>("constant_bytes"),
    may_lack<KernelRow, &KernelRow::live_bytes>("live_bytes"),
    derived<KernelRow, kernel_p90>("p90_us"),
    derived<KernelRow, kernel_p99>("p99_us"),
    of_roofline<&Roofline::dtype>("dtype"),
    of_roofline<&Roofline::intensity>("intensity"),
    of_roofline<&Roofline::gflops>("gflops"),
    of_roofline<&Roofline::gbytes_per_s>("gbytes_per_s"),
    {write_roof, of_roofline<&Roofline::share>("roofline").read, "roofline"},
    or_null<KernelRow, [](auto& row) -> auto& { return row.roofline.bound; }>("bound"),
    of_roofline<&Roofline::nominal>("nominal"),
    may_lack<KernelRow, &KernelRow::cv>("cv"),
    or_null<KernelRow, &KernelRow::plus_minus_us>("plus_minus_us"),
    may_lack<KernelRow, &KernelRow::rounds_us>("rounds_us"),
    unless_empty<KernelRow, &KernelRow::disturbed_us>("disturbed_us"),
    may_lack<KernelRow, &KernelRow::core_ns>("core_ns"),
    {write_load<KernelRow>, read_load<KernelRow>, "under_load"},
    may_lack<KernelRow, &KernelRow::calls_per_sample>("calls_per_sample"),
    {write_calls, fields::read_if_there<KernelRow, &KernelRow::calls>, "calls"},
    unless_empty<KernelRow, &KernelRow::shapes>("shapes"),
    or_null<KernelRow, &KernelRow::split_at>("split_at"),
    unless_empty<KernelRow, &KernelRow::basis>("basis"),
    unless_empty<KernelRow, &KernelRow::low_us>("low_us"),
    unless_empty<KernelRow, &KernelRow::high_us>("high_us"),
    unless_empty<KernelRow, &KernelRow::out_of_range>("out_of_range"),
    unless_empty<KernelRow, &KernelRow::compiler>("compiler"),
    unless_empty<KernelRow, &KernelRow::region>("region"),
    {write_threads, read_threads, "on_threads"},
    unless_empty<KernelRow, &KernelRow::inside_notes>("inside_notes")};

constexpr fields::Field<FunctionRow> kFunctionFields[] = {
    required<FunctionRow, &FunctionRow::relay>("relay"), may_lack<FunctionRow, &FunctionRow::brief>("brief"),
    required<FunctionRow, &FunctionRow::template_name>("template"),
    required<FunctionRow, &FunctionRow::params>("params")};

constexpr fields::Field<MemoryUse> kMemoryFields[] = {
    required<MemoryUse, &MemoryUse::constants_bytes>("constants_bytes"),
    required<MemoryUse, &MemoryUse::inputs_bytes>("inputs_bytes"),
    required<MemoryUse, &MemoryUse::workspace_bytes>("workspace_bytes"),
    required<MemoryUse, &MemoryUse::peak_bytes>("peak_bytes")};

constexpr fields::Field<SourceText> kSourceFields[] = {required<SourceText, &SourceText::file>("file"),
                                                       required<SourceText, &SourceText::text>("text")};

constexpr fields::Field<UnfusedRow> kUnfusedFields[] = {
    required<UnfusedRow, &UnfusedRow::name>("name"),
    may_lack<UnfusedRow, &UnfusedRow::origins>("origins"),
    may_lack<UnfusedRow, &UnfusedRow::made_for>("made_for"),
    required<UnfusedRow, &UnfusedRow::median_us>("median_us"),
    required<UnfusedRow, &UnfusedRow::flops>("flops"),
    required<UnfusedRow, &UnfusedRow::bytes>("bytes"),
    or_null<UnfusedRow, &UnfusedRow::plus_minus_us>("plus_minus_us"),
    {write_load<UnfusedRow>, read_load<UnfusedRow>, "under_load"},
    unless_empty<UnfusedRow, &UnfusedRow::simulated>("simulated"),
    unless_empty<UnfusedRow, &UnfusedRow::backend>("backend"),
    unless_empty<UnfusedRow, &UnfusedRow::relay>("relay"),
    unless_empty<UnfusedRow, &UnfusedRow::template_name>("template"),
    unless_empty<UnfusedRow, &UnfusedRow::params>("params"),
    unless_empty<UnfusedRow, &UnfusedRow::samples_us>("samples"),
    unless_empty<UnfusedRow, &UnfusedRow::disturbed_us>("disturbed_us"),
    may_lack<UnfusedRow, &UnfusedRow::core_ns>("core_ns")};

constexpr fields::Field<DevicePeaks> kPeakFields[] = {
    required<DevicePeaks, &DevicePeaks::gflops>("gflops"),
    required<DevicePeaks, &DevicePeaks::gbytes_per_s>("gbytes_per_s"),
    required<DevicePeaks, &DevicePeaks::cache_gbytes_per_s>("cache_gbytes_per_s"),
    may_lack<DevicePeaks, &DevicePeaks::cache_bytes>("cache_bytes"),
    may_lack<DevicePeaks, &DevicePeaks::l3_gbytes_per_s>("l3_gbytes_per_s"),
    may_lack<DevicePeaks, &DevicePeaks::l3_program_bytes>("l3_program_bytes")};

}  // namespace

namespace {

using PartOfRun = ProgramTimes::Part;
using Loop = ProgramTimes::Loop;
using Branch = ProgramTimes::Branch;

constexpr fields::Field<PartOfRun> kPartFields[] = {
    required<PartOfRun, &PartOfRun::name>("name"), required<PartOfRun, &PartOfRun::us>("us"),
    or_null<PartOfRun, &PartOfRun::plus_minus_us>("plus_minus_us")};
constexpr fields::Field<Loop> kLoopFields[] = {required<Loop, &Loop::function>("function"),
                                               required<Loop, &Loop::line>("line"),
                                               required<Loop, &Loop::entries>("entries"),
                                               required<Loop, &Loop::iterations>("iterations"),
                                               required<Loop, &Loop::us>("us"),
                                               derived<Loop, &Loop::us_per_iteration>("us_per_iteration")};
constexpr fields::Field<Branch> kBranchFields[] = {required<Branch, &Branch::function>("function"),
                                                   required<Branch, &Branch::what>("what"),
                                                   required<Branch, &Branch::line>("line"),
                                                   required<Branch, &Branch::taken>("taken"),
                                                   required<Branch, &Branch::not_taken>("not_taken"),
                                                   required<Branch, &Branch::taken_us>("taken_us"),
                                                   required<Branch, &Branch::not_taken_us>("not_taken_us")};
constexpr fields::Field<InputRow> kInputFields[] = {required<InputRow, &InputRow::name>("name"),
                                                    required<InputRow, &InputRow::type>("type")};
constexpr fields::Field<PointRow> kPointFields[] = {required<PointRow, &PointRow::name>("name"),
                                                    required<PointRow, &PointRow::value>("value")};

}  // namespace

BATON_ROW_OF_FIELDS(InputRow, kInputFields)
BATON_ROW_OF_FIELDS(PointRow, kPointFields)
BATON_ROW_OF_FIELDS(PartOfRun, kPartFields)
BATON_ROW_OF_FIELDS(Loop, kLoopFields)
BATON_ROW_OF_FIELDS(Branch, kBranchFields)

namespace {

constexpr fields::Field<ProgramTimes> kProgramFields[] = {
    required<ProgramTimes, &ProgramTimes::parts>("parts"),
    required<ProgramTimes, &ProgramTimes::loops>("loops"),
    required<ProgramTimes, &ProgramTimes::branches>("branches"),
    required<ProgramTimes, &ProgramTimes::instructions>("instructions"),
    required<ProgramTimes, &ProgramTimes::pieces>("pieces")};

}  // namespace

BATON_ROW_OF_FIELDS(ProgramTimes, kProgramFields)

BATON_ROW_OF_FIELDS(SourceText, kSourceFields)
BATON_ROW_OF_FIELDS(KernelRow, kKernelFields)
BATON_ROW_OF_FIELDS(FunctionRow, kFunctionFields)
BATON_ROW_OF_FIELDS(UnfusedRow, kUnfusedFields)

namespace {

using Report = ProfileReport;

Json write_level(const Report& report) {
  return report.opt_level < 0 ? Json(nullptr) : Json(report.opt_level);
}
void read_level(const Json& json, Report& report) {
  report.opt_level = json.is_null() ? -1 : json.get<int>();
}

double least(const Report& report) {
  return report.plain_us.empty() ? 0 : *std::min_element(report.plain_us.begin(), report.plain_us.end());
}
double run_p90(const Report& report) { return percentile(report.plain_us, 0.9); }
double run_p99(const Report& report) { return percentile(report.plain_us, 0.99); }
double runs_per_second(const Report& report) {
  return report.end_to_end_us > 0 ? 1e6 / report.end_to_end_us : 0;
}
double profiled_median(const Report& report) { return median(report.profiled_us); }

constexpr fields::Field<Report> kPlainFields[] = {
    required<Report, &Report::end_to_end_us>("median"),
    derived<Report, least>("min"),
    derived<Report, run_p90>("p90"),
    derived<Report, run_p99>("p99"),
    derived<Report, runs_per_second>("per_second"),
    required<Report, &Report::plain_us>("samples"),
    or_null<Report, &Report::end_to_end_plus_minus_us>("plus_minus"),
    may_lack<Report, &Report::rounds_us>("rounds"),
    unless_empty<Report, &Report::disturbed_us>("disturbed"),
    may_lack<Report, &Report::core_ns>("core_ns")};
constexpr fields::Field<Report> kProfiledFields[] = {derived<Report, profiled_median>("median"),
                                                     required<Report, &Report::profiled_us>("samples")};
constexpr fields::Field<Report> kUnfusedBuildFields[] = {
    required<Report, &Report::unfused_us>("end_to_end_us"), required<Report, &Report::unfused>("kernels")};

/// An object whose members are members of the report itself.
template <const auto& kFields>
constexpr fields::Field<Report> group(const char* name) {
  return {[](const char* key, const Report& report, Json& json) {
            fields::write<Report>(kFields, report, json[key]);
          },
          [](const char* key, const Json& json, Report& report) {
            fields::read<Report>(kFields, json.at(key), report);
          },
          name};
}

/// Without peaks, which stand apart.
void write_sheet(const char* key, const Report& report, Json& json) {
  if (!report.sheet) return;
  DeviceSheet facts = *report.sheet;
  facts.peaks.reset();
  json[key] = facts.text();
}
void read_sheet(const char* key, const Json& json, Report& report) {
  // Facts that this version does not know: the profile is read without a sheet, as those of older versions.
  if (json.contains(key)) report.sheet = DeviceSheet::from_text(json.at(key).get<std::string>());
}

/// Writes the device's name and peaks only.
void write_peaks(const char* key, const Report& report, Json& json) {
  if (!report.device) {
    json[key] = nullptr;
    return;
  }
  Json peaks;
  fields::write<DevicePeaks>(kPeakFields, *report.device->peaks, peaks);
  json[key] = {{"name", report.device->name}};
  json[key].update(peaks);
}
void read_peaks(const char* key, const Json& json, Report& report) {
  const Json& peaks = json.at(key);
  if (peaks.is_null()) return;
  report.device = report.sheet.value_or(DeviceSheet());
  peaks.at("name").get_to(report.device->name);
  fields::read<DevicePeaks>(kPeakFields, peaks, report.device->peaks.emplace());
}

void write_memory(const char* key, const Report& report, Json& json) {
  if (report.memory) fields::write<MemoryUse>(kMemoryFields, *report.memory, json[key]);
}
void read_memory(const char* key, const Json& json, Report& report) {
  if (json.contains(key)) fields::read<MemoryUse>(kMemoryFields, json.at(key), report.memory.emplace());
}

/// Rows of [node, begin, end] and [thread, begin, end, iterations], in microseconds.
void write_timeline(const char* key, const Report& report, Json& json) {
  if (!report.timeline) return;
  Json calls = Json::array(), loops = Json::array();
  for (const RunTimeline::Call& call : report.timeline->calls)
    calls.push_back({call.node, call.begin_ns / 1e3, call.end_ns / 1e3});
  for (const RunTimeline::Loop& loop : report.timeline->loops)
    loops.push_back({loop.thread, loop.begin_ns / 1e3, loop.end_ns / 1e3, loop.iterations});
  json[key] = {{"us", report.timeline->total_ns / 1e3}, {"calls", calls}, {"loops", loops}};
}
void read_timeline(const char* key, const Json& json, Report& report) {
  if (!json.contains(key)) return;
  const Json& from = json.at(key);
  RunTimeline& timeline = report.timeline.emplace();
  timeline.total_ns = from.at("us").get<double>() * 1e3;
  const auto ns = [](const Json& us) { return us.get<double>() * 1e3; };
  for (const Json& call : from.at("calls"))
    timeline.calls.push_back({call.at(0).get<uint32_t>(), ns(call.at(1)), ns(call.at(2))});
  for (const Json& loop : from.at("loops"))
    timeline.loops.push_back({loop.at(0).get<int>(), ns(loop.at(1)), ns(loop.at(2)), loop.at(3).get<int>()});
}

void write_compared(const char* key, const Report& report, Json& json) {
  if (report.comparison) json[key] = comparison_json(*report.comparison);
}
void read_compared(const char* key, const Json& json, Report& report) {
  if (json.contains(key)) report.comparison = read_comparison(json.at(key));
}

/// Only where it is true.
void write_other_machine(const char* key, const Report& report, Json& json) {
  if (report.other_machine) json[key] = true;
}
void read_other_machine(const char* key, const Json& json, Report& report) {
  report.other_machine = json.contains(key) && json.at(key).get<bool>();
}

void write_rescaled(const char* key, const Report& report, Json& json) {
  if (!report.rescaled.empty()) json[key] = report.rescaled;
}
void read_rescaled(const char* key, const Json& json, Report& report) {
  report.rescaled = json.value(key, "");
}

/// For a predicted report: {"level", "low_us", "high_us"} of the whole model. A guess has no level.
void write_interval(const char* key, const Report& report, Json& json) {
  if (report.out_of_range.empty() && report.end_to_end_low_us && report.end_to_end_high_us)
    json[key] = {{"level", report.level},
                 {"low_us", *report.end_to_end_low_us},
                 {"high_us", *report.end_to_end_high_us}};
}
void read_interval(const char* key, const Json& json, Report& report) {
  if (!json.contains(key)) return;
  json.at(key).at("level").get_to(report.level);
  report.end_to_end_low_us = json.at(key).at("low_us").get<double>();
  report.end_to_end_high_us = json.at(key).at("high_us").get<double>();
}

void write_modules(const char* name, const Report& report, Json& json) { json[name] = modules_json(report); }
void write_lines(const char* name, const Report& report, Json& json) { json[name] = lines_json(report); }
void read_no_view(const char*, const Json&, Report&) {}  // derived

constexpr fields::Field<Report> kReportFields[] = {
    derived<Report, [](const Report&) { return kReportSchema; }>("schema"),
    required<Report, &Report::model>("model"),
    required<Report, &Report::target>("target"),
    may_lack<Report, &Report::machine>("machine"),
    may_lack<Report, &Report::host>("host"),
    {write_sheet, read_sheet, "sheet"},
    {write_other_machine, read_other_machine, "other_machine"},
    {write_rescaled, read_rescaled, "rescaled"},
    required<Report, &Report::threads>("threads"),
    required<Report, &Report::version>("version"),
    custom<Report, write_level, read_level>("opt_level"),
    or_null<Report, &Report::precision>("precision"),
    or_null<Report, &Report::source>("source"),
    group<kPlainFields>("end_to_end_us"),
    group<kProfiledFields>("profiled_us"),
    required<Report, &Report::sum_us>("sum_us"),
    derived<Report, &Report::residual_us>("residual_us"),
    or_null<Report, &Report::between_us>("between_us"),
    derived<Report, &Report::overhead>("overhead"),
    {write_load<Report>, read_load<Report>, "under_load"},
    unless_empty<Report, &Report::partial>("partial"),
    required<Report, &Report::cv>("cv"),
    required<Report, &Report::load>("load"),
    may_lack<Report, &Report::others_busy>("others_busy"),
    unless_empty<Report, &Report::exchange_ns>("exchange_ns"),
    required<Report, &Report::notes>("notes"),
    unless_empty<Report, &Report::predicted>("predicted"),
    {write_interval, read_interval, "interval"},
    unless_empty<Report, &Report::out_of_range>("out_of_range"),
    {write_peaks, read_peaks, "peaks"},
    required<Report, &Report::operators>("operators"),
    required<Report, &Report::kernels>("kernels"),
    required<Report, &Report::functions>("functions"),
    group<kUnfusedBuildFields>("unfused"),
    {write_memory, read_memory, "memory"},
    unless_empty<Report, &Report::program>("program"),
    unless_empty<Report, &Report::inputs>("inputs"),
    unless_empty<Report, &Report::point>("point"),
    {write_timeline, read_timeline, "timeline"},
    {write_compared, read_compared, "comparison"},
    unless_empty<Report, &Report::sources>("sources"),
    {write_modules, read_no_view, "modules"},
    {write_lines, read_no_view, "lines"}};

// Ids index the rows: reject ids out of range on reading.
void check_ids(const ProfileReport& report) {
  const auto check = [&](const Ids& ids) {
    for (uint32_t id : ids)
      if (id >= report.operators.size())
        throw Error("operator " + std::to_string(id) + " is named, but there are " +
                    std::to_string(report.operators.size()));
  };
  for (size_t i = 0; i < report.operators.size(); ++i) {
    const OperatorRow& row = report.operators[i];
    if (row.id != i)
      throw Error("operator " + std::to_string(row.id) + " stands at place " + std::to_string(i));
    check(row.inputs);
    check(row.fused_with);
  }
  for (const KernelRow& row : report.kernels) {
    check(row.origins);
    check(row.made_for);
    for (const InsideRow& part : row.inside) check(part.ids);
  }
  for (const UnfusedRow& row : report.unfused) {
    check(row.origins);
    check(row.made_for);
  }
  if (!report.comparison) return;
  for (const ComparedFunction& function : report.comparison->functions) {
    check(function.origins);
    check(function.made_for);
  }
}

}  // namespace

Json to_json(const ProfileReport& report) {
  Json json;
  fields::write<Report>(kReportFields, report, json);
  return json;
}

static ProfileReport report_of(const Json& json, const std::string& shown) {
  if (json.is_discarded() || !json.is_object() || !json.contains("kernels") || !json.contains("operators"))
    throw Error(shown + " is no profile: what `baton profile MODEL --json` prints is expected");
  const auto schema = json.find("schema");
  if (schema == json.end() || *schema != kReportSchema)
    throw Error(shown + " has schema " + (schema == json.end() ? "none" : schema->dump()) +
                ", this Baton reads schema " + std::to_string(kReportSchema) +
                ": make the profile anew with this version");
  try {
    for (const char* key : {"operators", "kernels"})  // null would be read as an empty list
      if (!json[key].is_array()) throw Error(std::string("its ") + key + " are no list");
    ProfileReport report;
    fields::read<Report>(kReportFields, json, report);
    check_ids(report);
    add_titles(report);
    return report;
  } catch (const JsonError& error) {
    throw Error(shown + " is damaged, or a profile of another version of Baton (" +
                (json.contains("version") ? json["version"].dump() : "unknown") + "): " + error.what());
  } catch (const Error& error) {
    throw Error(shown + " is damaged: " + error.what());
  }
}

ProfileReport read_report(const std::string& text, const std::string& shown) {
  std::vector<ProfileReport> reports = read_reports(text, shown);
  if (reports.size() != 1)
    throw Error(shown + " holds " + std::to_string(reports.size()) +
                " profiles, and one is expected: profile the models by themselves");
  return std::move(reports[0]);
}

std::vector<ProfileReport> read_reports(const std::string& text, const std::string& shown) {
  const Json json = Json::parse_or_discard(text);
  std::vector<ProfileReport> reports;
  if (!json.is_array()) return {report_of(json, shown)};
  for (size_t i = 0; i < json.size(); ++i)
    reports.push_back(report_of(json[i], "profile " + std::to_string(i + 1) + " of " + shown));
  if (reports.empty()) throw Error(shown + " is an empty list, and no profile");
  return reports;
}

}  // namespace baton
