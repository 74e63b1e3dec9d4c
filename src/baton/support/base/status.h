// Error reporting by value, for code built without exceptions.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace baton {

/// The kind of failure. The numbers are part of the C ABI (`runtime/c_api.h`).
enum class StatusCode : int {
  kOk = 0,
  kInvalidArgument = 1,  ///< an argument does not exist or does not fit
  kBadData = 2,          ///< malformed file or byte stream
  kIo = 3,               ///< reading or writing failed
  kOutOfMemory = 4,
  kKernelFailed = 5,  ///< a kernel returned a non-zero code
  kUnavailable = 6,   ///< not available on this machine (no linker, no such CPU feature)
};

/// Success, or a code and one sentence for the user: what was seen, and what to do about it.
struct [[nodiscard]] Status {
  StatusCode code = StatusCode::kOk;
  std::string message;

  bool ok() const { return code == StatusCode::kOk; }

  static Status success() { return {}; }
  static Status invalid(std::string text) { return {StatusCode::kInvalidArgument, std::move(text)}; }
  static Status bad_data(std::string text) { return {StatusCode::kBadData, std::move(text)}; }
  static Status io(std::string text) { return {StatusCode::kIo, std::move(text)}; }
  static Status out_of_memory(std::string text) { return {StatusCode::kOutOfMemory, std::move(text)}; }
  static Status kernel_failed(std::string text) { return {StatusCode::kKernelFailed, std::move(text)}; }
  static Status unavailable(std::string text) { return {StatusCode::kUnavailable, std::move(text)}; }
};

/// A value, or an error status.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: a value is a result
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: and so is a failure

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  /// Requires ok().
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace baton
