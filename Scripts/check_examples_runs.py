"""Runs examples in a network namespace of their own, where their ports are free and no packet leaves the host. Used by check-examples."""
import base64, contextlib, ctypes, hashlib, pathlib, socket, struct, subprocess, tempfile, threading, time

CLONE_NEWNET = 0x40000000
PATIENCE = 20


def faults(folder):
    """Returns what the programs in a folder do wrong."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        print("SKIPPED: runs of examples, which need a network namespace")
        return []
    for words in ["link set lo up", "link add view type veth peer name away", "link set away up", "link set view up multicast on",
                  "address add 10.77.9.1/24 dev view"]:
        subprocess.run(["ip", *words.split()], check=True)
    found = []
    for check in [typed_messages, web_socket_end, web_socket_reset, camera, shared_counter, nim]:
        try:
            check(folder)
        except (AssertionError, OSError, subprocess.TimeoutExpired) as fault:
            found.append(f"{check.__name__}: {fault}")
    return found


class Program:
    """A running program whose output goes to a file."""

    def __init__(self, path, *words):
        self.output = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([path, *words], stdout=self.output, stderr=subprocess.STDOUT)

    def text(self):
        self.output.flush()
        self.output.seek(0)
        return self.output.read()

    def prints(self, part):
        """Waits for a part of the output."""
        eventually(lambda: part in self.text(), lambda: f"expected {part!r} in {self.text()!r}")

    def ends(self, status):
        found = self.process.wait(PATIENCE)
        assert found == status, f"status {found}, not {status}: {self.text()!r}"


@contextlib.contextmanager
def running(path, *words):
    program = Program(path, *words)
    try:
        yield program
    finally:
        program.process.kill()
        program.process.wait()


def eventually(condition, text):
    limit = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < limit, text()
        time.sleep(0.02)


def listens(port):
    """Whether a socket of this namespace listens on a TCP port."""
    tables = [pathlib.Path(f"/proc/thread-self/net/{name}") for name in ["tcp", "tcp6"]]
    rows = [row.split() for table in tables if table.exists() for row in table.read_text().splitlines()[1:]]
    return any(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows)


def typed_messages(folder):
    """The client gets its text back from the server, and the end."""
    with running(folder / "TypedMessages", "serve"):
        eventually(lambda: listens(7002), lambda: "the server does not listen on port 7002")
        with running(folder / "TypedMessages") as client:
            client.ends(0)
            assert client.text() == "hello\n3: 0 bytes\n", client.text()


def hang_up(folder, resets):
    """A server that closes the connection after the first message, without a close frame."""
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(PATIENCE)

    def serve():
        peer, _ = server.accept()
        request = b""
        while b"\r\n\r\n" not in request:
            request += peer.recv(4096)
        fields = dict(line.split(": ", 1) for line in request.decode().splitlines()[1:] if ": " in line)
        key = {name.lower(): value for name, value in fields.items()}["sec-websocket-key"]
        accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
        head = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Accept: {accept}"]
        peer.sendall("\r\n".join(head + ["", ""]).encode())
        peer.recv(4096)
        if resets:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with running(folder / "WebSocketClient", f"ws://127.0.0.1:{server.getsockname()[1]}/") as client:
        client.ends(0)
        assert "rror raised" not in client.text(), client.text()
    thread.join(PATIENCE)
    server.close()


def web_socket_end(folder):
    hang_up(folder, resets=False)


def web_socket_reset(folder):
    hang_up(folder, resets=True)


def camera(folder):
    """The sender finds the viewer by name, sends frames, and both print figures."""
    with running(folder / "Camera", "view", "Viewer") as viewer:
        viewer.prints("Viewer")
        with running(folder / "Camera", "send", "Viewer", "20") as sender:
            sender.prints("connected to Viewer")
            viewer.prints("a camera at ")
            # Twenty frames of twenty datagrams a second.
            sender.prints(" datagrams sent, ")
            viewer.prints(" datagrams received, ")
            viewer.prints(" 0 lost, ")


def shared_counter(folder):
    """Two programs find the host of the counter, one after the other, and add to it."""
    with running(folder / "SharedCounter", "host") as host:
        for amount, value in [("5", "5"), ("37", "42")]:
            with running(folder / "SharedCounter", "add", amount) as adder:
                adder.ends(0)
                assert adder.text() == f"the counter is at {value}\n", adder.text()
            host.prints(f"{amount} added: {value}\n")


def nim(folder):
    """Both peers find each other, play, and agree about the winner."""
    with running(folder / "Nim", "Ann") as ann, running(folder / "Nim", "Bob") as bob:
        for player in [ann, bob]:
            player.ends(0)
        results = sorted(player.text().splitlines()[-1] for player in [ann, bob])
        assert results == ["lost", "won"], f"{ann.text()!r} {bob.text()!r}"
