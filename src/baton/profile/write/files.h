#pragma once
// What a report is written to: one name, the kind by its suffix. One home for the command line and Python.
#include <string>
#include <vector>

#include "baton/profile/report/rows.h"

namespace baton {

/// A kind of file.
struct FileKind {
  std::string suffix;  ///< ".trace.json"
  std::string doc;     ///< what it holds, for --help
  std::vector<std::string>
      parts;  ///< what it takes several files for: NAME.PART.suffix; "" is NAME.suffix itself
};

/// A file to be written.
struct WantedFile {
  std::string path;
  std::string suffix, part;  ///< of its kind
};

/// "profile.csv" -> profile.kernels.csv, profile.operators.csv, profile.parts.csv; "profile.kernels.csv" ->
/// itself. The longest suffix counts. UsageError for one that no kind has, with the nearest, and for a name
/// that is a suffix alone.
std::vector<WantedFile> wanted_files(const std::string& path, const std::vector<FileKind>& kinds);

/// Throws Error when nothing can be written there. Leaves nothing behind, and what is there as it is.
void check_writable(const std::string& path);
/// Under another name first: what was there stays until all is written. Throws Error.
void write_file(const std::string& path, const std::string& bytes);

/// A profile that was saved as .json. Throws Error for a file that cannot be read, or is none (read_report).
ProfileReport load_report(const std::string& path);

/// What a profile is written as: .json, .html, .csv, .parquet, .trace.json, .explorer.json, .txt.
const std::vector<FileKind>& report_kinds();
/// The bytes of a file of report_kinds(). `runs`: measured runs in a trace. Of Parquet it is the table as
/// JSON: what python/baton/_parquet.py makes the file from.
std::string report_bytes(const ProfileReport& report, const WantedFile& file, int runs = 0);

}  // namespace baton
