#include "baton/store/database.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <utility>

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "baton/support/error.h"

namespace baton {
namespace {

bool is_there(const std::string& path) {
  struct stat about;
  return ::stat(path.c_str(), &about) == 0;
}
bool has_bytes(const std::string& path) {
  struct stat about;
  return ::stat(path.c_str(), &about) == 0 && about.st_size > 0;
}

/// `path` as a URI that says: nobody writes to it.
std::string immutable_uri(const std::string& path) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string uri = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '/' || c == '.' || c == '-' || c == '_')
      uri += c;
    else
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return uri + "?immutable=1";
}

/// Beyond a limit on the size of files a write shall fail, not end the process. A handler of the program
/// stays.
void ignore_size_signal() {
  struct sigaction now{};
  if (::sigaction(SIGXFSZ, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) std::signal(SIGXFSZ, SIG_IGN);
}

std::string hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) text += {kDigits[(c >> 4) & 15], kDigits[c & 15]};
  return text;
}

std::string io_reason(int code, int system_error) {
  if (system_error) return std::strerror(system_error);
  return sqlite3_errstr(code);
}

[[noreturn]] void fail_with(const std::string& path, int code, int system_error, const std::string& seen) {
  const std::string shown = "`" + path + "`";
  switch (code & 0xff) {
    case SQLITE_NOMEM:
      throw std::bad_alloc();
    case SQLITE_NOTADB:
      throw Error(shown +
                  " is not a store of measurements: it is no SQLite file, or its beginning is damaged");
    case SQLITE_CORRUPT:
      throw Error("the store " + shown + " is damaged (" + seen +
                  "): use a copy of it, or save what can be read: sqlite3 " + path +
                  " .recover | sqlite3 recovered.db");
    case SQLITE_FULL:
      throw Error("there is no room for " + shown +
                  ": nothing of this was stored, and what was there before is whole; free space on its disk");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      throw Error("cannot write to the store " + shown +
                  ": it or its folder is read-only; give another file");
    case SQLITE_CANTOPEN:
      throw Error(
          "cannot open the store " + shown + ": " +
          (system_error ? std::strerror(system_error) : "its folder is missing or cannot be written to"));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error("another process has been writing to the store " + shown +
                  " for too long: wait until it is done, and try again");
    case SQLITE_IOERR:
      throw Error("the store " + shown + " cannot be read or written (" + io_reason(code, system_error) +
                  "): nothing of this was stored");
    default:
      throw Error("the store " + shown + ": " + seen);
  }
}

}  // namespace

// ---- statements

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}
Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(statement_, other.statement_);
  return *this;
}
Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::check(int code) const {
  if (code != SQLITE_OK) database_->fail(code);
}

Statement& Statement::bind(int at, int64_t value) {
  check(sqlite3_bind_int64(statement_, at, value));
  return *this;
}
Statement& Statement::bind(int at, double value) {
  check(sqlite3_bind_double(statement_, at, value));
  return *this;
}
Statement& Statement::bind(int at, std::string_view value) {
  const char* data = value.data() ? value.data() : "";  // null would be NULL
  check(sqlite3_bind_text64(statement_, at, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}
Statement& Statement::bind(int at, const Digest& digest) {
  std::array<std::byte, 16> bytes;
  for (int i = 0; i < 16; ++i)
    bytes[i] = static_cast<std::byte>((i < 8 ? digest.high : digest.low) >> (56 - i % 8 * 8));
  return bind_blob(at, bytes);
}
Statement& Statement::bind_blob(int at, std::span<const std::byte> value) {
  const void* data = value.data() ? static_cast<const void*>(value.data()) : "";
  check(sqlite3_bind_blob64(statement_, at, data, value.size(), SQLITE_TRANSIENT));
  return *this;
}
Statement& Statement::bind_null(int at) {
  check(sqlite3_bind_null(statement_, at));
  return *this;
}
Statement& Statement::bind(int at, const StoreCell& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return bind(at, *number);
  if (const auto* real = std::get_if<double>(&value)) return bind(at, *real);
  if (const auto* text = std::get_if<std::string>(&value)) return bind(at, std::string_view(*text));
  return bind_null(at);
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  sqlite3_reset(statement_);
  if (code != SQLITE_DONE) database_->fail(code);
  return false;
}
void Statement::run() { BATON_CHECK(!step(), "a statement without rows has one"); }
void Statement::reset() { sqlite3_reset(statement_); }

int Statement::columns() const { return sqlite3_column_count(statement_); }
std::string Statement::name(int column) const { return sqlite3_column_name(statement_, column); }
bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }
std::string Statement::text(int column) const { return std::string(blob(column)); }
std::string_view Statement::blob(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
  return {static_cast<const char*>(data), data ? size : 0};
}
Digest Statement::digest(int column) const {
  const std::string_view bytes = blob(column);
  Digest digest;
  for (size_t i = 0; i < std::min<size_t>(bytes.size(), 16); ++i) {
    uint64_t& word = i < 8 ? digest.high : digest.low;
    word = word << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return digest;
}
StoreCell Statement::cell(int column) const {
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_INTEGER:
      return integer(column);
    case SQLITE_FLOAT:
      return real(column);
    case SQLITE_TEXT:
      return text(column);
    case SQLITE_BLOB:
      return hex(blob(column));
    default:
      return {};
  }
}

// ---- connections

std::unique_ptr<Database> Database::open(const std::string& path, Access access, int busy_ms) {
  ignore_size_signal();
  int flags = access == Access::kRead    ? SQLITE_OPEN_READONLY
              : access == Access::kWrite ? SQLITE_OPEN_READWRITE
                                         : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (access != Access::kCreate && !is_there(path))
    throw Error("there is no store `" + path + "`: baton profile MODEL --store " + path + " makes one");
  std::string name = path;
  // A reader needs the file -shm beside a store in WAL mode, and makes it where it may. Where it may not and
  // all is in the store itself, it reads it as a file that nobody changes.
  const std::string folder = path.find('/') == std::string::npos ? "." : path.substr(0, path.rfind('/') + 1);
  if (access == Access::kRead && ::eaccess(folder.c_str(), W_OK) != 0 && !is_there(path + "-shm")) {
    if (has_bytes(path + "-wal"))
      throw Error("the last changes of `" + path + "` are still in `" + path +
                  "-wal`, and its folder is read-only: copy both files to a folder that can be written to");
    name = immutable_uri(path);
    flags |= SQLITE_OPEN_URI;
  }
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  if (!handle) throw std::bad_alloc();
  std::unique_ptr<Database> database(new Database(path, handle));
  sqlite3_extended_result_codes(handle, 1);
  if (code != SQLITE_OK) database->fail(code);
  sqlite3_busy_timeout(handle, busy_ms);
  return database;
}

Database::~Database() { sqlite3_close_v2(handle_); }

void Database::fail(int code) const {
  fail_with(path_, code, sqlite3_system_errno(handle_), sqlite3_errmsg(handle_));
}

Statement Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) fail(code);
  return {this, statement};
}

Statement Database::prepare_reading(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &raw, &rest);
  if ((code & 0xff) == SQLITE_ERROR) throw UsageError(std::string("SQL: ") + sqlite3_errmsg(handle_));
  if (code != SQLITE_OK) fail(code);
  Statement statement(this, raw);
  if (!raw) throw UsageError("SQL: there is no statement");
  const std::string_view after = sql.substr(static_cast<size_t>(rest - sql.data()));
  if (after.find_first_not_of(" \t\r\n;") != std::string_view::npos)
    throw UsageError("SQL: one statement is expected, and a second one begins at `" +
                     std::string(after.substr(0, 40)) + "`");
  if (!sqlite3_stmt_readonly(raw) || statement.columns() == 0)
    throw UsageError("SQL: only statements that read are run: SELECT ...");
  return statement;
}

void Database::run(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

int64_t Database::integer(std::string_view sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

int64_t Database::last_row() const { return sqlite3_last_insert_rowid(handle_); }
int Database::changes() const { return sqlite3_changes(handle_); }

Transaction::Transaction(Database& database) : database_(database) { database_.run("BEGIN IMMEDIATE"); }
Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.run("ROLLBACK");
  } catch (const std::exception&) {
    // SQLite has rolled back by itself, as after a full disk.
  }
}
void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace baton
