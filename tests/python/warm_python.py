"""A Python that has imported PyTorch: for tests that start the program again and again.

`python warm_python.py FOLDER` imports what the oracle's process needs, once, and writes FOLDER/python, a value for
SOLSTICE_PYTHON. `FOLDER/python -m solstice.worker ...` makes the server fork; the fork is the worker, with the caller's
streams, folder and environment. Any other call goes to Python. A start takes milliseconds instead of seconds.
Tests of the worker itself start Python: what it imports, and when, is their subject.
"""

import contextlib
import importlib
import json
import os
import pathlib
import runpy
import selectors
import signal
import socket
import sys

# The worker ends with the client: where that is killed, the server finds its connection closed.
CLIENT = """#!{python} -IS
import json, os, socket, sys
if sys.argv[1:3] != ["-m", "solstice.worker"]:
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.connect({address!r})
call = {{"argv": sys.argv[3:], "folder": os.getcwd(), "environment": dict(os.environ)}}
socket.send_fds(server, [json.dumps(call).encode()], [0, 1, 2])
os._exit((server.recv(1) or b"\\1")[0])
"""
MOST_BYTES = 1 << 17  # of a call


def be_worker(call, streams):
    """In the fork; does not return."""
    status = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(call["folder"])
        sys.path[0] = call["folder"]  # as `python -m` has it
        os.environ.clear()
        os.environ.update(call["environment"])
        sys.argv = ["solstice.worker", *call["argv"]]
        runpy.run_module("solstice.worker", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(status)


class Server:
    def __init__(self, address):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(address)
        self.listener.listen()
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ, self.accept)
        self.selector.register(0, selectors.EVENT_READ, lambda: os._exit(0))  # whoever started it is gone

    def run(self):
        while True:
            for key, _ in self.selector.select():
                if key.fd in self.selector.get_map():  # what came before it may have ended it
                    key.data()

    def accept(self):
        client, _ = self.listener.accept()
        data, streams, _, _ = socket.recv_fds(client, MOST_BYTES, 3)
        server = os.getpid()
        pid = os.fork()
        if pid == 0:
            from solstice.forked import die_with_parent

            die_with_parent(server)
            for key in [*self.selector.get_map().values()]:
                with contextlib.suppress(OSError):
                    os.close(key.fd)
            self.selector.close()
            client.close()
            be_worker(json.loads(data), streams)
        for stream in streams:
            os.close(stream)
        ended = os.pidfd_open(pid)
        self.selector.register(client, selectors.EVENT_READ, lambda: self.kill(client, pid))
        self.selector.register(ended, selectors.EVENT_READ, lambda: self.tell(client, pid, ended))

    def kill(self, client, pid):
        self.selector.unregister(client)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def tell(self, client, pid, ended):
        """Passes on how the worker ended."""
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self.selector.unregister(ended)
        os.close(ended)
        with contextlib.suppress(KeyError):
            self.selector.unregister(client)
        with contextlib.suppress(OSError):
            client.send(bytes([code if code >= 0 else 128 - code]))
        client.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    from solstice import worker

    for name in worker._WARM_MODULES:
        importlib.import_module(name)
    address = str(folder / "socket")
    server = Server(address)
    client = folder / "python"
    client.write_text(CLIENT.format(python=sys.executable, address=address))
    client.chmod(0o755)
    print("ready", flush=True)
    server.run()


if __name__ == "__main__":
    main()
