# The driver's library is opened when the plug-in is first used: nothing is needed to build it.
set(plugin_installed ON)
