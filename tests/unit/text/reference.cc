#include "text/reference.h"

#include <cstdio>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "test_paths.h"

namespace baton::text {

namespace {

// Python writes NaN, Infinity and -Infinity, which are no JSON: here they become "NaN", "Infinity" and
// "-Infinity".
std::string strict_json(const std::string& line) {
  std::string out;
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && (i == 0 || line[i - 1] != '\\')) quoted = !quoted;
    bool replaced = false;
    if (!quoted)
      for (const std::string word : {"NaN", "-Infinity", "Infinity"}) {
        if (replaced || line.compare(i, word.size(), word) != 0) continue;
        out += '"' + word + '"';
        i += word.size() - 1;
        replaced = true;
      }
    if (!replaced) out += line[i];
  }
  return out;
}

}  // namespace

std::vector<Json> reference(const std::string& file) {
  const std::string path = std::string(source_dir()) + "/tests/reference/" + file;
  const std::string command = (file.ends_with(".gz") ? "gzip -dc '" : "cat '") + path + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  char buffer[1 << 16];
  for (size_t size; pipe && (size = std::fread(buffer, 1, sizeof buffer, pipe.get())) > 0;)
    text.append(buffer, size);
  if (text.empty()) throw std::runtime_error("cannot read " + path);
  std::vector<Json> cases;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) cases.push_back(Json::parse(strict_json(line)));
  return cases;
}

}  // namespace baton::text
