#pragma once
#include <memory>
#include <string>

#include "baton/cli/peer.h"

namespace baton::cli {

/// Writes Parquet files with a Python that has pyarrow: $BATON_PYTHON, else the source tree's Python, else
/// python3.
class ParquetWriter {
 public:
  /// Installs pyarrow in a clone whose Python lacks it. Throws Error, with what to install, when there is no
  /// such Python or it still lacks pyarrow.
  ParquetWriter();
  /// `table`: from table_json(). Throws Error.
  void write(const std::string& table, const std::string& path);

 private:
  std::unique_ptr<Peer> python_;
};

}  // namespace baton::cli
