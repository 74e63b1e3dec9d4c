#include "baton/cli/lab/feature_tables.h"

#include <cmath>

#include "baton/predict/features.h"
#include "baton/predict/regressor.h"

namespace baton::cli {

namespace {

constexpr char kKernels[] = "kernels", kModels[] = "models", kCalls[] = "calls";

ReportTable kernels_of(const Dataset& data) {
  std::vector<const KernelCase*> cases;
  for (const KernelSample& each : data.kernels) cases.push_back(&each.kernel);
  const FeatureSpace space(cases);
  ReportTable table{.name = kKernels,
                    .columns = {{"kernel", CellKind::kInteger},
                                {"function", CellKind::kText},
                                {"brief", CellKind::kText},
                                {"family", CellKind::kText},
                                {"backend", CellKind::kText},
                                {"device", CellKind::kText},
                                {"cache", CellKind::kText},
                                {"median_us", CellKind::kNumber},
                                {"weight", CellKind::kNumber},
                                {"base_us", CellKind::kNumber}},
                    .rows = {}};
  for (const FeatureInfo& each : space.features()) table.columns.push_back({each.name, CellKind::kNumber});
  std::vector<float> features(space.size());
  for (size_t i = 0; i < data.kernels.size(); ++i) {
    const KernelSample& of = data.kernels[i];
    std::vector<Cell>& row = table.rows.emplace_back();
    row = {static_cast<int64_t>(i),
           of.work_id,
           of.brief,
           of.family,
           of.kernel.backend,
           of.kernel.sheet->name,
           std::string(cache_state_name(of.kernel.cache)),
           of.us,
           of.weight,
           std::exp(log_roofline_us(of.kernel))};
    space.write(of.kernel, features.data());
    for (const float value : features) {
      if (std::isnan(value))
        row.emplace_back();
      else
        row.emplace_back(static_cast<double>(value));
    }
  }
  return table;
}

}  // namespace

std::vector<ReportTable> feature_tables(const Dataset& data) {
  ReportTable models{.name = kModels,
                     .columns = {{"model", CellKind::kInteger},
                                 {"name", CellKind::kText},
                                 {"family", CellKind::kText},
                                 {"backend", CellKind::kText},
                                 {"device", CellKind::kText},
                                 {"threads", CellKind::kInteger},
                                 {"median_us", CellKind::kNumber},
                                 {"cv", CellKind::kNumber}},
                     .rows = {}};
  ReportTable calls{.name = kCalls,
                    .columns = {{"model", CellKind::kInteger},
                                {"kernel", CellKind::kInteger},
                                {"calls", CellKind::kNumber}},
                    .rows = {}};
  for (size_t i = 0; i < data.models.size(); ++i) {
    const ModelSample& of = data.models[i];
    models.rows.push_back({static_cast<int64_t>(i), of.name, of.family, of.backend, of.sheet->name,
                           static_cast<int64_t>(of.threads), of.us, of.cv});
    for (const auto& [kernel, times] : of.kernels)
      calls.rows.push_back({static_cast<int64_t>(i), static_cast<int64_t>(kernel), times});
  }
  return {kernels_of(data), std::move(models), std::move(calls)};
}

std::vector<FileKind> feature_kinds() {
  const std::vector<std::string> tables{kKernels, kModels, kCalls};
  return {{".csv", "three tables: kernels (with times and features), models, calls", tables},
          {".parquet", "the same three tables; needs pyarrow in Python", tables}};
}

}  // namespace baton::cli
