#include "baton/cli/lab/store_files.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <sys/stat.h>

#include "baton/cli/lab/store_table.h"
#include "baton/cli/parquet.h"
#include "baton/profile/record/record.h"
#include "baton/profile/write/csv.h"
#include "baton/profile/write/files.h"
#include "baton/profile/write/report_json.h"
#include "baton/store/measurement_json.h"
#include "baton/support/base/files.h"
#include "baton/support/error.h"
#include "baton/support/json.h"
#include "baton/support/require.h"
#include "baton/support/subprocess.h"

namespace baton::cli {
namespace {

constexpr size_t kBatch = 1000;

bool is_measurement(const std::string& line) {
  const Json json = Json::parse_or_discard(line);
  return json.is_object() && json.contains("baton_measurement");
}

int64_t changed_s(const std::string& path) {
  struct stat about;
  return ::stat(path.c_str(), &about) == 0 ? static_cast<int64_t>(about.st_mtime) : 0;
}

Imported import_lines(Store& store, const std::string& path, std::istream& file, std::string line) {
  Imported imported;
  std::vector<Measurement> batch;
  const auto flush = [&] {
    imported.added += store.insert(batch);
    batch.clear();
  };
  for (int64_t number = 1;; ++number) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) {
      try {
        batch.push_back(measurement_from_line(line));
      } catch (const Error& error) {
        flush();
        throw Error(path + ", line " + std::to_string(number) + ": " + error.what() + "; the " +
                    std::to_string(imported.read) + " rows before it are stored");
      }
      ++imported.read;
      if (batch.size() == kBatch) flush();
    }
    if (!std::getline(file, line)) break;
  }
  flush();
  return imported;
}

/// `plain`: the file, unpacked.
Imported import_profiles(Store& store, const std::string& plain, const std::string& path,
                         const ImportFacts& facts) {
  std::vector<Measurement> rows;
  const Result<std::string> text = read_file(plain);
  if (!text.ok()) throw Error("`" + path + "` cannot be read: " + text.status().message);
  for (const ProfileReport& report : read_reports(*text, "`" + path + "`")) {
    RecordSource source;
    source.live = false;
    source.machine = !facts.machine.empty() ? facts.machine
                     : report.host.empty()  ? report.machine
                                            : report.host;
    source.family = facts.family.empty() ? family_of_workload(report.model) : facts.family;
    source.begun_s = changed_s(path);
    const std::vector<Measurement> more = measurements_of(report, source);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return {static_cast<int64_t>(rows.size()), store.insert(rows)};
}

struct Unpacker {
  std::string_view bytes;  ///< that a file begins with
  const char *program, *package;
};
constexpr Unpacker kUnpackers[] = {{"\xFD\x37zXZ", "xz", "xz-utils"},
                                   {"\x1F\x8B", "gzip", "gzip"},
                                   {"\x28\xB5\x2F\xFD", "zstd", "zstd"},
                                   {"BZh", "bzip2", "bzip2"}};

/// What unpacks the file; null: it is not packed.
const Unpacker* unpacker_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char first[8] = {};
  file.read(first, sizeof first);
  for (const Unpacker& each : kUnpackers)
    if (std::string_view(first, sizeof first).starts_with(each.bytes)) return &each;
  return nullptr;
}

/// The file, unpacked into a temporary one.
void unpack(const std::string& path, const Unpacker& by, const TemporaryFolder& folder,
            const std::string& to) {
  const std::string program = find_program(by.program);
  if (program.empty())
    throw Error("`" + path + "` is packed, and the program `" + by.program +
                "` that unpacks it is not installed: install the Debian package " + by.package);
  const std::string errors = folder.path("errors");
  if (run_program({program, "-dc", "--", path}, errors, to) == 0) return;
  std::string why = start_of(errors);
  while (!why.empty() && why.back() == '\n') why.pop_back();
  throw Error("`" + path + "` cannot be unpacked: " + (why.empty() ? program + " failed" : why));
}

/// `path`: what the user gave; `plain`: the same, unpacked.
Imported import_plain(Store& store, const std::string& path, const std::string& plain,
                      const ImportFacts& facts) {
  std::ifstream file(plain, std::ios::binary);
  std::string line;
  if (!file || (!std::getline(file, line) && !file.eof()))
    throw Error("cannot read `" + path + "`: " + std::strerror(errno));
  if (line.find_first_not_of(" \t\r\n") == std::string::npos && file.eof())
    throw Error("`" + path + "` is empty: lines of measurements, or a saved profile, are expected");
  return is_measurement(line) ? import_lines(store, path, file, line)
                              : import_profiles(store, plain, path, facts);
}

}  // namespace

Imported import_file(Store& store, const std::string& path, const ImportFacts& facts) {
  if (const Unpacker* by = unpacker_of(path)) {
    TemporaryFolder folder;
    require(folder.create("import"));
    const std::string plain = folder.path("unpacked");
    unpack(path, *by, folder, plain);
    if (unpacker_of(plain)) throw Error("`" + path + "` is packed more than once: unpack it before");
    return import_plain(store, path, plain, facts);
  }
  return import_plain(store, path, path, facts);
}

int64_t export_lines(const Store& store, const StoreQuery& query, std::ostream& out) {
  int64_t rows = 0;
  store.each(query, [&](const Measurement& measurement) {
    out << measurement_line(measurement) << '\n';
    ++rows;
    return bool(out);
  });
  return rows;
}

int64_t export_file(const Store& store, const StoreQuery& query, const std::string& path) {
  if (path.ends_with(".jsonl")) {
    TemporaryFile file;
    require(file.create(path));
    int64_t rows = 0;
    store.each(query, [&](const Measurement& measurement) {
      const std::string line = measurement_line(measurement) + "\n";
      require(file.append(line.data(), line.size()));
      ++rows;
      return true;
    });
    require(file.keep());
    return rows;
  }
  if (!path.ends_with(".csv") && !path.ends_with(".parquet"))
    throw UsageError("`" + path +
                     "`: measurements are written as .jsonl (with all samples), .csv or .parquet");
  check_writable(path);
  const StoreTable table = store.table(query);
  if (path.ends_with(".csv"))
    write_file(path, csv(report_table(table, "measurements")));
  else
    ParquetWriter().write(table_json(report_table(table, "measurements")).dump(), path);
  return static_cast<int64_t>(table.rows.size());
}

}  // namespace baton::cli
