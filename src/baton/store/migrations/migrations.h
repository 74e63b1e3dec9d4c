#pragma once
// One file per migration: SQL statements. A released one is never changed.

namespace baton {

extern const char* const kTablesSql;     ///< 1: the tables
extern const char* const kViewsSql;      ///< 2: attributes as rows, and views
extern const char* const kCoreSql;       ///< 3: the clock of the processor
extern const char* const kPrecisionSql;  ///< 4: the precision of builds
extern const char* const kSourceSql;     ///< 5: operators of the model

}  // namespace baton
