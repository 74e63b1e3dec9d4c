"""What tools/check_layers checks, a rule of ARCHITECTURE.md in each file."""
