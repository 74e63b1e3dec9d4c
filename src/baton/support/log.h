#pragma once
// Short notes to the user about compilation, on standard error by default.
#include <functional>
#include <string>

namespace baton {

using LogSink = std::function<void(const std::string& line)>;

/// Writes one line (without newline) to the process's sink: standard error by default.
void log_line(const std::string& line);
/// Replaces the sink and returns the old one; an empty function means standard error.
LogSink set_log_sink(LogSink sink);

}  // namespace baton
