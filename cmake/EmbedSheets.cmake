# cmake -DFOLDER=<folder of .json> -DOUTPUT=<.cc> -P EmbedSheets.cmake: device sheets as a C++ source, by name.

file(GLOB sheets "${FOLDER}/*.json")
list(SORT sheets)
set(texts "")
foreach(sheet IN LISTS sheets)
  get_filename_component(name "${sheet}" NAME_WE)
  file(READ "${sheet}" text)
  string(FIND "${text}" ")sheet\"" closing)
  if(NOT closing EQUAL -1)
    message(FATAL_ERROR "${sheet}: the text holds )sheet\" which ends the string literal")
  endif()
  string(APPEND texts "    {\"${name}\", R\"sheet(${text})sheet\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by cmake/EmbedSheets.cmake.
#include \"baton/codegen/sim/sheet.h\"

namespace baton {

namespace {

const ShippedSheet kShipped[] = {
${texts}};

}  // namespace

std::span<const ShippedSheet> shipped_sheets() { return kShipped; }

}  // namespace baton
")
