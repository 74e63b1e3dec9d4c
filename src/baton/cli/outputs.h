#pragma once
// Output of a verb's result: the table or JSON on standard output, and any number of files, whose kind is
// given by the suffix. Shared by all verbs that output a profile or a difference of two.
#include <functional>
#include <string>
#include <vector>

#include "baton/cli/verb.h"
#include "baton/profile/write/curve.h"
#include "baton/profile/write/files.h"
#include "baton/profile/write/table.h"

namespace baton::cli {

/// The files given by -o, or another option.
class OutputFiles {
 public:
  void add(Flags& flags, const std::vector<FileKind>& kinds);
  /// Files of another option than -o.
  void add(Flags& flags, const std::vector<FileKind>& kinds, const std::string& option, std::string doc);
  /// Other kinds than those given to add(); check() follows.
  void set_kinds(std::vector<FileKind> kinds) {
    kinds_ = std::move(kinds);
    checked_ = false;
  }
  /// Early checks, before the result is available: unknown suffixes, duplicate names, unwritable folders, no
  /// pyarrow for Parquet. `models`: labels of several results; kinds that cannot hold several are written
  /// once for each, as NAME.LABEL.suffix. Throws UsageError and Error.
  void check(const std::vector<std::string>& models = {});
  bool any() const { return !paths_.empty(); }
  /// Whether the name of one ends so.
  bool any(const std::string& suffix) const;
  /// `bytes`: returns the contents of one file. Reports written files on `err`. A failure does not prevent
  /// writing the others, since measuring took long. Throws Error at the end.
  void write(Io& io, const std::function<std::string(const WantedFile&)>& bytes);

 private:
  std::vector<FileKind> kinds_;
  std::vector<std::string> paths_;
  std::vector<WantedFile> files_;
  std::vector<std::string> models_;
  bool checked_ = false;
};

/// Labels of models in names of files: "nets/resnet.relay" -> "resnet"; equal ones are numbered.
std::vector<std::string> model_labels(const std::vector<std::string>& models);

/// The outputs of verbs that produce a profile.
class ProfileOutputs {
 public:
  /// -o, --json, --by, --all, --top, --sort, --trace-runs.
  void add(Flags& flags);
  /// Call before long work. `models`: the labels of the reports, if there will be several.
  void check(const std::vector<std::string>& models = {});
  /// Throws UsageError for options that have no effect on what is printed or written. `measured`: the report
  /// has runs.
  void refuse_ignored(const Io& io, bool measured = true) const;
  /// The reports will compare backends: their table is among the files. Before check().
  void with_comparison() { files_.set_kinds(comparison_kinds()); }
  /// The reports will be the points of a curve: one table of all, and files of curve_kinds(). check()
  /// follows.
  void as_curve() {
    files_.set_kinds(curve_kinds());
    curve_ = true;
  }
  bool json() const { return json_; }
  bool any_file() const { return files_.any(); }
  /// Prints at once what stands above the next report's table; `report`: without times.
  void heading(const ProfileReport& report, Io& io);
  /// Prints a report's table below its heading; write() leaves it out then.
  void table(const ProfileReport& report, Io& io);
  /// The tables that are missing, or JSON, and the files. `reports`: one, or one for each label given to
  /// check(); fewer when measuring ended early.
  void write(const std::vector<ProfileReport>& reports, Io& io);

 private:
  TableOptions options(const Io& io) const;

  OutputFiles files_;
  std::vector<std::string> models_;
  int trace_runs_ = 0, top_ = TableOptions().top;
  std::string sort_, by_;
  bool json_ = false, all_ = false, curve_ = false;
  size_t tables_ = 0;    ///< printed
  bool headed_ = false;  ///< the next one's heading is printed
};

}  // namespace baton::cli
