#include "baton/cli/outputs.h"

#include <filesystem>
#include <set>

#include <nlohmann/json.hpp>

#include "baton/cli/parquet.h"
#include "baton/profile/write/report_json.h"
#include "baton/profile/write/table.h"
#include "baton/support/error.h"

namespace baton::cli {

void OutputFiles::add(Flags& flags, const std::vector<FileKind>& kinds) {
  kinds_ = kinds;
  std::string doc = "a file; may be given several times. How the name ends says what is written:";
  for (const FileKind& kind : kinds) doc += "\n" + kind.suffix + ": " + kind.doc;
  flags.files("o,output", &paths_, doc);
}

void OutputFiles::check() {
  if (checked_) return;
  std::set<std::string> seen;
  for (const std::string& path : paths_) {
    for (WantedFile& file : wanted_files(path, kinds_)) {
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
  check();
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

void ProfileOutputs::add(Flags& flags) {
  files_.add(flags, report_kinds());
  flags.option("trace-runs", &trace_runs_, "measured runs in a .trace.json, beside the one from medians")
      .show_default()
      .range(0, 1000000);
  flags.flag("all", &all_, "in the table: also operators that take next to nothing");
  flags.flag("json", &json_, "one JSON object on standard output, with raw samples");
}

void ProfileOutputs::write(const ProfileReport& report, Io& io) {
  if (json_)
    io.out << to_json(report).dump() << '\n';
  else
    write_table(io.out, report, all_);
  io.out << std::flush;
  files_.write(io, [&](const WantedFile& file) { return report_bytes(report, file, trace_runs_); });
}

}  // namespace baton::cli
