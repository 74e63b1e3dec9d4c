// The store of measurements: what goes in and out, and questions to it.
#include "baton/store/store.h"

#include <ctime>
#include <filesystem>
#include <set>

#include "baton/cli/lab/query_flags.h"
#include "baton/cli/lab/store_files.h"
#include "baton/cli/lab/store_table.h"
#include "baton/cli/verb.h"
#include "baton/driver/initialize.h"
#include "baton/profile/write/csv.h"
#include "baton/support/error.h"

namespace baton::cli {

namespace {

std::string day_of(int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

/// What `baton store stats` prints, one table each.
struct Statistic {
  const char *title, *sql;
};
constexpr Statistic kStatistics[] = {
    {"by kind",
     "SELECT kind, count(*) AS rows, count(DISTINCT work) AS works FROM rows GROUP BY kind ORDER BY rows "
     "DESC, kind"},
    {"by backend",
     "SELECT backend, threads, cache, count(*) AS rows FROM rows GROUP BY backend, threads, cache"
     " ORDER BY rows DESC, backend, threads, cache"},
    {"by device",
     "SELECT machine, device, device_kind AS kind, sheet, count(*) AS rows FROM rows GROUP BY machine, sheet"
     " ORDER BY rows DESC, machine, sheet"},
    {"by family",
     "SELECT coalesce(family, '-') AS family, count(DISTINCT model) AS models, count(*) AS rows FROM rows"
     " GROUP BY 1 ORDER BY rows DESC, 1"},
    {"by campaign",
     "SELECT campaign, count(DISTINCT configuration) AS configurations, count(*) AS rows FROM rows"
     " WHERE campaign IS NOT NULL GROUP BY campaign ORDER BY campaign"},
    {"variation of the samples (CV)",
     "SELECT CASE WHEN cv <= 0.01 THEN 'to 1 %' WHEN cv <= 0.03 THEN '1 to 3 %' WHEN cv <= 0.1 THEN '3 to 10 "
     "%'"
     " ELSE 'over 10 %' END AS cv, count(*) AS rows, sum(unreliable IS NOT NULL) AS unreliable,"
     " sum(samples) AS samples, sum(disturbed) AS disturbed, sum(outliers) AS outliers FROM rows WHERE "
     "samples > 0"
     " GROUP BY 1 ORDER BY min(rows.cv)"},
};

class StoreVerb final : public Verb {
 public:
  using Verb::Verb;

  void flags(Flags& flags) override {
    flags
        .positional("ACTION", &action_,
                    "import FILE...: lines of measurements (.jsonl), or saved profiles (.json)\n"
                    "export: measurements as lines on standard output, or as a file with -o\n"
                    "merge FILE...: the rows of other stores\n"
                    "query: the measurements that the flags below select\n"
                    "stats: what is in the store")
        .choices({"import", "export", "merge", "query", "stats"});
    flags.positionals("FILE", &files_, "of import and merge").required(false);
    flags.option("store", &path_,
                 "the store; default: $BATON_STORE, else baton/measurements.db in the cache folder");
    query_.add(flags);
    flags.option("sql", &sql_, "of query: a SELECT over the views of docs/design/0036 instead of the flags");
    flags.flag("json", &json_, "of query and stats: JSON on standard output");
    flags.flag("csv", &csv_, "of query: CSV on standard output");
    flags.option("o,output", &output_, "of export: .jsonl (with all samples), .csv or .parquet");
    flags.flag("check", &check_, "of stats: read everything, and list what is damaged");
    flags.option("as-machine", &facts_.machine,
                 "of import: the name of the machine that the profiles are of (default: the host's that "
                 "measured them)");
    flags.option("as-family", &facts_.family, "of import: the family of the profiles' models");
  }

  int run(Io& io) override {
    const std::string path = path_.empty() ? default_store_path() : store_path(path_);
    const bool takes_files = action_ == "import" || action_ == "merge";
    if (takes_files && files_.empty()) throw UsageError(action_ + ": which files?");
    if (!takes_files && !files_.empty())
      throw UsageError(action_ + " takes no files: `" + files_.front() +
                       "` is one too many; the store is --store");
    refuse_others(io);
    const StoreQuery query = query_.query();
    if (action_ == "import") return import(path, io);
    if (action_ == "merge") return merge(path, io);
    const Store store = Store::open(path, Store::Mode::kRead);
    if (action_ == "export") return run_export(store, query, io);
    return action_ == "query" ? run_query(store, query, io) : stats(store, io);
  }

 private:
  /// Options that belong to other actions.
  void refuse_others(const Io& io) const {
    std::set<std::string> known = {"store"};
    if (action_ == "import") known.insert({"as-machine", "as-family"});
    if (action_ == "export") known.insert("output");
    if (action_ == "query") known.insert({"json", "csv", "sql"});
    if (action_ == "stats") known.insert({"json", "check"});
    const std::set<std::string> own = {"store",  "sql",   "json",       "csv",
                                       "output", "check", "as-machine", "as-family"};
    const bool selects = action_ == "export" || (action_ == "query" && sql_.empty());
    for (const std::string& name : io.given)
      if (!known.count(name) && !(selects && !own.count(name)))
        throw UsageError("--" + name + " has no effect on " + action_ + (sql_.empty() ? "" : " with --sql"));
    if (json_ && csv_) throw UsageError("--json and --csv exclude each other");
  }

  int import(const std::string& path, Io& io) {
    initialize();  // saved profiles hold Relay text
    Store store = Store::open(path, Store::Mode::kWrite);
    for (const std::string& file : files_) {
      const Imported imported = import_file(store, file, facts_);
      io.err << file << ": " << imported.read << " rows, " << imported.added << " of them new\n";
    }
    return 0;
  }

  int merge(const std::string& path, Io& io) {
    Store store = Store::open(path, Store::Mode::kWrite);
    for (const std::string& file : files_) {
      std::error_code ignored;
      if (std::filesystem::equivalent(file, path, ignored))
        throw UsageError("`" + file + "` would be merged into itself");
      const Store other = Store::open(file, Store::Mode::kRead);
      const int64_t added = store.merge(other);
      io.err << file << ": " << other.count({}) << " rows, " << added << " of them new\n";
    }
    return 0;
  }

  int run_export(const Store& store, const StoreQuery& query, Io& io) {
    if (output_.empty()) {
      export_lines(store, query, io.out);
      return 0;
    }
    const int64_t rows = export_file(store, query, output_);
    io.err << "wrote " << output_ << ": " << rows << " rows\n" << places_note(store.places(query));
    return 0;
  }

  int run_query(const Store& store, const StoreQuery& query, Io& io) {
    const bool shown = !json_ && !csv_;
    const StoreTable table = !sql_.empty()
                                 ? store.sql(sql_)
                                 : store.table(query, shown ? shown_columns() : std::vector<std::string>());
    if (json_) {
      io.out << json_rows(table);
    } else if (csv_) {
      io.out << baton::csv(report_table(table, "rows"));
    } else if (!sql_.empty()) {
      write_columns(io.out, table, io.columns);
    } else {
      write_measurements(io.out, table, io.columns);
      io.out << table.rows.size() << (table.rows.size() == 1 ? " row" : " rows") << '\n';
    }
    if (sql_.empty()) (json_ || csv_ ? io.err : io.out) << places_note(store.places(query));
    return 0;
  }

  int stats(const Store& store, Io& io) {
    const StoreTable span = store.sql("SELECT count(*), min(begun_s), max(begun_s) FROM measurement");
    const int64_t rows = std::get<int64_t>(span.rows[0][0]);
    if (json_) {
      io.out << "{\"rows\":" << rows;
      for (const Statistic& each : kStatistics) {
        std::string list = json_rows(store.sql(each.sql));
        list.pop_back();
        io.out << ",\"" << each.title << "\":" << list;
      }
      io.out << "}\n";
    } else {
      io.out << store.path() << ": " << rows << (rows == 1 ? " row" : " rows");
      if (rows)
        io.out << ", measured from " << day_of(std::get<int64_t>(span.rows[0][1])) << " to "
               << day_of(std::get<int64_t>(span.rows[0][2]));
      io.out << '\n';
      for (const Statistic& each : kStatistics) {
        const StoreTable table = store.sql(each.sql);
        if (table.rows.empty()) continue;
        io.out << '\n' << each.title << '\n';
        write_columns(io.out, table, io.columns);
      }
    }
    if (!check_) return 0;
    const std::vector<std::string> damage = store.damage();
    for (const std::string& line : damage) io.err << line << '\n';
    io.err << (damage.empty() ? "nothing is damaged\n" : "");
    return damage.empty() ? 0 : 1;
  }

  std::string action_, path_, sql_, output_;
  std::vector<std::string> files_;
  QueryFlags query_;
  ImportFacts facts_;
  bool json_ = false, csv_ = false, check_ = false;
};

}  // namespace

std::unique_ptr<Verb> store_verb(std::string name, std::string doc) {
  return std::make_unique<StoreVerb>(std::move(name), std::move(doc));
}

}  // namespace baton::cli
