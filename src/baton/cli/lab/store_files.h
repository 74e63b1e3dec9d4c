#pragma once
// Files that measurements are read from and written to.
#include <string>

#include "baton/cli/verb.h"
#include "baton/store/store.h"

namespace baton::cli {

/// What of a saved profile its file does not say.
struct ImportFacts {
  std::string machine;  ///< empty: the name of its processor
  std::string family;
};

struct Imported {
  int64_t read = 0, added = 0;
};

/// Lines of measurements (baton store export), or saved profiles (baton profile --json, -o NAME.json). Throws
/// Error with the line that cannot be read; rows before it are stored.
Imported import_file(Store& store, const std::string& path, const ImportFacts& facts);

/// One line per measurement. Returns their number.
int64_t export_lines(const Store& store, const StoreQuery& query, std::ostream& out);
/// To a file by its suffix: .jsonl, .csv, .parquet. UsageError for others.
int64_t export_file(const Store& store, const StoreQuery& query, const std::string& path);

}  // namespace baton::cli
