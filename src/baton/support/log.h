#pragma once
// Short notes to the user about what the compiler did: standard error, unless somebody else wants them.
#include <functional>
#include <string>

namespace baton {

using LogSink = std::function<void(const std::string& line)>;

/// Writes one line (without its end) to the sink of this process: standard error by default.
void log_line(const std::string& line);
/// Replaces the sink and returns the old one; an empty function means standard error.
LogSink set_log_sink(LogSink sink);

}  // namespace baton
