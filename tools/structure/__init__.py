"""The checks of tools/check_layers, one rule of ARCHITECTURE.md per file."""
