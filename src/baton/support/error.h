#pragma once
// The two kinds of exceptions of the compiler. The user's mistakes are `Error` (and its child
// DiagnosticError, see diagnostic.h); ours are `InternalError` and mean a bug in Baton.
#include <stdexcept>
#include <string>

namespace baton {

/// A mistake in what the user gave: the text says what was seen and what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Wrong use of a verb, flag or argument (exit code 2 of the command line).
class UsageError : public Error {
 public:
  using Error::Error;
};

/// The request is well formed, but not provided yet; listed in docs/compatibility.md.
class NotSupported : public Error {
 public:
  using Error::Error;
};

/// A broken invariant of ours. User input must never lead here.
class InternalError : public std::logic_error {
 public:
  InternalError(const char* file, int line, const std::string& what)
      : std::logic_error(std::string(file) + ":" + std::to_string(line) + ": " + what) {}
};

[[noreturn]] inline void internal_error(const char* file, int line, const char* condition, const std::string& what) {
  throw InternalError(file, line, what.empty() ? condition : std::string(condition) + ": " + what);
}

}  // namespace baton

/// BATON_CHECK(condition[, "what was seen"]): throws InternalError when `condition` does not hold.
#define BATON_CHECK(condition, ...) \
  ((condition) ? void(0) : ::baton::internal_error(__FILE__, __LINE__, #condition, ::std::string{__VA_ARGS__}))
