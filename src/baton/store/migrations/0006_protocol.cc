#include "baton/store/migrations/migrations.h"

namespace baton {

// Rows that were measured before do not say it. The view `rows` is made anew after the last migration
// (schema.cc).
const char* const kProtocolSql = "ALTER TABLE measurement ADD COLUMN protocol TEXT";

}  // namespace baton
