#include "baton/support/log.h"

#include <cstdio>
#include <mutex>
#include <utility>

namespace baton {

namespace {

std::mutex mutex;
LogSink& current() {
  static LogSink sink;
  return sink;
}

}  // namespace

void log_line(const std::string& line) {
  LogSink sink;
  {
    const std::lock_guard lock(mutex);
    sink = current();
  }
  if (sink)
    sink(line);
  else
    std::fprintf(stderr, "%s\n", line.c_str());
}

LogSink set_log_sink(LogSink sink) {
  const std::lock_guard lock(mutex);
  return std::exchange(current(), std::move(sink));
}

}  // namespace baton
