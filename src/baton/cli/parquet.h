#pragma once
#include <string>

#include "baton/cli/peer.h"

namespace baton::cli {

/// Parquet files, written by a Python that has pyarrow: $BATON_PYTHON, else the Python of a clone, else
/// python3.
class ParquetWriter {
 public:
  /// Throws Error when there is no such Python, or it lacks pyarrow: with what to install.
  ParquetWriter();
  /// `table`: table_json() of one. Throws Error.
  void write(const std::string& table, const std::string& path);

 private:
  Peer python_;
};

}  // namespace baton::cli
