#pragma once
// The compiler's exceptions. User errors are `Error` (and its subclass DiagnosticError, see diagnostic.h);
// `InternalError` means a bug in Baton.
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace baton {

/// The passes that an exception propagated through, innermost first.
class PassTrail {
 public:
  /// Adds a pass; `what` is the exception's text without the trail.
  void add(std::string pass, const char* what) {
    if (!passes_.empty() && passes_.back() == pass) return;  // a group named like its main pass
    passes_.push_back(std::move(pass));
    if (shows_nothing()) return;
    std::string text = what;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    text += "\n  in pass ";
    for (size_t i = 0; i < passes_.size(); ++i) text += (i ? ", inside " : "") + passes_[i];
    text_ = std::make_shared<const std::string>(std::move(text));
  }
  const std::vector<std::string>& passes() const { return passes_; }
  /// The text with the trail, or null.
  const char* text() const noexcept { return text_ ? text_->c_str() : nullptr; }

 private:
  // Whether the trail is not worth showing: a type error found by InferType itself concerns only the program.
  bool shows_nothing() const { return passes_.size() == 1 && passes_[0] == "InferType"; }
  std::vector<std::string> passes_;
  std::shared_ptr<const std::string> text_;
};

/// A user error: the text says what was seen and what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  const char* what() const noexcept override {
    return trail_.text() ? trail_.text() : std::runtime_error::what();
  }
  void came_through(const std::string& pass) { trail_.add(pass, std::runtime_error::what()); }
  const std::vector<std::string>& passes() const { return trail_.passes(); }

 private:
  PassTrail trail_;
};

/// Wrong use of a verb, flag or argument (exit code 2 of the command line).
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A well-formed request that is not supported yet; listed in docs/compatibility.md.
class NotSupported : public Error {
 public:
  using Error::Error;
};

/// A violated internal invariant. User input must never cause it.
class InternalError : public std::logic_error {
 public:
  InternalError(const char* file, int line, const std::string& what)
      : std::logic_error(std::string(file) + ":" + std::to_string(line) + ": " + what) {}
  const char* what() const noexcept override {
    return trail_.text() ? trail_.text() : std::logic_error::what();
  }
  void came_through(const std::string& pass) { trail_.add(pass, std::logic_error::what()); }

 private:
  PassTrail trail_;
};

[[noreturn]] inline void internal_error(const char* file, int line, const char* condition,
                                        const std::string& what) {
  throw InternalError(file, line, what.empty() ? condition : std::string(condition) + ": " + what);
}

}  // namespace baton

/// BATON_CHECK(condition[, "what was seen"]): throws InternalError when `condition` does not hold.
#define BATON_CHECK(condition, ...) \
  ((condition) ? void(0)            \
               : ::baton::internal_error(__FILE__, __LINE__, #condition, ::std::string{__VA_ARGS__}))
