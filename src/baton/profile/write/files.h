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
      parts;  ///< what it takes several files for: NAME.PART.suffix; "" is NAME.suffix itself
};

/// A file to be written.
struct WantedFile {
  std::string path;
  std::string suffix, part;  ///< of its kind
};

/// "profile.csv" -> profile.kernels.csv, profile.operators.csv, profile.parts.csv; "profile.kernels.csv" ->
/// itself. The longest suffix wins. UsageError for an unknown suffix, suggesting the nearest, and for a name
/// that consists of a suffix only.
std::vector<WantedFile> wanted_files(const std::string& path, const std::vector<FileKind>& kinds);

/// Throws Error when the path is not writable. Leaves no file behind, and existing ones unchanged.
void check_writable(const std::string& path);
/// Writes atomically: under a temporary name, then renamed. Throws Error.
void write_file(const std::string& path, const std::string& bytes);

/// Loads a profile saved as .json. Throws Error for an unreadable or malformed file (read_report).
ProfileReport load_report(const std::string& path);

/// The supported kinds: .json, .html, .csv, .parquet, .trace.json, .explorer.json, .txt.
const std::vector<FileKind>& report_kinds();
/// The contents of a file of report_kinds(). `runs`: measured runs in a trace. For Parquet the table as JSON,
/// which python/baton/_parquet.py converts.
std::string report_bytes(const ProfileReport& report, const WantedFile& file, int runs = 0);

}  // namespace baton
