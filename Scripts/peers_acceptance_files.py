"""A large file between two hosts, with peers and with other programs, for peers-acceptance."""
import os
import shutil
import subprocess
import tempfile
import time

from peers_acceptance_hosts import Network, connected, pair, run

SIZE = 1 << 30


def file(options):
    with tempfile.TemporaryDirectory(prefix="cw-peers-") as folder:
        place = os.path.join(folder, "block")
        with open(place, "wb") as output:
            for _ in range(SIZE >> 22):
                output.write(os.urandom(4 << 20))
        with Network(2) as network:
            seconds = resource(network, options, place)
            for name, copy in (("nw cat --tls", cat), ("scp", scp)):
                other = copy(network, options, folder, place)
                if other:
                    print(f"  {name}: {other:.2f} s, {1024 / other:.0f} MiB/s; peers are {other / seconds:.2f} times as fast",
                          flush=True)


def resource(network, options, place):
    with pair(network, options) as (ann, bob):
        connected([ann, bob])
        before = [ann.memory("VmHWM"), bob.memory("VmHWM")]
        ann.write(f"file {place}")
        bob.wait("^received Ann .* whole", 600)
        ann.wait("^sent Bob .* whole", 600)
        seconds = float(ann.text.split(" whole ")[1].split()[0])
        extra = [ann.memory("VmHWM") - before[0], bob.memory("VmHWM") - before[1]]
        same = subprocess.run(["cmp", place, os.path.join(bob.directory, os.path.basename(place))]).returncode == 0
        sides = "progress sender" in ann.text and "progress receiver" in bob.text
        print(f"file of 1 GiB: {seconds:.2f} s, {1024 / seconds:.0f} MiB/s, equal {same}, progress on both {sides}, "
              f"extra peak memory {extra[0]:.0f} and {extra[1]:.0f} MiB", flush=True)
        return seconds


def cat(network, options, folder, place):
    """Seconds until the other side has stored the file and ended; `None` without the program."""
    nw = os.path.join(options.build, "nw")
    if not os.path.exists(nw):
        return None
    run(f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=bob "
        f"-keyout {folder}/key.pem -out {folder}/cert.pem")
    words = ["cat", "-l", "--tls", "--cert", f"{folder}/cert.pem", "--key", f"{folder}/key.pem", "10.77.9.2", "9000"]
    with open(f"{folder}/copy", "wb") as copy:
        server = start(network, 1, nw, *words, stdout=copy)
    listening(network, 9000)
    begin = time.monotonic()
    with open(place, "rb") as block:
        start(network, 0, nw, "cat", "--tls", "--insecure-skip-verify", "-N", "10.77.9.2", "9000", stdin=block)
        server.wait()
    return checked(place, f"{folder}/copy", time.monotonic() - begin)


def scp(network, options, folder, place):
    """Seconds; `None` without the server."""
    server = shutil.which("sshd", path="/usr/sbin:/usr/bin")
    if not server:
        return None
    os.makedirs("/run/sshd", exist_ok=True)
    for key in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{key}"], check=True)
    settings = [f"AuthorizedKeysFile={folder}/user.pub", "StrictModes=no", "UsePAM=no", "PidFile=none",
                "PermitRootLogin=prohibit-password", "Subsystem=sftp internal-sftp"]
    words = [word for setting in settings for word in ("-o", setting)]
    daemon = start(network, 1, server, "-D", "-q", "-f", "/dev/null", "-p", "2222", "-h", f"{folder}/host", *words)
    try:
        listening(network, 2222)
        begin = time.monotonic()
        start(network, 0, "scp", "-q", "-i", f"{folder}/user", "-P", "2222", "-o", "StrictHostKeyChecking=no", "-o",
              "UserKnownHostsFile=/dev/null", place, f"root@10.77.9.2:{folder}/copy").wait()
        return checked(place, f"{folder}/copy", time.monotonic() - begin)
    finally:
        daemon.kill()
        daemon.wait()


def start(network, i, *words, **files):
    return subprocess.Popen(["ip", "netns", "exec", network.host(i), *words], **files)


def listening(network, port):
    for _ in range(1000):
        if f":{port} " in run(f"ip netns exec {network.host(1)} ss -ltn").stdout:
            return
        time.sleep(0.005)
    raise SystemExit(f"nothing listens on port {port}")


def checked(place, copy, seconds):
    if subprocess.run(["cmp", place, copy]).returncode != 0:
        raise SystemExit(f"{copy} differs")
    os.unlink(copy)
    return seconds
