#include <cerrno>
#include <cstring>
#include <iostream>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "baton/cli/verb.h"
#include "baton/codegen/background.h"
#include "baton/support/base/environment.h"

namespace {

/// Opens something in the place of a closed standard stream, so that no file gets its number and what is
/// meant for the stream. Returns whether it was closed.
bool reserve(int descriptor) {
  if (fcntl(descriptor, F_GETFD) != -1) return false;
  open("/dev/null", O_RDONLY);  // the lowest free number: the stream's; writing to it fails
  return true;
}

/// https://no-color.org: any value but the empty one.
bool wants_colour(const baton::Environment& environment) {
  return isatty(STDOUT_FILENO) == 1 && environment.no_color.empty() && environment.term != "dumb";
}

int columns_of_output(int otherwise) {
  winsize size{};
  const bool known = isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 0 ? size.ws_col : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  reserve(STDIN_FILENO);
  const bool closed = reserve(STDOUT_FILENO);
  reserve(STDERR_FILENO);
  baton::cli::Io io{std::cout, std::cerr, isatty(STDERR_FILENO) == 1};
  io.columns = columns_of_output(io.columns);
  io.colour = wants_colour(*baton::environment());
  io.device_alias = baton::environment()->device_alias;
  const int code = baton::cli::run(argc, argv, io);
  const bool failed = !std::cout;
  errno = 0;
  std::cout.flush();
  const int error = errno;
  // What an interrupted verb printed is shown before this wait.
  baton::wait_for_background_work();
  if (std::cout) return code;
  const char* why = closed                 ? "it is closed"
                    : failed || error == 0 ? "is the disk full?"
                                           : std::strerror(error);
  std::cerr << "baton: not all was written to standard output: " << why << '\n';
  return code != 0 ? code : 1;
}
