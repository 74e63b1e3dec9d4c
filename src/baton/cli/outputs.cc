#include "baton/cli/outputs.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "baton/cli/common.h"
#include "baton/cli/parquet.h"
#include "baton/support/error.h"

namespace baton::cli {

void OutputFiles::add(Flags& flags, const std::vector<FileKind>& kinds) {
  add(flags, kinds, "o,output",
      "a file; may be given several times. How the name ends says what is written:");
}

void OutputFiles::add(Flags& flags, const std::vector<FileKind>& kinds, const std::string& option,
                      std::string doc) {
  kinds_ = kinds;
  for (const FileKind& kind : kinds) doc += "\n" + kind.suffix + ": " + kind.doc;
  flags.files(option, &paths_, doc);
}

void OutputFiles::check(const std::vector<std::string>& models) {
  if (checked_ && models == models_) return;
  models_ = models;
  files_.clear();
  std::set<std::string> seen;
  for (const std::string& path : paths_) {
    for (WantedFile& file : wanted_files(path, kinds_, models)) {
      if (!seen.insert(std::filesystem::path(file.path).lexically_normal().string()).second)
        throw UsageError("`" + file.path + "` would be written twice");
      files_.push_back(std::move(file));
    }
  }
  bool parquet = false;
  for (const WantedFile& file : files_) {
    check_writable(file.path);
    parquet |= file.suffix == ".parquet";
  }
  if (parquet) ParquetWriter();
  checked_ = true;
}

void OutputFiles::write(Io& io, const std::function<std::string(const WantedFile&)>& bytes) {
  check(models_);
  std::string failed;
  for (const WantedFile& file : files_) {
    try {
      if (file.suffix == ".parquet")
        ParquetWriter().write(bytes(file), file.path);
      else
        write_file(file.path, bytes(file));
      io.err << "wrote " << file.path << '\n';
    } catch (const Error& error) {
      failed += (failed.empty() ? "" : "\n") + std::string(error.what());
    }
  }
  if (!failed.empty()) throw Error(failed);
}

bool OutputFiles::any(const std::string& suffix) const {
  return std::ranges::any_of(paths_, [&](const std::string& path) { return path.ends_with(suffix); });
}

std::vector<std::string> model_labels(const std::vector<std::string>& models) {
  std::vector<std::string> labels;
  std::map<std::string, int> count;
  for (const std::string& model : models) {
    const bool is_file = model.ends_with(".relay") || model.ends_with(".baton");
    std::string label = model == "-" ? "stdin"
                        : is_file    ? std::filesystem::path(model).stem().string()
                                     : model;
    std::replace(label.begin(), label.end(), '/', '_');
    const int taken = ++count[label];
    labels.push_back(taken == 1 ? label : label + "-" + std::to_string(taken));
  }
  return labels;
}

void ProfileOutputs::add(Flags& flags) {
  files_.add(flags, report_kinds());
  flags.option("trace-runs", &trace_runs_, "measured runs in a .trace.json, beside the one from medians")
      .show_default()
      .range(0, 1000000);
  flags
      .option(
          "by", &by_,
          "the table's rows: each operator, the tree of modules, the lines of the user's program, or each "
          "kernel (default: kinds of operators, and the longest kernels)")
      .choices(table_views());
  flags.option("top", &top_, "kernels, or operators, in the table; 0: all of them")
      .show_default()
      .range(0, 1000000);
  flags
      .option(
          "sort", &sort_,
          "the table's kernels by time, node (order of execution), roof (the furthest from it first) or cv")
      .choices(table_orders());
  flags.flag("all", &all_, "in the table: every kernel with its operators, and every operator");
  flags.flag("json", &json_,
             "one JSON object on standard output, with raw samples; of several models a list");
}

void ProfileOutputs::check(const std::vector<std::string>& models) {
  models_ = models;
  files_.check(models);
}

void ProfileOutputs::refuse_ignored(const Io& io, bool measured) const {
  if (json_) refuse_options(io, {"by", "all", "top", "sort"}, "--json prints no table");
  if (by_ == "module" || by_ == "source")
    refuse_options(io, {"top", "sort"}, "--by " + by_ + " shows them in the order of the program");
  if (by_ == "operator") refuse_options(io, {"sort"}, "--by operator shows the longest first");
  if (!measured)
    refuse_options(io, {"trace-runs"}, "there are no measured runs in a prediction");
  else if (!files_.any(".trace.json"))
    refuse_options(io, {"trace-runs"}, "it is for -o NAME.trace.json");
}

TableOptions ProfileOutputs::options(const Io& io) const {
  TableOptions options{all_, top_, {}, io.columns, io.colour};
  options.by = table_by(by_);
  if (!sort_.empty()) options.order = table_order(sort_);
  return options;
}

void ProfileOutputs::heading(const ProfileReport& report, Io& io) {
  if (json_ || headed_ || (curve_ && tables_)) return;
  if (tables_) io.out << '\n';
  write_heading(io.out, report, options(io));
  io.out << std::flush;
  headed_ = true;
}

void ProfileOutputs::table(const ProfileReport& report, Io& io) {
  if (json_) return;
  heading(report, io);
  if (curve_) return;
  TableOptions without = options(io);
  without.heading = false;
  write_table(io.out, report, without);
  io.out << std::flush;
  ++tables_;
  headed_ = false;
}

void ProfileOutputs::write(const std::vector<ProfileReport>& reports, Io& io) {
  if (curve_) {
    if (!json_ && !reports.empty()) heading(reports.front(), io);
    if (!json_ && !reports.empty()) write_curve(io.out, reports, options(io));
    if (json_) io.out << reports_json(reports, true) << std::flush;
    return files_.write(io, [&](const WantedFile& file) { return curve_bytes(reports, file); });
  }
  for (size_t i = tables_; i < reports.size(); ++i) table(reports[i], io);
  if (json_) io.out << reports_json(reports, models_.size() > 1) << std::flush;
  files_.write(io,
               [&](const WantedFile& file) { return reports_bytes(reports, file, models_, trace_runs_); });
}

}  // namespace baton::cli
