#include "baton/profile/write/files.h"

#include <algorithm>
#include <sstream>

#include "baton/profile/write/csv.h"
#include "baton/profile/write/model_explorer.h"
#include "baton/profile/write/page.h"
#include "baton/profile/write/report_json.h"
#include "baton/profile/write/table.h"
#include "baton/profile/write/tables.h"
#include "baton/profile/write/trace.h"
#include "baton/support/base/files.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/support/json.h"
#include "baton/support/require.h"

namespace baton {
namespace {

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

const FileKind& kind_of(const std::string& path, const std::vector<FileKind>& kinds) {
  const FileKind* found = nullptr;
  std::string known;
  std::vector<std::string> suffixes;
  for (const FileKind& kind : kinds) {
    suffixes.push_back(kind.suffix);
    known += (known.empty() ? "" : ", ") + kind.suffix;
    if (path.ends_with(kind.suffix) && (!found || kind.suffix.size() > found->suffix.size())) found = &kind;
  }
  const std::string name = file_name(path);
  if (found && name != found->suffix) return *found;
  if (found) throw UsageError("`" + path + "` has no name before `" + found->suffix + "`");
  const size_t dot = name.rfind('.');
  const std::string near = dot == std::string::npos ? "" : did_you_mean(name.substr(dot), suffixes);
  throw UsageError("`" + path + "` does not say what to write" +
                   (near.empty() ? "" : "; did you mean `" + near + "`?") + "\n  the name ends with one of " +
                   known);
}

std::vector<FileKind> with_tables() {
  std::vector<FileKind> kinds = {
      {".json", "the profile, to be read again (docs/design/0005)", {""}, true},
      {".html", "one page: graph, times, roofline, treemap, search", {""}},
      {".txt", "the table of the terminal", {""}, true},
      {".csv",
       "three tables: kernels, operators, parts (docs/design/0011)",
       table_names(),
       true,
       {kComparisonTable}},
      {".parquet", "the same three tables; needs pyarrow in Python", table_names(), true, {kComparisonTable}},
      {".trace.json", "a trace for Perfetto: model > kernel > operator", {""}},
      {".explorer.json", "graphs for Model Explorer, and times for their nodes", {""}}};
  for (const std::string& quantity : explorer_quantities()) kinds.back().parts.push_back(quantity);
  return kinds;
}

}  // namespace

std::vector<WantedFile> wanted_files(const std::string& path, const std::vector<FileKind>& kinds,
                                     const std::vector<std::string>& models) {
  const FileKind& kind = kind_of(path, kinds);
  const std::string stem = path.substr(0, path.size() - kind.suffix.size());
  std::vector<std::string> each = kind.joins || models.size() < 2 ? std::vector<std::string>{""} : models;
  std::vector<WantedFile> files;
  for (const std::string& model : each) {
    const std::string middle = model.empty() ? "" : "." + model;
    std::vector<std::string> parts = kind.parts;
    parts.insert(parts.end(), kind.named.begin(), kind.named.end());
    for (const std::string& part : parts)
      if (!part.empty() && file_name(stem).size() > part.size() + 1 && stem.ends_with("." + part)) {
        const std::string before = stem.substr(0, stem.size() - part.size() - 1);
        files.push_back({before + middle + "." + part + kind.suffix, kind.suffix, part, model});
      }
  }
  if (!files.empty()) return files;
  for (const std::string& model : each)
    for (const std::string& part : kind.parts)
      files.push_back(
          {stem + (model.empty() ? "" : "." + model) + (part.empty() ? "" : "." + part) + kind.suffix,
           kind.suffix, part, model});
  return files;
}

void check_writable(const std::string& path) {
  TemporaryFile file;
  require(file.create(path));
}

void write_file(const std::string& path, const std::string& bytes) {
  TemporaryFile file;
  require(file.create(path));
  require(file.append(bytes.data(), bytes.size()));
  require(file.keep());
}

ProfileReport load_report(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text.ok()) throw Error("`" + path + "` cannot be read: " + text.status().message);
  return read_report(*text, "`" + path + "`");
}

std::vector<ProfileReport> load_reports(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text.ok()) throw Error("`" + path + "` cannot be read: " + text.status().message);
  return read_reports(*text, "`" + path + "`");
}

const std::vector<FileKind>& report_kinds() {
  static const std::vector<FileKind> kinds = with_tables();
  return kinds;
}

std::vector<FileKind> comparison_kinds() {
  std::vector<FileKind> kinds = report_kinds();
  for (FileKind& kind : kinds) {
    kind.parts.insert(kind.parts.end(), kind.named.begin(), kind.named.end());
    kind.named.clear();
  }
  return kinds;
}

std::string report_bytes(const ProfileReport& report, const WantedFile& file, int runs) {
  return reports_bytes({report}, file, {}, runs);
}

std::string reports_json(const std::vector<ProfileReport>& reports, bool several) {
  if (!several) return to_json(reports.at(0)).dump() + "\n";
  Json list = Json::array();
  for (const ProfileReport& report : reports) list.push_back(to_json(report));
  return list.dump() + "\n";
}

std::string reports_bytes(const std::vector<ProfileReport>& reports, const WantedFile& file,
                          const std::vector<std::string>& models, int runs) {
  if (file.suffix == ".json") return reports_json(reports, models.size() > 1);
  if (file.suffix == ".csv") return csv(report_table(reports, file.part));
  if (file.suffix == ".parquet") return table_json(report_table(reports, file.part)).dump();
  if (file.suffix == ".txt") {
    std::ostringstream out;
    for (size_t i = 0; i < reports.size(); ++i) {
      if (i) out << '\n';
      write_table(out, reports[i]);
    }
    return out.str();
  }
  const size_t index = static_cast<size_t>(
      file.model.empty() ? 0 : std::find(models.begin(), models.end(), file.model) - models.begin());
  if (index >= reports.size())
    throw Error("`" + file.path + "` is not written: " + file.model + " was not measured");
  const ProfileReport& report = reports[index];
  if (file.suffix == ".html") return page(report);
  if (file.suffix == ".trace.json") return trace_json(report, runs) + "\n";
  BATON_CHECK(file.suffix == ".explorer.json", file.suffix);
  return (file.part.empty() ? explorer_graphs(report) : explorer_data(report, file.part)) + "\n";
}

}  // namespace baton
