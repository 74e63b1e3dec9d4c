# cmake -DINPUT=<folder>/page.html -DFUNCTION=<name> -DHEADER=<its header> -DOUTPUT=<.cc> -P EmbedPage.cmake: the page with
# the files its `@include NAME` lines ask for, as a C++ source. Names are relative to its folder.

file(READ "${INPUT}" page)
get_filename_component(folder "${INPUT}" DIRECTORY)
string(REGEX MATCHALL "@include [A-Za-z_./]+\\.[a-z]+\n" includes "${page}")
foreach(line IN LISTS includes)
  string(REGEX REPLACE "@include ([A-Za-z_./]+)\n" "\\1" name "${line}")
  file(READ "${folder}/${name}" part)
  string(REPLACE "${line}" "${part}" page "${page}")
endforeach()
string(FIND "${page}" ")page\"" closing)
if(NOT closing EQUAL -1)
  message(FATAL_ERROR "${folder}: the text holds )page\" which ends the string literal")
endif()
file(WRITE "${OUTPUT}" "// Made by cmake/EmbedPage.cmake.
#include \"${HEADER}\"

namespace baton {

std::string_view ${FUNCTION}() {
  return R\"page(${page})page\";
}

}  // namespace baton
")
