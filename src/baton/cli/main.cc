#include <iostream>

#include <unistd.h>

#include "baton/cli/verb.h"

int main(int argc, char** argv) {
  baton::cli::Io io{std::cout, std::cerr, isatty(STDERR_FILENO) == 1};
  const int code = baton::cli::run(argc, argv, io);
  std::cout.flush();
  return code != 0 || std::cout ? code : 1;
}
