#include "baton/cli/parquet.h"

#include <filesystem>
#include <vector>

#include "baton/support/base/environment.h"
#include "baton/support/clone.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton::cli {
namespace {

namespace fs = std::filesystem;

/// python/baton/_parquet.py: beside an installed program (baton/bin/baton), or in the source tree it was
/// built in (build/PRESET/baton).
std::string script() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  std::vector<fs::path> places = {program.parent_path().parent_path() / "_parquet.py"};
  if (const std::string root = environment()->root; !root.empty())
    places.push_back(fs::path(root) / "python/baton/_parquet.py");
  places.push_back(program.parent_path().parent_path().parent_path() / "python/baton/_parquet.py");
  for (const fs::path& place : places)
    if (fs::exists(place, ignored)) return place.string();
  throw Error(
      "Parquet is written by the Python package, which is not there: install it (pip install .), or write "
      ".csv");
}

std::string python() {
  const std::string given = environment()->python;
  return given.empty() ? "python3" : given;
}

std::unique_ptr<Peer> start() {
  const std::vector<std::string> command = {python(), script()};
  return std::make_unique<Peer>(
      command[0], command, "Parquet needs a Python with pyarrow: name one with BATON_PYTHON, or write .csv");
}

void check_answer(const Json& answer) {
  if (answer.contains("error")) throw Error(answer["error"].get<std::string>());
}

}  // namespace

ParquetWriter::ParquetWriter() : python_(start()) {
  if (python_->greeting().contains("error") && build_part("data")) python_ = start();
  check_answer(python_->greeting());
}

void ParquetWriter::write(const std::string& table, const std::string& path) {
  check_answer(python_->ask(R"({"path": )" + Json(path).dump() + R"(, "table": )" + table + "}"));
}

}  // namespace baton::cli
