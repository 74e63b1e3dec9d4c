"""Makes programs.py importable, whatever folder pytest was started in."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
