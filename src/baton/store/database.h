#pragma once
// SQLite behind two small classes. What SQLite reports becomes an Error that says what was seen and what to
// do.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "baton/store/store_query.h"
#include "baton/support/base/checksum.h"

struct sqlite3;
struct sqlite3_stmt;

namespace baton {

/// A compiled statement. Parameters and columns count from 1 and from 0, as in SQLite.
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  Statement& bind(int at, int64_t value);
  Statement& bind(int at, double value);
  Statement& bind(int at, std::string_view value);  ///< copied
  Statement& bind(int at, const Digest& digest);    ///< its 16 bytes, the highest first
  Statement& bind_blob(int at, std::span<const std::byte> value);
  Statement& bind_null(int at);
  Statement& bind(int at, const StoreCell& value);

  /// The next row; false: there is none, and the statement is ready to run anew.
  bool step();
  /// Runs a statement without rows.
  void run();
  void reset();

  int columns() const;
  std::string name(int column) const;
  bool is_null(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  Digest digest(int column) const;
  std::string_view blob(int column) const;  ///< valid until the next step
  /// Blobs as hexadecimal digits.
  StoreCell cell(int column) const;

 private:
  friend class Database;
  Statement(class Database* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}
  void check(int code) const;
  Database* database_;
  sqlite3_stmt* statement_;
};

/// One connection; may be moved while it has no statements.
class Database {
 public:
  enum class Access { kRead, kWrite, kCreate };
  /// `busy_ms`: how long a statement waits for another process that writes. Throws Error.
  static std::unique_ptr<Database> open(const std::string& path, Access access, int busy_ms = 30'000);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Statement prepare(std::string_view sql);
  /// One statement that only reads, of a user: Error for anything else.
  Statement prepare_reading(std::string_view sql);
  /// Statements without rows.
  void run(const char* sql);
  int64_t integer(std::string_view sql);  ///< the first column of its only row
  int64_t last_row() const;
  int changes() const;  ///< rows that the last statement inserted, changed or deleted
  const std::string& path() const { return path_; }

  /// Throws the Error of SQLite's result `code`.
  [[noreturn]] void fail(int code) const;

 private:
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  std::string path_;
  sqlite3* handle_;
};

/// A transaction that writes: others wait for its end. Rolled back unless commit() was called.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace baton
