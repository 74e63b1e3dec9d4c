#pragma once
// Diagnostics for errors in users' programs: a code, typed values, narrow labels, a hint. Collected by a
// DiagnosticEngine and thrown once, as DiagnosticError, at the API boundary.
#include <string>
#include <utility>
#include <vector>

#include "baton/support/error.h"
#include "baton/support/source.h"

namespace baton {

/// The fixed part of a diagnostic; {0}, {1}, ... are placeholders for the values of a report.
struct DiagnosticDef {
  const char* code;     ///< "E0214", unique
  const char* message;  ///< lower case, says what was seen
  const char* hint = "";
};

enum class Severity { kError, kWarning, kNote };

struct DiagnosticLabel {
  Span span;
  std::string text;
};

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string code, message, hint;
  Span span;
  std::vector<DiagnosticLabel> labels;
  std::string from;  ///< where the operator came from when not from text: `onnx node "Add_14" in model.onnx`

  Diagnostic& label(Span at, std::string text) {
    labels.push_back({std::move(at), std::move(text)});
    return *this;
  }
};

/// `pattern` with "{0}", "{1}", ... replaced by `values`.
std::string fill(const char* pattern, const std::vector<std::string>& values);

class DiagnosticEngine {
 public:
  Diagnostic& report(const DiagnosticDef& def, Span span, const std::vector<std::string>& values = {});
  bool has_errors() const;
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  /// Throws DiagnosticError when an error was reported.
  void raise_errors() const;

 private:
  std::vector<Diagnostic> diagnostics_;
};

class DiagnosticError : public Error {
 public:
  explicit DiagnosticError(std::vector<Diagnostic> diagnostics);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// The text form with source line, carets and labels (style as in docs/errors/README.md); ends with a
/// newline.
std::string render(const Diagnostic& diagnostic);
std::string render(const std::vector<Diagnostic>& diagnostics);

/// The candidate nearest to `name` if it is similar enough to be a misspelling, else "".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace baton
