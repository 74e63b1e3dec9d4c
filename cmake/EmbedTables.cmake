# cmake -DFOLDER=<folder of .txt> -DOUTPUT=<.cc> -P EmbedTables.cmake: tables of tuned schedules as a C++ source.

file(GLOB tables "${FOLDER}/*.txt")
list(SORT tables)
set(texts "")
list(LENGTH tables count)
foreach(table IN LISTS tables)
  file(READ "${table}" text)
  string(FIND "${text}" ")table\"" closing)
  if(NOT closing EQUAL -1)
    message(FATAL_ERROR "${table}: the text holds )table\" which ends the string literal")
  endif()
  string(APPEND texts "    R\"table(${text})table\",\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by cmake/EmbedTables.cmake.
#include \"baton/codegen/schedule_table.h\"

namespace baton {

const std::string_view kShippedTables[] = {
${texts}    \"\"};
const int kShippedTableCount = ${count};

}  // namespace baton
")
