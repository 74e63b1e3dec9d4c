#include "text/reference.h"

#include <cstdio>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "test_paths.h"

namespace baton::text {

std::vector<nlohmann::json> reference(const std::string& file) {
  const std::string path = std::string(source_dir()) + "/tests/reference/" + file;
  const std::string command = (file.ends_with(".gz") ? "gzip -dc '" : "cat '") + path + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  char buffer[1 << 16];
  for (size_t size; pipe && (size = std::fread(buffer, 1, sizeof buffer, pipe.get())) > 0;)
    text.append(buffer, size);
  if (text.empty()) throw std::runtime_error("cannot read " + path);
  std::vector<nlohmann::json> cases;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) cases.push_back(nlohmann::json::parse(line));
  return cases;
}

}  // namespace baton::text
