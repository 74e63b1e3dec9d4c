#include <iostream>
#include <string_view>

#include "baton/support/version.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << "baton " << baton::version() << '\n';
    return 0;
  }
  std::cerr << "usage: baton --version\n";
  return 2;
}
