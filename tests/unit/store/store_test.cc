#include "baton/store/store.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "baton/store/measurement_json.h"
#include "baton/store/schema.h"
#include "baton/support/base/files.h"
#include "baton/support/error.h"

#include "store/measurements.h"

namespace baton {
namespace {

using made_up::measurement;

class StoreTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(folder_.create("store").ok()); }
  std::string path(const std::string& name = "m.db") const { return folder_.path(name); }
  Store writable(const std::string& name = "m.db") const {
    return Store::open(path(name), Store::Mode::kWrite);
  }
  Store readable(const std::string& name = "m.db") const {
    return Store::open(path(name), Store::Mode::kRead);
  }
  std::string error_of(const std::function<void()>& work) const {
    try {
      work();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  static std::vector<Measurement> many(int from, int to) {
    std::vector<Measurement> all;
    for (int i = from; i < to; ++i) all.push_back(measurement(i));
    return all;
  }
  TemporaryFolder folder_;
};

TEST_F(StoreTest, EveryFieldReadsBack) {
  std::vector<Measurement> rows = many(0, 20);
  rows.emplace_back();  // defaults
  Store store = writable();
  EXPECT_EQ(store.insert(rows), 21);
  EXPECT_EQ(store.select({}), rows);
  EXPECT_EQ(readable().select({}), rows);
}

TEST_F(StoreTest, ARowTwiceIsOne) {
  Store store = writable();
  EXPECT_EQ(store.insert(many(0, 5)), 5);
  EXPECT_EQ(store.insert(many(3, 8)), 3);
  EXPECT_EQ(store.count({}), 8);
  Store again = writable();  // caches of rows are empty
  EXPECT_EQ(again.insert(many(0, 9)), 1);
}

// Rows of f32, strict and bf16 were told apart by nothing.
TEST_F(StoreTest, PrecisionsOfOneWorkAreDifferentBuilds) {
  Measurement plain = measurement(1), strict = plain;
  ASSERT_EQ(plain.build.precision, "f32");
  strict.build.precision = "strict";
  EXPECT_NE(plain.build.digest(), strict.build.digest());
  EXPECT_NE(plain.id(), strict.id());
  Store store = writable();
  EXPECT_EQ(store.insert(std::vector{plain, strict}), 2);
  StoreQuery query;
  query.precision = "strict";
  ASSERT_EQ(store.select(query).size(), 1u);
  EXPECT_EQ(store.select(query).front(), strict);
  EXPECT_EQ(measurement_from_line(measurement_line(strict)), strict);
  query = {};
  EXPECT_EQ(store.table(query, {"precision"}).rows.size(), 2u);
}

TEST_F(StoreTest, QueriesSelect) {
  Measurement other = measurement(1);
  other.work.kind = WorkKind::kModel;
  other.work.operators = {
      {"nn.conv2d", Json::parse(R"({"strides":[1,1],"kernel_size":[3,3],"flag":true,"none":null})"), {}, ""},
      {"nn.conv2d", Json::parse(R"({"strides":[2,2],"kernel_size":[1,1],"real":0.5})"), {}, ""}};
  other.build.backend = "dnnl";
  other.build.target = "dnnl";
  other.machine = "there";
  other.device.name = "Another";
  other.threads = 1;
  other.cache = CacheState::kHot;
  other.unreliable.clear();
  other.family = other.model = other.model_id = other.campaign = other.configuration = "";
  other.origins = {{0, "nn.conv2d_of_the_model", "line 3"}};
  Store store = writable();
  store.insert(std::vector{measurement(0), other});
  const auto count = [&](auto set) {
    StoreQuery query;
    set(query);
    EXPECT_EQ(store.count(query), static_cast<int64_t>(store.select(query).size()));
    EXPECT_EQ(store.count(query), static_cast<int64_t>(store.table(query).rows.size()));
    return store.count(query);
  };
  EXPECT_EQ(count([](StoreQuery&) {}), 2);
  EXPECT_EQ(count([](StoreQuery& q) { q.limit = 1; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.kind = WorkKind::kModel; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.backend = "dnnl"; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.target = "llvm -mcpu=znver4"; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.machine = "nowhere"; }), 0);
  EXPECT_EQ(count([](StoreQuery& q) { q.machine = "there"; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.device = "Another"; }), 1);
  EXPECT_EQ(count([&](StoreQuery& q) { q.sheet = sheet_identity(other.device).hex(); }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.sheet = "no id"; }), 0);
  EXPECT_EQ(count([&](StoreQuery& q) { q.work_id = other.work.id(); }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.family = "resnet"; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.model = "resnet-18"; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) {
              q.campaign = "first";
              q.configuration = "c0";
            }),
            1);
  EXPECT_EQ(count([](StoreQuery& q) { q.configuration = "c1"; }), 0);
  EXPECT_EQ(count([](StoreQuery& q) { q.threads = 4; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.cache = CacheState::kHot; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.reliable_only = true; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.operators = {"nn.conv2d"}; }), 2);
  EXPECT_EQ(count([](StoreQuery& q) { q.operators = {"nn.conv2d", "nn.relu"}; }), 1);
  // What the model has, and what was built from it.
  EXPECT_EQ(count([](StoreQuery& q) { q.operators = {"nn.conv2d_of_the_model"}; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.operators = {"nn.conv2d_of_the_model", "nn.conv2d"}; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.operators = {"nn.conv2d_of_the_model", "nn.relu"}; }), 0);
  EXPECT_EQ(count([](StoreQuery& q) {
              q.operators = {"nn.conv2d_of_the_model"};
              q.attributes = {{"nn.conv2d_of_the_model", "strides", "[2,2]"}};
            }),
            1);
  EXPECT_EQ(count([](StoreQuery& q) { q.attributes = {{"nn.conv2d_of_the_model", "strides", "[2,2]"}}; }), 0);
  // Attributes of one operator hold of one call: no call of `other` is 3x3 with stride 2.
  EXPECT_EQ(count([](StoreQuery& q) {
              q.attributes = {{"nn.conv2d", "strides", "[2, 2]"}, {"nn.conv2d", "kernel_size", "[3,3]"}};
            }),
            1);
  EXPECT_EQ(count([](StoreQuery& q) { q.attributes = {{"", "strides", "[1,1]"}}; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.attributes = {{"nn.conv2d", "data_layout", "NCHW"}}; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.attributes = {{"nn.conv2d", "data_layout", "\"NCHW\""}}; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.attributes = {{"", "flag", "true"}}; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.attributes = {{"", "none", "null"}}; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.attributes = {{"", "real", "0.5"}}; }), 1);
  EXPECT_EQ(count([](StoreQuery& q) { q.attributes = {{"nn.relu", "strides", "[2,2]"}}; }), 0);
}

TEST_F(StoreTest, TableHasTheColumnsOfItsView) {
  Store store = writable();
  store.insert(many(0, 1));
  const StoreTable table = store.table({});
  const auto cell = [&](const std::string& name) {
    const auto at = std::find(table.columns.begin(), table.columns.end(), name);
    EXPECT_NE(at, table.columns.end()) << name;
    return table.rows.at(0).at(static_cast<size_t>(at - table.columns.begin()));
  };
  EXPECT_EQ(cell("operators"), StoreCell("nn.conv2d + nn.relu"));
  EXPECT_EQ(cell("work"), StoreCell(int64_t{1}));
  EXPECT_EQ(store.sql("SELECT work_id FROM works").rows[0][0], StoreCell(measurement().work.id()));
  EXPECT_EQ(cell("samples"), StoreCell(int64_t{30}));
  EXPECT_EQ(cell("median_us"), StoreCell(34.7));
  EXPECT_EQ(cell("family"), StoreCell("resnet"));
  const StoreTable two = store.table({}, {"median_us", "target"});
  EXPECT_EQ(two.columns, (std::vector<std::string>{"median_us", "target"}));
  EXPECT_EQ(two.rows.at(0), (std::vector<StoreCell>{34.7, "llvm -mcpu=znver4"}));
  EXPECT_NE(error_of([&] { store.table({}, {"median"}); }).find("no column `median`"), std::string::npos);
}

TEST_F(StoreTest, SaysOnWhichMachinesItsRowsAre) {
  Store store = writable();
  Measurement there = measurement(1), later = measurement(2);
  there.machine = "there";
  later.device.peaks->gflops = 101;  // measured anew: the same device
  store.insert(std::vector{measurement(0), there, later});
  const std::vector<StorePlace> places = store.places({});
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].machine, "here");
  EXPECT_EQ(places[0].rows, 2);
  EXPECT_EQ(places[0].sheet, sheet_identity(there.device).hex());
  EXPECT_EQ(places[1].machine, "there");
}

TEST_F(StoreTest, NewestIsTheLastReliableOne) {
  Measurement old = measurement(0), fresh = measurement(0), guess = measurement(0), cold = measurement(0);
  for (Measurement* each : {&old, &fresh, &cold}) each->unreliable.clear();
  old.begun_s = 100;
  fresh.begun_s = 200;
  fresh.device.peaks.reset();  // the same device
  guess.begun_s = 300;
  cold.begun_s = 400;
  cold.cache = CacheState::kFlushed;
  Store store = writable();
  store.insert(std::vector{fresh, old, guess, cold});
  EXPECT_EQ(store.newest(old.work, old.build, old.device, 4, CacheState::kInModel), fresh);
  EXPECT_EQ(store.newest(old.work, old.build, old.device, 5, CacheState::kInModel), std::nullopt);
  BuildFacts build = old.build;
  build.template_name = "gemm";
  EXPECT_EQ(store.newest(old.work, build, old.device, 4, CacheState::kInModel), std::nullopt);
  DeviceSheet device = old.device;
  device.cores = 1;
  EXPECT_EQ(store.newest(old.work, old.build, device, 4, CacheState::kInModel), std::nullopt);
}

TEST_F(StoreTest, FinishedConfigurationsOfACampaign) {
  Store store = writable();
  Measurement none = measurement(7), another = measurement(8);
  none.configuration.clear();
  another.campaign = "second";
  std::vector<Measurement> rows = many(0, 3);
  rows.push_back(none);
  rows.push_back(another);
  rows.push_back(measurement(2));
  rows.back().threads = 9;
  store.insert(rows);
  EXPECT_EQ(store.finished("first"), (std::vector<std::string>{"c0", "c1", "c2"}));
  EXPECT_EQ(store.finished("second"), (std::vector<std::string>{"c8"}));
  EXPECT_TRUE(store.finished("third").empty());
}

TEST_F(StoreTest, ConfigurationsFailedWhenNoRowHasTimes) {
  Store store = writable();
  std::vector<Measurement> rows = many(0, 4);
  const std::vector<std::pair<std::string, std::string>> given = {{"good", ""},
                                                                  {"bad", "failed: killed"},
                                                                  {"mended", "failed: killed"},
                                                                  {"loaded", "measured under load"}};
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].campaign = "first";
    rows[i].configuration = given[i].first;
    rows[i].unreliable = given[i].second;
  }
  rows.push_back(measurement(5));
  rows.back().campaign = "first";
  rows.back().configuration = "mended";
  rows.back().unreliable.clear();
  store.insert(rows);
  EXPECT_EQ(store.failed("first"), std::vector<std::string>{"bad"});
  EXPECT_EQ(store.finished("first").size(), 4u);
  EXPECT_TRUE(store.failed("second").empty());
}

TEST_F(StoreTest, MergeTakesWhatIsNew) {
  Store a = writable("a.db"), b = writable("b.db");
  a.insert(many(0, 10));
  b.insert(many(5, 20));
  EXPECT_EQ(a.merge(readable("b.db")), 10);
  EXPECT_EQ(a.merge(b), 0);
  EXPECT_EQ(a.count({}), 20);
}

TEST_F(StoreTest, AnInsertIsAllOrNothing) {
  Store store = writable();
  std::vector<Measurement> rows = many(0, 5);
  rows[3].work.operators[0].attributes = Json::array({1});
  rows[3].work.text = "new";
  EXPECT_NE(error_of([&] { store.insert(rows); }).find("attributes"), std::string::npos);
  EXPECT_EQ(store.count({}), 0);
  // Rows of shared parts that the transaction had made are made again.
  EXPECT_EQ(store.insert(many(0, 5)), 5);
  EXPECT_EQ(store.select({}), many(0, 5));
  EXPECT_TRUE(store.damage().empty());
}

TEST_F(StoreTest, SqlReadsOnly) {
  Store store = writable();
  store.insert(many(0, 3));
  EXPECT_EQ(store.sql("SELECT count(*) AS n FROM rows").rows[0][0], StoreCell(int64_t{3}));
  EXPECT_EQ(store.sql("SELECT value FROM attributes WHERE name = 'strides' LIMIT 1;").rows[0][0],
            StoreCell("[2,2]"));
  for (const char* bad : {"DELETE FROM measurement", "SELECT 1; SELECT 2", "", "ATTACH 'x.db' AS x",
                          "SELEC 1", "SELECT * FROM nothing", "PRAGMA user_version = 7"})
    EXPECT_THROW(store.sql(bad), UsageError) << bad;
  EXPECT_EQ(store.count({}), 3);
  EXPECT_FALSE(std::filesystem::exists("x.db"));
}

// ---- schema

TEST_F(StoreTest, AStoreOfVersion1IsMigrated) {
  {
    auto database = Database::open(path(), Database::Access::kCreate);
    database->run("PRAGMA application_id = 1111577678");
    database->run(migrations()[0].sql);
    database->run("PRAGMA user_version = 1");
    database->run(R"(
      INSERT INTO work VALUES (1, zeroblob(16), 'kernel', 'fn', 'relu', 1.0, 2.0);
      INSERT INTO operator VALUES (1, 0, 'nn.conv2d', '{"strides":[2,2],"flag":true}', '[]', 't');
    )");
  }
  EXPECT_NE(error_of([&] { readable(); }).find("version 1 of an older Baton"), std::string::npos);
  Store store = writable();
  EXPECT_EQ(store.sql("SELECT op, name, value FROM attributes ORDER BY name").rows,
            (std::vector<std::vector<StoreCell>>{{"nn.conv2d", "flag", int64_t{1}},
                                                 {"nn.conv2d", "strides", "[2,2]"}}));
  EXPECT_EQ(store.sql("SELECT operators FROM works").rows[0][0], StoreCell("nn.conv2d"));
  store.insert(many(0, 2));
  EXPECT_EQ(readable().select({}), many(0, 2));
}

TEST_F(StoreTest, RowsOfVersion5KeepTheirIds) {
  std::vector<Measurement> rows = many(0, 20);
  for (Measurement& row : rows) row.protocol.clear();
  writable().insert(rows);
  const auto ids = [](const Store& store) {
    return store.sql("SELECT id, lower(hex(hash)), median_us FROM measurement ORDER BY id").rows;
  };
  const auto before = ids(readable());
  EXPECT_EQ(before.at(3).at(1), StoreCell(rows[3].id()));
  {
    auto database = Database::open(path(), Database::Access::kWrite);
    database->run(
        "DROP VIEW rows; ALTER TABLE measurement DROP COLUMN protocol; DROP INDEX origin_by_op;"
        "CREATE VIEW rows AS SELECT 1");
    database->run(migrations()[4].sql);
    database->run("PRAGMA user_version = 5");
  }
  EXPECT_NE(error_of([&] { readable(); }).find("version 5 of an older Baton"), std::string::npos);
  Store store = writable();
  EXPECT_EQ(ids(store), before);
  EXPECT_EQ(store.select({}), rows);
  EXPECT_TRUE(store.damage().empty());
  EXPECT_EQ(store.insert(rows), 0) << "they are the same rows";
  EXPECT_EQ(store.insert(many(0, 20)), 20) << "with a protocol they are others";
  EXPECT_EQ(store.sql("SELECT protocol, count(*) FROM rows GROUP BY 1 ORDER BY 1").rows,
            (std::vector<std::vector<StoreCell>>{{StoreCell(), int64_t{20}}, {"campaign", int64_t{20}}}));
}

TEST_F(StoreTest, ANewerVersionIsRefused) {
  writable().insert(many(0, 1));
  Database::open(path(), Database::Access::kWrite)->run("PRAGMA user_version = 99");
  for (const auto mode : {Store::Mode::kRead, Store::Mode::kWrite}) {
    const std::string error = error_of([&] { Store::open(path(), mode); });
    EXPECT_NE(error.find("version 99 and was written by a newer Baton"), std::string::npos) << error;
  }
}

// ---- files that are none, or damaged

TEST_F(StoreTest, ThereIsNoFile) {
  EXPECT_NE(error_of([&] { readable(); }).find("there is no store"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_NE(error_of([&] { writable("nowhere/m.db"); }).find("cannot open the store"), std::string::npos);
  EXPECT_NE(error_of([&] { Store::open(folder_.path(""), Store::Mode::kWrite); }), "");
}

TEST_F(StoreTest, AnotherFileIsLeftAlone) {
  ASSERT_TRUE(folder_.write("m.db", std::string(5000, 'x')).ok());
  for (const auto mode : {Store::Mode::kRead, Store::Mode::kWrite})
    EXPECT_NE(error_of([&] { Store::open(path(), mode); }).find("no SQLite file"), std::string::npos);
  EXPECT_EQ(*read_file(path()), std::string(5000, 'x'));
  Database::open(path("other.db"), Database::Access::kCreate)->run("CREATE TABLE mine (x)");
  for (const auto mode : {Store::Mode::kRead, Store::Mode::kWrite})
    EXPECT_NE(error_of([&] { Store::open(path("other.db"), mode); }).find("another program"),
              std::string::npos);
}

TEST_F(StoreTest, FlippedBitsAreFound) {
  writable().insert(many(0, 200));
  const std::string good = *read_file(path());
  std::mt19937 random(7);
  int seen = 0, flips = 0;
  for (int i = 0; i < 60; ++i) {
    std::string bad = good;
    // Only in pages with rows of samples: what does not matter, free bytes, may be flipped unseen.
    const std::string sample(reinterpret_cast<const char*>(measurement(i).samples_us.data()), 240);
    const size_t at = bad.find(sample);
    if (at == std::string::npos) continue;  // it lies on two pages
    bad[at + random() % 240] ^= static_cast<char>(1 << random() % 8);
    ASSERT_TRUE(folder_.write("bad.db", bad).ok());
    const Store store = readable("bad.db");
    ++flips;
    seen += !error_of([&] { store.select({}); }).empty();
    EXPECT_EQ(store.damage().size(), 1u);
  }
  EXPECT_GT(flips, 20);
  EXPECT_EQ(seen, flips);
}

TEST_F(StoreTest, DamagedPagesAreAnErrorAndNeverACrash) {
  writable().insert(many(0, 200));
  const std::string good = *read_file(path());
  std::mt19937 random(3);
  int errors = 0;
  for (int i = 0; i < 100; ++i) {
    std::string bad = good;
    if (i % 3 == 0)
      bad.resize(random() % bad.size());
    else
      for (int k = 0; k < 50; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    std::filesystem::remove(path("bad.db-wal"));
    std::filesystem::remove(path("bad.db-shm"));
    ASSERT_TRUE(folder_.write("bad.db", bad).ok());
    for (const auto mode : {Store::Mode::kRead, Store::Mode::kWrite}) {
      const std::string error = error_of([&] {
        Store store = Store::open(path("bad.db"), mode);
        store.select({});
        if (mode == Store::Mode::kWrite) store.insert(many(500, 510));
      });
      errors += !error.empty();
    }
  }
  EXPECT_GT(errors, 100);
}

/// What `work` throws in a process that is not root's; empty: nothing.
std::string error_as_nobody(const std::function<void()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    std::string text;
    if (::geteuid() == 0 && (::setegid(65534) != 0 || ::seteuid(65534) != 0)) text = "cannot become nobody";
    try {
      if (text.empty()) work();
    } catch (const std::exception& error) {
      text = error.what();
    }
    ::_exit(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text(4096, '\0');
  text.resize(static_cast<size_t>(std::max<ssize_t>(::read(ends[0], text.data(), text.size()), 0)));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

TEST_F(StoreTest, ReadOnlyFilesAndFolders) {
  using std::filesystem::perms;
  const std::filesystem::path folder = folder_.path("");
  writable().insert(many(0, 3));
  std::filesystem::permissions(folder, perms(0555));
  std::filesystem::permissions(path(), perms(0444));
  EXPECT_EQ(error_as_nobody([&] {
              if (readable().count({}) != 3) throw Error("not three rows");
              if (readable().select({}) != many(0, 3)) throw Error("other rows");
            }),
            "");
  EXPECT_NE(error_as_nobody([&] { writable().insert(many(3, 4)); }).find("read-only"), std::string::npos);
  // Rows that are not in the file itself yet cannot be read without writing beside it.
  std::filesystem::permissions(folder, perms(0755));
  ASSERT_TRUE(folder_.write("m.db-wal", "something").ok());
  std::filesystem::permissions(folder, perms(0555));
  EXPECT_NE(error_as_nobody([&] { readable(); }).find("m.db-wal"), std::string::npos);
  std::filesystem::permissions(folder, perms(0755));
}

// ---- disks

TEST_F(StoreTest, AFullDiskLosesNothing) {
  writable().insert(many(0, 10));
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{200 << 10, 200 << 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int status = 1;
    try {
      Store store = writable();
      for (int i = 10; i < 4000; i += 10) store.insert(many(i, i + 10));
    } catch (const Error& error) {
      const std::string text = error.what();
      status = text.find("nothing of this was stored") != std::string::npos ? 42 : 2;
    }
    ::_exit(status);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
  Store store = writable();
  EXPECT_GE(store.count({}), 10);
  EXPECT_EQ(store.count({}) % 10, 0);
  EXPECT_TRUE(store.damage().empty());
  EXPECT_EQ(store.insert(many(5000, 5010)), 10);
}

TEST_F(StoreTest, ALimitOnPagesIsAFullDisk) {
  auto database = Database::open(path(), Database::Access::kCreate);
  migrate(*database);
  database->run("PRAGMA max_page_count = 60");
  database->run("CREATE TEMP TABLE unrelated (x)");
  const std::string error = error_of([&] {
    Transaction transaction(*database);
    Statement add = database->prepare("INSERT INTO machine (name) VALUES (?)");
    for (int i = 0; i < 10000; ++i)
      add.bind(1, std::string_view(std::to_string(i) + std::string(500, 'x'))).run();
  });
  EXPECT_NE(error.find("no room"), std::string::npos) << error;
  EXPECT_EQ(database->integer("SELECT count(*) FROM machine"), 0);
}

// ---- processes

TEST_F(StoreTest, TwoProcessesWriteAtTheSameTime) {
  std::vector<pid_t> children;
  for (int child = 0; child < 2; ++child) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      int status = 0;
      try {  // both make the file
        Store store = writable();
        for (int i = 0; i < 300; i += 3) {
          const int first = child * 150 + i;  // half of the rows are the other's, too
          store.insert(many(first, first + 3));
        }
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        status = 1;
      }
      ::_exit(status);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  const Store store = readable();
  EXPECT_EQ(store.count({}), 450);
  EXPECT_TRUE(store.damage().empty());
}

TEST_F(StoreTest, AWriterThatHoldsTheStoreIsNamedAfterAWhile) {
  writable().insert(many(0, 2));
  const auto one = Database::open(path(), Database::Access::kWrite);
  const auto two = Database::open(path(), Database::Access::kWrite, 50);
  const Transaction holds(*one);
  EXPECT_NE(error_of([&] { Transaction waits(*two); }).find("another process has been writing"),
            std::string::npos);
  EXPECT_EQ(readable().count({}), 2);  // readers do not wait
}

TEST_F(StoreTest, KilledAtAnyMomentOnlyTheOpenTransactionIsLost) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    const std::string name = "k" + std::to_string(round) + ".db";
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        Store store = writable(name);
        for (int i = 0; i < 100000; i += 5) {
          store.insert(many(i, i + 5));
          const int done = i + 5;
          if (::write(pipe_ends[1], &done, sizeof done) != sizeof done) break;
        }
      } catch (const std::exception&) {
      }
      ::_exit(1);
    }
    ::close(pipe_ends[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    int done = 0, value = 0;
    while (::read(pipe_ends[0], &value, sizeof value) == sizeof value) done = value;
    ::close(pipe_ends[0]);
    Store store = writable(name);
    const int64_t rows = store.count({});
    EXPECT_GE(rows, done);      // what insert() returned from is there
    EXPECT_LE(rows, done + 5);  // and at most what it was about to return from
    EXPECT_EQ(rows % 5, 0);
    EXPECT_TRUE(store.damage().empty());
  }
}

}  // namespace
}  // namespace baton
