"""Finds Chromium, in which the page of a profile is tested, and its package when there is none."""
import os
import shutil

NAMES = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGE = "chromium-headless-shell"  # Debian's smallest: 160 MB to load, 530 MB on a machine that has no desktop at all


def program():
    """The path of a Chromium, or None. $BATON_CHROMIUM names another."""
    return os.environ.get("BATON_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
