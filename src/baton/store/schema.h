#pragma once
// The tables of a store, as a list of migrations: a store of version n has had the first n. See
// docs/design/0036.
#include <span>

#include "baton/store/database.h"

namespace baton {

/// The step from a version to the next.
struct Migration {
  const char* doc;  ///< what it brings
  const char* sql;
};

/// In order; their number is the version of the schema. Never changed once released: stores have had them.
std::span<const Migration> migrations();

/// Brings a store to the newest version, an empty file too; processes may do so at the same time. Throws
/// Error for a store of a newer version, for an SQLite file of another program, and for a damaged file.
void migrate(Database& database);

/// Throws Error unless the store has the newest version.
void require_newest(Database& database);

}  // namespace baton
