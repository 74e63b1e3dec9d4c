# What others wrote. Halide, nanobind and Python come from one virtual environment (build/venv, made by ./baton
# setup); the rest from Debian.

find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module)

# Asks the interpreter where a package keeps its CMake files. Not a search of PATH: that could find the package of
# another Python than the one the module is built for.
function(baton_python_query code out)
  execute_process(COMMAND "${Python_EXECUTABLE}" -c "${code}"
                  OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE status ERROR_VARIABLE error)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${Python_EXECUTABLE} lacks a package that the build needs; run './baton setup'.\n${error}")
  endif()
  set(${out} "${answer}" PARENT_SCOPE)
endfunction()

baton_python_query(
  "import importlib.util as u, pathlib; print(pathlib.Path(u.find_spec('halide').origin).parent)" BATON_HALIDE_ROOT)
set(Halide_DIR "${BATON_HALIDE_ROOT}/lib64/cmake/Halide")
find_package(Halide 21 REQUIRED COMPONENTS shared Halide)

find_package(Threads REQUIRED)
find_package(CLI11 2.1 REQUIRED)

find_package(ZLIB REQUIRED)
# libzip reads and writes .npz. Its CMake package names programs that Debian packs separately, so it cannot be used.
find_path(LIBZIP_INCLUDE_DIR zip.h REQUIRED)
find_library(LIBZIP_LIBRARY zip REQUIRED)
add_library(libzip UNKNOWN IMPORTED)
set_target_properties(libzip PROPERTIES IMPORTED_LOCATION "${LIBZIP_LIBRARY}"
                                        INTERFACE_INCLUDE_DIRECTORIES "${LIBZIP_INCLUDE_DIR}")
