"""The implementation of ./baton: install, build, test. Standard library only."""
