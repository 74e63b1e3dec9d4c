"""tvm.contrib.download: files fetched once, whole or not at all. The server is on this machine."""
import http.server
import pathlib
import threading
import urllib.error

import pytest

import baton as tvm
from baton.contrib import download as module
from baton.contrib.download import download, download_testdata


class Server(http.server.BaseHTTPRequestHandler):
    """/flaky fails at first, /short promises more than it sends; everything is noted in `asked`."""

    def do_GET(self):
        self.server.asked.append(f"{self.command} {self.path}")
        body = self.server.body
        if self.path == "/missing" or (self.path == "/flaky" and len(self.server.asked) < 3):
            self.send_error(404 if self.path == "/missing" else 503)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) + (self.path == "/short")))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


@pytest.fixture(name="server")
def _server():
    server = http.server.HTTPServer(("127.0.0.1", 0), Server)
    server.asked, server.body = [], b"weights"
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_fetches_once(server, tmp_path):
    path = tmp_path / "new" / "folder" / "a.bin"
    for _ in range(2):
        download(server.url + "/a", str(path))
    assert path.read_bytes() == b"weights" and server.asked == ["GET /a"]
    download(server.url + "/a", path, size_compare=True)
    assert server.asked[1:] == ["HEAD /a"]
    server.body = b"longer weights"
    download(server.url + "/a", path, size_compare=True)
    assert path.read_bytes() == b"longer weights"
    server.body = b"others"
    download(server.url + "/a", path, overwrite=True)
    assert path.read_bytes() == b"others" and [each.name for each in path.parent.iterdir()] == ["a.bin"]


def test_errors_leave_nothing(server, tmp_path):
    path = tmp_path / "a.bin"
    with pytest.raises(urllib.error.HTTPError, match="404"):
        download(server.url + "/missing", path)
    assert server.asked == ["GET /missing"]
    with pytest.raises(OSError, match="7 of 8 bytes"):
        download(server.url + "/short", path, retries=2)
    assert server.asked[1:] == ["GET /short"] * 2 and not list(tmp_path.iterdir())
    server.asked.clear()
    with pytest.raises(urllib.error.HTTPError, match="503"):
        download(server.url + "/flaky", path, retries=2)
    download(server.url + "/flaky", path, retries=3)
    assert path.read_bytes() == b"weights"


def test_testdata(server, tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_DATA_ROOT_PATH", str(tmp_path))
    assert download_testdata(server.url + "/cat", "cat.png", module="data") == str(tmp_path / "data" / "cat.png")
    assert download_testdata(server.url + "/cat", "cat.png", module=["a", "b"]) == str(tmp_path / "a" / "b" / "cat.png")
    monkeypatch.delenv("TEST_DATA_ROOT_PATH")
    monkeypatch.setattr(pathlib.Path, "home", lambda: tmp_path)
    assert download_testdata(server.url + "/cat", "cat.png") == str(tmp_path / ".tvm_test_data" / "cat.png")
    with pytest.raises(TypeError, match="module"):
        download_testdata(server.url + "/cat", "cat.png", module=3)
    assert tvm.contrib.download is module
