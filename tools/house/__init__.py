"""What ./baton does before the program runs: install, build, test. Standard library only."""
