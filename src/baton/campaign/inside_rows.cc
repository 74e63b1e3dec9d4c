#include "baton/campaign/inside_rows.h"

#include "baton/driver/cut/cut_values.h"
#include "baton/profile/record/record.h"
#include "baton/profile/report/profile.h"
#include "baton/target/machine_name.h"

namespace baton {

std::vector<Measurement> inside_rows(const RowSource& source, const BuildContext& context) {
  const std::unique_ptr<Executor> executor = make_executor(*source.built);
  executor->set_threads(source.configuration->threads);
  set_model_inputs(*executor, {});
  ProfileOptions options;
  options.context = context;
  options.unfused = options.peaks = false;
  options.measure.min_seconds = 0.3;
  ProfileReport report = profile(*source.built, *executor, options);
  const bool is_model = source.subject->kind == Subject::Kind::kModel;
  report.model = source.subject->name;
  report.opt_level = context.passes->opt_level;
  RecordSource record;
  record.built = source.built;
  record.module = source.subject->module;
  record.context = &context;
  record.machine = machine_name();
  record.family = source.subject->family;
  record.begun_s = source.begun_s;
  std::vector<Measurement> parts;
  for (Measurement& row : measurements_of(report, record)) {
    if (row.work.kind != WorkKind::kPart) continue;
    if (!is_model) {
      row.model.clear();
      row.model_id.clear();
    }
    row.campaign = source.campaign;
    row.configuration = source.configuration->key + source.visit;
    row.reference_us = source.reference_us;
    if (!source.unreliable.empty()) row.unreliable = source.unreliable;
    parts.push_back(std::move(row));
  }
  return parts;
}

}  // namespace baton
