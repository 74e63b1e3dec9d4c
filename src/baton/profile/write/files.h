#pragma once
// Output files of reports, with the kind given by the suffix. Shared by the command line and Python.
#include <string>
#include <vector>

#include "baton/profile/report/rows.h"

namespace baton {

/// A kind of output file.
struct FileKind {
  std::string suffix;  ///< ".trace.json"
  std::string doc;     ///< its description, for --help
  std::vector<std::string>
      parts;           ///< what it takes several files for: NAME.PART.suffix; "" is NAME.suffix itself
  bool joins = false;  ///< one file holds several reports
  std::vector<std::string> named = {};  ///< parts that are written only when the file's name has them
};

/// A file to be written.
struct WantedFile {
  std::string path;
  std::string suffix, part;  ///< of its kind
  std::string model = {};    ///< the label of the only report that it holds; empty: all
};

/// "profile.csv" -> profile.kernels.csv, profile.operators.csv, profile.parts.csv; "profile.kernels.csv" ->
/// itself. The longest suffix wins. UsageError for an unknown suffix, suggesting the nearest, and for a name
/// that consists of a suffix only. `models`: labels of several reports; of kinds that hold only one each gets
/// its own: "p.html" -> p.resnet-18.html, p.vgg-11.html.
std::vector<WantedFile> wanted_files(const std::string& path, const std::vector<FileKind>& kinds,
                                     const std::vector<std::string>& models = {});

/// Throws Error when the path is not writable. Leaves no file behind, and existing ones unchanged.
void check_writable(const std::string& path);
/// Writes atomically: under a temporary name, then renamed. Throws Error.
void write_file(const std::string& path, const std::string& bytes);

/// Loads a profile saved as .json. Throws Error for an unreadable or malformed file (read_report).
ProfileReport load_report(const std::string& path);
/// The same for a file that may hold several.
std::vector<ProfileReport> load_reports(const std::string& path);

/// The supported kinds: .json, .html, .csv, .parquet, .trace.json, .explorer.json, .txt.
const std::vector<FileKind>& report_kinds();
/// The same for reports that compare backends: their tables are written without being named.
std::vector<FileKind> comparison_kinds();
/// The contents of a file of report_kinds(). `runs`: measured runs in a trace. For Parquet the table as JSON,
/// which python/baton/_parquet.py converts.
std::string report_bytes(const ProfileReport& report, const WantedFile& file, int runs = 0);
/// The same for one or several reports, with their labels. Throws Error when the file's report is missing,
/// because measuring ended early.
std::string reports_bytes(const std::vector<ProfileReport>& reports, const WantedFile& file,
                          const std::vector<std::string>& models, int runs = 0);
/// One line: an object, or with `several` a list of them.
std::string reports_json(const std::vector<ProfileReport>& reports, bool several);

}  // namespace baton
