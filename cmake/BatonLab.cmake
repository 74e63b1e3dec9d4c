# libbaton_lab.so: the laboratory, what measures campaigns, keeps, predicts, tunes and maps. libbaton_lab_verbs.so: its verbs,
# which the program loads when one of them is called. Nothing else links them, so that whoever compiles and profiles need not
# build them, nor install what they are built with.

find_package(SQLite3 3.38)
if(SQLite3_FOUND AND NOT TARGET SQLite3::SQLite3)  # its name before CMake 4.3
  add_library(SQLite3::SQLite3 ALIAS SQLite::SQLite3)
endif()
# XGBoost trains predictors. Its library is loaded when it is asked for (src/baton/predict/boosting.cc), so only the
# declarations are needed here.
find_path(XGBOOST_INCLUDE_DIR xgboost/c_api.h)
# CBC solves mappings with limits; it is loaded in the same way (src/baton/map/milp.cc).
find_path(CBC_INCLUDE_DIR coin/Cbc_C_Interface.h)
if(NOT SQLite3_FOUND OR NOT XGBOOST_INCLUDE_DIR OR NOT CBC_INCLUDE_DIR)
  set(missing "SQLite 3.38, the headers of XGBoost, or those of CBC are not installed (Debian: libsqlite3-dev libxgboost-dev "
              "coinor-libcbc-dev; ./baton setup lab)")
  list(JOIN missing "" missing)
  if(SKBUILD)  # a wheel has all of it
    message(FATAL_ERROR "${missing}")
  endif()
  message(STATUS "The laboratory, the Python module and the tests are not built: ${missing}")
  return()
endif()
set(BATON_HAS_LAB ON)

baton_sources(lab_sources "*.cc" src/baton)
list(FILTER lab_sources INCLUDE REGEX "/src/baton/(${baton_lab_folders})/")
list(REMOVE_ITEM lab_sources ${measuring_sources})
add_library(baton_lab SHARED ${lab_sources} $<TARGET_OBJECTS:baton_measuring>)
set_target_properties(baton_lab PROPERTIES DEFINE_SYMBOL "")  # as baton_core
target_link_libraries(baton_lab PUBLIC baton_core PRIVATE baton_options SQLite3::SQLite3 ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS})
baton_cold_code(baton_lab)
baton_pch_of(baton_lab baton_headers)
baton_unity(baton_lab)
baton_page(baton_lab src/baton/map/page/map.html map_page_template baton/map/write/map_page.h)

baton_sources(lab_verb_sources "*.cc" src/baton/cli/lab)
add_library(baton_lab_verbs MODULE ${lab_verb_sources})
target_link_libraries(baton_lab_verbs PRIVATE baton_options baton baton_lab)
baton_cold_code(baton_lab_verbs)
baton_pch_of(baton_lab_verbs baton_headers)
baton_unity(baton_lab_verbs)
install(TARGETS baton_lab baton_lab_verbs LIBRARY DESTINATION lib)
