#include "baton/profile/write/views_json.h"

#include "baton/profile/views/module_tree.h"
#include "baton/profile/views/source_times.h"

namespace baton {

namespace {

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace

Json modules_json(const ProfileReport& report) {
  Json rows = Json::array();
  if (!has_modules(report)) return rows;
  const std::vector<ModuleRow> tree = module_tree(report);
  for (size_t at = 0; at < tree.size(); ++at) {
    const ModuleRow& row = tree[at];
    rows.push_back({{"path", row.path},
                    {"name", row.name},
                    {"parent", at == 0 ? Json(nullptr) : Json(row.parent)},
                    {"us", row.us},
                    {"own_us", row.own_us},
                    {"rest_us", row.rest_us},
                    {"added_us", row.added_us},
                    {"estimated", row.estimated},
                    {"operators", row.operators},
                    {"alike", row.alike},
                    {"first_alike", row.first_alike}});
  }
  return rows;
}

Json lines_json(const ProfileReport& report) {
  Json rows = Json::array();
  for (const SourceRow& row : source_times(report).rows)
    rows.push_back({{"file", or_null(row.where.file)},
                    {"line", row.where.line},
                    {"function", or_null(row.where.function)},
                    {"text", or_null(row.where.text)},
                    {"us", row.us},
                    {"estimated", row.estimated},
                    {"operators", row.operators}});
  return rows;
}

}  // namespace baton
