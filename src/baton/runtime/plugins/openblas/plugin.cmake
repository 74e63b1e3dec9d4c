# Needs nothing to be built: libopenblas.so.0 is opened when a model asks for it.
set(plugin_libraries "${CMAKE_DL_LIBS}")
set(plugin_installed ON)
