#include "baton/support/diagnostic.h"

#include <algorithm>
#include <numeric>

namespace baton {

std::string fill(const char* pattern, const std::vector<std::string>& values) {
  std::string out;
  for (const char* c = pattern; *c; ++c) {
    if (c[0] == '{' && c[1] >= '0' && c[1] <= '9' && c[2] == '}') {
      const size_t index = static_cast<size_t>(c[1] - '0');
      BATON_CHECK(index < values.size(), pattern);
      out += values[index];
      c += 2;
    } else {
      out += *c;
    }
  }
  return out;
}

Diagnostic& DiagnosticEngine::report(const DiagnosticDef& def, Span span,
                                     const std::vector<std::string>& values) {
  Diagnostic diagnostic;
  diagnostic.code = def.code;
  diagnostic.message = fill(def.message, values);
  diagnostic.hint = fill(def.hint, values);
  diagnostic.span = std::move(span);
  diagnostics_.push_back(std::move(diagnostic));
  return diagnostics_.back();
}

bool DiagnosticEngine::has_errors() const {
  return std::any_of(diagnostics_.begin(), diagnostics_.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

void DiagnosticEngine::raise_errors() const {
  if (has_errors()) throw DiagnosticError(diagnostics_);
}

DiagnosticError::DiagnosticError(std::vector<Diagnostic> diagnostics)
    : Error(render(diagnostics)), diagnostics_(std::move(diagnostics)) {}

namespace {

const char* name_of(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "";
}

// A source line for display: the part around `focus` of a long line, with tabs as blanks.
class LineView {
 public:
  LineView(std::string_view line, size_t focus) : line_(line) {
    constexpr size_t kMost = 200, kBefore = 80;
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    end_ = line_.size();
    if (line_.size() > kMost) {
      begin_ = focus > kBefore ? std::min(focus - kBefore, line_.size() - kMost) : 0;
      while (begin_ > 0 && continues(begin_)) --begin_;
      end_ = begin_ + kMost;
      while (end_ < line_.size() && continues(end_)) ++end_;
    }
    shown_ = (begin_ > 0 ? "..." : "") + std::string(line_.substr(begin_, end_ - begin_)) +
             (end_ < line_.size() ? "..." : "");
    std::replace(shown_.begin(), shown_.end(), '\t', ' ');
  }
  const std::string& shown() const { return shown_; }
  /// The displayed column and width of the part of `span` that is on this line.
  std::pair<size_t, size_t> place(const Span& span) const {
    const size_t first = span.column ? span.column - 1 : 0;
    size_t last = first + 1;
    if (span.end_line == span.line && span.end_column > span.column)
      last = span.end_column - 1;
    else if (span.end_line > span.line)
      last = std::max(last, line_.size());
    const size_t from = column(first);
    return {from, std::max<size_t>(column(last), from + 1) - from};
  }

 private:
  bool continues(size_t at) const { return (static_cast<unsigned char>(line_[at]) & 0xC0) == 0x80; }
  // In characters, not bytes; truncated parts count as zero.
  size_t column(size_t byte) const {
    size_t column = begin_ > 0 ? 3 : 0;
    for (size_t at = begin_; at < std::min(byte, end_); ++at) column += !continues(at);
    return column + (byte > end_ && end_ == line_.size() ? byte - end_ : 0);
  }
  std::string_view line_;
  size_t begin_ = 0, end_;
  std::string shown_;
};

// One row of carets (and dashes for labels on the same line), then the labels' texts: the rightmost beside
// the row, the others below, each under its own mark.
void render_marks(std::string& out, const std::string& margin, const Diagnostic& d, const LineView& line) {
  std::vector<const DiagnosticLabel*> labels;
  for (const auto& label : d.labels)
    if (label.span.source == d.span.source && label.span.line == d.span.line) labels.push_back(&label);
  std::stable_sort(labels.begin(), labels.end(),
                   [](const auto* a, const auto* b) { return a->span.column < b->span.column; });
  std::string marks;
  auto put = [&](const Span& span, char mark) {
    const auto [begin, count] = line.place(span);
    if (marks.size() < begin + count) marks.resize(begin + count, ' ');
    for (size_t i = begin; i < begin + count; ++i)
      if (marks[i] == ' ') marks[i] = mark;
  };
  put(d.span, '^');
  for (const auto* label : labels) put(label->span, '-');
  out += margin + "| " + marks;
  if (!labels.empty()) out += " " + labels.back()->text;
  out += "\n";
  for (size_t shown = labels.size() > 0 ? labels.size() - 1 : 0; shown > 0; --shown) {
    std::string bars, text;
    for (size_t i = 0; i < shown; ++i) {
      const size_t column = line.place(labels[i]->span).first;
      bars.resize(std::max(bars.size(), column), ' ');
      bars += '|';
      if (i + 1 < shown) {
        text.resize(std::max(text.size(), column), ' ');
        text += '|';
      }
    }
    text.resize(std::max<size_t>(text.size(), line.place(labels[shown - 1]->span).first), ' ');
    text += labels[shown - 1]->text;
    if (shown + 1 == labels.size()) out += margin + "| " + bars + "\n";
    out += margin + "| " + text + "\n";
  }
}

// A label on another line, with that source line.
void render_elsewhere(std::string& out, const Diagnostic& d, const DiagnosticLabel& label) {
  if (!label.span || !label.span.source) return;
  if (label.span.source != d.span.source) out += "  --> " + label.span.text() + "\n";
  const std::string number = std::to_string(label.span.line), margin(number.size() + 2, ' ');
  const LineView line(label.span.source->line(label.span.line), label.span.column);
  const auto [begin, count] = line.place(label.span);
  out += " " + number + " | " + line.shown() + "\n";
  out += margin + "| " + std::string(begin, ' ') + std::string(count, '-') + " " + label.text + "\n";
}

}  // namespace

std::string render(const Diagnostic& d) {
  std::string out =
      std::string(name_of(d.severity)) + (d.code.empty() ? "" : "[" + d.code + "]") + ": " + d.message + "\n";
  if (d.span) {
    out += "  --> " + d.span.text() + "\n";
    const std::string number = std::to_string(d.span.line);
    const std::string margin(number.size() + 2, ' ');
    if (d.span.source && !d.span.source->text().empty()) {
      const LineView line(d.span.source->line(d.span.line), d.span.column);
      out += margin + "|\n " + number + " | " + line.shown() + "\n";
      render_marks(out, margin, d, line);
      for (const DiagnosticLabel& label : d.labels)
        if (label.span.source != d.span.source || label.span.line != d.span.line)
          render_elsewhere(out, d, label);
    }
  }
  if (!d.hint.empty()) out += " hint: " + d.hint + "\n";
  if (!d.from.empty()) out += " from: " + d.from + "\n";
  return out;
}

std::string render(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const auto& diagnostic : diagnostics) out += render(diagnostic);
  return out;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  // Levenshtein distance, row by row; up to a third of the letters may differ.
  std::string best;
  size_t best_distance = name.size() / 3 + 1;
  std::vector<size_t> row;
  for (const std::string& candidate : candidates) {
    row.resize(candidate.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < name.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i + 1;
      for (size_t j = 0; j < candidate.size(); ++j) {
        const size_t substituted = diagonal + (name[i] != candidate[j]);
        diagonal = row[j + 1];
        row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace baton
