#pragma once
// Where a verb writes its result: on standard output the table, or JSON; and to any number of files, the kind
// of each by its suffix. The same for every verb that has a profile or a difference of two.
#include <functional>
#include <string>
#include <vector>

#include "baton/cli/verb.h"
#include "baton/profile/write/files.h"

namespace baton::cli {

/// The files that a user named with -o.
class OutputFiles {
 public:
  void add(Flags& flags, const std::vector<FileKind>& kinds);
  /// Everything that can be known before a result is there: unknown suffixes, one name twice, folders that
  /// cannot be written, no pyarrow for Parquet. Throws UsageError and Error.
  void check();
  bool any() const { return !paths_.empty(); }
  /// `bytes`: of one file. Says on `err` what was written. What cannot be written keeps nothing else from
  /// being written: it took long to measure. Throws Error at the end.
  void write(Io& io, const std::function<std::string(const WantedFile&)>& bytes);

 private:
  std::vector<FileKind> kinds_;
  std::vector<std::string> paths_;
  std::vector<WantedFile> files_;
  bool checked_ = false;
};

/// A verb that ends with a profile has one of these.
class ProfileOutputs {
 public:
  /// -o, --json, --all, --trace-runs.
  void add(Flags& flags);
  /// To be called before what takes long.
  void check() { files_.check(); }
  bool json() const { return json_; }
  bool any_file() const { return files_.any(); }
  void write(const ProfileReport& report, Io& io);

 private:
  OutputFiles files_;
  int trace_runs_ = 0;
  bool json_ = false, all_ = false;
};

}  // namespace baton::cli
