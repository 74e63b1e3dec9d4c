#pragma once
// Output of a verb's result: the table or JSON on standard output, and any number of files, whose kind is
// given by the suffix. Shared by all verbs that output a profile or a difference of two.
#include <functional>
#include <string>
#include <vector>

#include "baton/cli/verb.h"
#include "baton/profile/write/files.h"

namespace baton::cli {

/// The files given by -o.
class OutputFiles {
 public:
  void add(Flags& flags, const std::vector<FileKind>& kinds);
  /// Early checks, before the result is available: unknown suffixes, duplicate names, unwritable folders, no
  /// pyarrow for Parquet. Throws UsageError and Error.
  void check();
  bool any() const { return !paths_.empty(); }
  /// `bytes`: returns the contents of one file. Reports written files on `err`. A failure does not prevent
  /// writing the others, since measuring took long. Throws Error at the end.
  void write(Io& io, const std::function<std::string(const WantedFile&)>& bytes);

 private:
  std::vector<FileKind> kinds_;
  std::vector<std::string> paths_;
  std::vector<WantedFile> files_;
  bool checked_ = false;
};

/// The outputs of verbs that produce a profile.
class ProfileOutputs {
 public:
  /// -o, --json, --all, --trace-runs.
  void add(Flags& flags);
  /// Call before long work.
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
