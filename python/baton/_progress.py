"""The progress bar of long work in notebooks."""


def in_notebook():
    """Whether this is a notebook's kernel."""
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return type(get_ipython()).__name__ == "ZMQInteractiveShell"


class NotebookBar:
    """A callback of `baton.profile(progress=...)` that draws with tqdm, one bar for each phase."""

    def __init__(self, bar_class):
        self.bar_class = bar_class
        self.phase = self.bar = None

    def __call__(self, phase, done, total, seconds_left):
        if phase != self.phase:
            self.close()
            self.phase, self.bar = phase, self.bar_class(total=total, desc=phase, leave=False)
        self.bar.total = total
        self.bar.update(done - self.bar.n)

    def close(self):
        if self.bar is not None:
            self.bar.close()
        self.phase = self.bar = None


def notebook_bar():
    """A NotebookBar in a notebook where tqdm is installed, else None."""
    if not in_notebook():
        return None
    try:
        from tqdm.notebook import tqdm
    except ImportError:
        return None
    return NotebookBar(tqdm)
