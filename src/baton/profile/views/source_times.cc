#include "baton/profile/views/source_times.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "baton/profile/views/time_shares.h"
#include "baton/support/base/files.h"
#include "baton/support/source.h"

namespace baton {

namespace {

constexpr uintmax_t kMostBytes = 4 << 20;  // of a file of Python

class Lines {
 public:
  explicit Lines(const ProfileReport& report) : report_(report) {
    std::map<std::string, size_t> order;  // of files
    for (const OperatorRow& row : report.operators)
      if (const SourceLine line = row.written(); line.line) order.emplace(line.file, order.size());
    std::map<std::pair<size_t, uint32_t>, SourceRow> rows;
    for (const OperatorRow& row : report.operators) {
      SourceLine line = row.written();
      if (!line.line) continue;
      SourceRow& at = rows[{order.at(line.file), line.line}];
      at.operators.push_back(row.id);
      if (at.where.line == 0 || at.where.text.empty()) at.where = std::move(line);
    }
    for (auto& [key, row] : rows) {
      for (const uint32_t id : row.operators) row_of_[id] = times_.rows.size();
      times_.rows.push_back(std::move(row));
    }
  }

  SourceTimes run() {
    for (const KernelRow& kernel : report_.kernels)
      for (const TimeShare& share : time_shares(kernel)) add(share);
    return std::move(times_);
  }

 private:
  void add(const TimeShare& share) {
    std::optional<size_t> row;
    for (size_t i = 0; i < share.ids.size(); ++i) {
      const auto at = row_of_.find(share.ids[i]);
      const std::optional<size_t> here = at == row_of_.end() ? std::nullopt : std::optional(at->second);
      if (i && here != row) {
        times_.rest_us += share.us;
        return;
      }
      row = here;
    }
    if (!row) {
      times_.unplaced_us += share.us;
      return;
    }
    times_.rows[*row].us += share.us;
    times_.rows[*row].estimated |= share.by == PortionBy::kEqual;
  }

  const ProfileReport& report_;
  std::map<uint32_t, size_t> row_of_;
  SourceTimes times_;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

/// Whether the file has the lines that the model says it has.
bool says_so(const Source& file, const std::vector<SourceLine>& lines) {
  bool any = false;
  for (const SourceLine& line : lines) {
    if (line.text.empty()) continue;
    if (!trimmed(file.line(line.line)).starts_with(line.text)) return false;
    any = true;
  }
  return any;
}

}  // namespace

SourceTimes source_times(const ProfileReport& report) { return Lines(report).run(); }

const std::string* source_text(const ProfileReport& report, const std::string& file) {
  const auto at = std::ranges::find(report.sources, file, &SourceText::file);
  return at == report.sources.end() ? nullptr : &at->text;
}

// A model from anywhere may name any file, and pages are passed on: only Python whose lines it knows.
void add_source_files(ProfileReport& report) {
  std::map<std::string, std::vector<SourceLine>> files;
  for (const OperatorRow& row : report.operators)
    if (row.source_line && row.source_line.file.ends_with(".py"))
      files[row.source_line.file].push_back(row.source_line);
  for (const auto& [file, lines] : files) {
    std::error_code error;
    if (source_text(report, file) || std::filesystem::file_size(file, error) > kMostBytes || error) continue;
    Result<std::string> text = read_file(file);
    if (text.ok() && says_so(Source(file, *text), lines)) report.sources.push_back({file, std::move(*text)});
  }
}

}  // namespace baton
