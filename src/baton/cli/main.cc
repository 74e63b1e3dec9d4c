#include <cstdlib>
#include <iostream>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "baton/cli/verb.h"

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// https://no-color.org: any value but the empty one.
bool wants_colour() {
  return isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

int columns_of_output(int otherwise) {
  winsize size{};
  const bool known = isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 0 ? size.ws_col : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  baton::cli::Io io{std::cout, std::cerr, isatty(STDERR_FILENO) == 1};
  io.columns = columns_of_output(io.columns);
  io.colour = wants_colour();
  const int code = baton::cli::run(argc, argv, io);
  std::cout.flush();
  return code != 0 || std::cout ? code : 1;
}
