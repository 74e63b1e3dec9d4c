# Needs nothing but the processor.
set(plugin_installed ON)
