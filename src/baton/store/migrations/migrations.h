#pragma once
// The SQL statements of migrations.def.

namespace baton {

#define BATON_MIGRATION(sql, doc) extern const char* const sql;
#include "baton/store/migrations/migrations.def"
#undef BATON_MIGRATION

}  // namespace baton
