#pragma once
// A child process that exchanges lines, and may hang or die: reads have a time limit, and its end is told.
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "baton/support/base/status.h"

namespace baton {

class LineProcess {
 public:
  LineProcess() = default;
  /// Closes its standard input, and kills it unless it ends within two seconds.
  ~LineProcess();
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;

  /// Starts words[0], searched in PATH, in a process group of its own (Ctrl-C in a terminal is not for it);
  /// its standard error is inherited. A process that runs is ended first.
  Status start(const std::vector<std::string>& words);
  bool running() const { return process_ > 0; }
  pid_t id() const { return process_; }

  /// False when it does not read any more.
  bool write_line(const std::string& line);
  /// Its next line of output without newline; nullopt after `timeout_s`, or when there will be none
  /// (ended()).
  std::optional<std::string> read_line(double timeout_s);
  bool ended() const { return ended_; }

  /// Kills its process group if it has not ended. How it ended: "ended with status 3", "was killed by signal
  /// 11 (Segmentation fault)".
  std::string finish();
  /// The signal that ended it, of the last finish(); 0: none.
  int signal() const { return signal_; }

 private:
  void close_pipes();

  pid_t process_ = -1;
  int channel_ = -1;  // a socket: its standard input and output
  std::string received_;
  bool ended_ = false;
  int signal_ = 0;
};

}  // namespace baton
