#include "case.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "baton/support/error.h"

namespace baton::golden {

namespace {

constexpr std::string_view kRun = "// RUN:", kExpect = "// EXPECT";

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool is_form(std::string_view word) {
  return word == "print" || word == "str" || word == "astext" || word == "parse";
}

// `Pass,Pass(args)`, `print --types`, `target llvm -mcpu=skylake`, `level 4`, with `;` between.
void read_run(std::string_view line, Case& into) {
  into.form = "print";
  for (size_t start = 0; start <= line.size();) {
    const size_t end = std::min(line.find(';', start), line.size());
    const std::string_view part = trim(line.substr(start, end - start));
    start = end + 1;
    const std::string_view word = part.substr(0, part.find_first_of(" ,("));
    if (word == "target") {
      into.target = trim(part.substr(word.size()));
      continue;
    }
    if (word == "level") {
      into.opt_level = std::stoi(std::string(part.substr(word.size())));
      continue;
    }
    if (is_form(word)) {
      into.form = word;
      std::istringstream flags{std::string(part.substr(word.size()))};
      for (std::string flag; flags >> flag;) into.flags.push_back(flag);
      continue;
    }
    into.passes = part;
  }
}

}  // namespace

Case read_case(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (!file) throw Error("cannot read " + path);
  const std::string text = bytes.str();

  Case result;
  result.path = path;
  result.must_fail = std::filesystem::path(path).filename().string().starts_with("fail_");
  const size_t line_end = std::min(text.find('\n'), text.size());
  if (!text.starts_with(kRun)) throw Error(path + ": the first line is not `" + std::string(kRun) + " ...`");
  read_run(std::string_view(text).substr(kRun.size(), line_end - kRun.size()), result);

  const size_t mark = text.find("\n" + std::string(kExpect));
  if (mark == std::string::npos) {  // a new test: --update will write it
    result.text = text;
  } else {
    result.text = text.substr(0, mark + 1);
    const size_t expected = text.find('\n', mark + 1);
    if (expected != std::string::npos) result.expected = text.substr(expected + 1);
  }
  return result;
}

void update(const Case& which, const std::string& text) {
  std::string whole = which.text;
  if (!whole.ends_with('\n')) whole += '\n';
  if (!whole.ends_with("\n\n")) whole += '\n';
  const std::string temporary = which.path + ".new";
  std::ofstream file(temporary, std::ios::binary);
  file << whole << kExpect << '\n' << text;
  file.close();
  if (!file) throw Error("cannot write " + temporary);
  std::filesystem::rename(temporary, which.path);
}

std::string difference(const std::string& expected, const std::string& actual) {
  auto lines = [](const std::string& text) {
    std::vector<std::string> result;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) result.push_back(line);
    return result;
  };
  const std::vector<std::string> want = lines(expected), got = lines(actual);
  size_t head = 0, tail = 0;
  while (head < want.size() && head < got.size() && want[head] == got[head]) ++head;
  while (tail < want.size() - head && tail < got.size() - head &&
         want[want.size() - 1 - tail] == got[got.size() - 1 - tail])
    ++tail;
  std::string out;
  constexpr size_t kAround = 2, kMost = 40;
  auto show = [&out](const std::vector<std::string>& from, size_t begin, size_t end, const char* mark) {
    for (size_t i = begin; i < std::min(end, begin + kMost); ++i) out += mark + from[i] + "\n";
    if (end > begin + kMost)
      out += std::string(mark) + "... " + std::to_string(end - begin - kMost) + " more lines\n";
  };
  show(want, head - std::min(head, kAround), head, "    ");
  show(want, head, want.size() - tail, "  - ");
  show(got, head, got.size() - tail, "  + ");
  show(got, got.size() - tail, std::min(got.size(), got.size() - tail + kAround), "    ");
  if (out.empty()) out = "    (only the last line's end differs)\n";
  return out;
}

}  // namespace baton::golden
