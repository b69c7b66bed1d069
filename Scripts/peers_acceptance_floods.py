"""Floods against one program, for peers-acceptance."""
import os
import re
import subprocess
import sys
import tempfile
import time

from peers_acceptance_hosts import Network, Program, Programs, connected, pair, run


def listening(program):
    """The address and the ports of a program's TCP listeners."""
    inodes = set()
    for number in os.listdir(f"/proc/{program.pid}/fd"):
        try:
            inodes.add(os.readlink(f"/proc/{program.pid}/fd/{number}"))
        except OSError:
            pass
    ports = set()
    for table in ("tcp", "tcp6"):
        for line in open(f"/proc/{program.pid}/net/{table}").readlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                ports.add(int(fields[1].rsplit(":", 1)[1], 16))
    return "10.77.9.2", sorted(ports)


CLIENT = """
import socket, ssl, sys, time
kind, host, port, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
import resource
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
context.set_alpn_protocols(["cw-peers/1"])
if len(sys.argv) > 5: context.load_cert_chain(sys.argv[5])
held, refused = [], 0
for number in range(count):
    try:
        s = socket.create_connection((host, port), timeout=5)
        if kind == "hello": s.sendall(bytes.fromhex("160301020001000"+"1fc0303"))
        if kind in ("mute", "garbage"): s = context.wrap_socket(s)
        if kind == "garbage": s.sendall(bytes([2, 0, 0, 0, 0, 0, 64, 0]) * 2000)
        held.append(s)
    except OSError:
        refused += 1
print("open", len(held), "refused", refused, flush=True)
time.sleep(3)
print("end", flush=True)
"""


def flood(network, programs, kind, count, certificate=None):
    host, ports = listening(programs[1])
    before = (programs[1].memory(), programs[1].files())
    words = ["ip", "netns", "exec", network.host(0), sys.executable, "-c", CLIENT, kind, host, str(ports[0]), str(count)]
    client = subprocess.Popen(words + ([certificate] if certificate else []), stdout=subprocess.PIPE, text=True)
    opened = client.stdout.readline().strip()
    time.sleep(1)
    during = (programs[1].memory(), programs[1].files(), programs[1].memory("VmHWM"))
    client.wait()
    # A peer is served meanwhile and afterwards.
    programs[0].write(f"say after-{kind}")
    programs[1].wait(f"said Ann after-{kind}", 20)
    print(f"{count} connections, {kind}: {opened}; memory {before[0]:.0f} to {during[0]:.0f} MiB (peak {during[2]:.0f}), "
          f"files {before[1]} to {during[1]}; the session goes on", flush=True)


def silent(options):
    with Network(2) as network, pair(network, options) as programs:
        connected(programs)
        flood(network, programs, "silent", 10000)
        flood(network, programs, "hello", 10000)


def strangers(options):
    with tempfile.TemporaryDirectory() as directory, Network(2) as network, pair(network, options) as programs:
        place = os.path.join(directory, "own.pem")
        run(f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x -days 2 "
            f"-keyout {place} -out {directory}/c.pem")
        with open(place, "a") as output:
            output.write(open(f"{directory}/c.pem").read())
        connected(programs)
        flood(network, programs, "mute", 1000, place)
        flood(network, programs, "garbage", 1000, place)


def invitations(options):
    for conduct in ("never", "late", "refuse"):
        for addresses in (1, 40):
            invite(options, conduct, addresses)


def invite(options, conduct, addresses):
    """Unknown peers invite Bob from a number of addresses for 12 s. Ann starts in the middle of it, and invites him too."""
    with Network(3) as network, tempfile.TemporaryDirectory() as directory, Programs() as programs:
        for number in range(addresses):
            run(f"ip -n {network.host(2)} address add 10.77.9.{100 + number}/24 dev eth0")
        bob = Program(network, 1, "Bob", options)
        programs.append(bob)
        bob.write(f"unknown {conduct}")
        bob.wait(f"^unknown {conduct}")
        while not listening(bob)[1]:
            time.sleep(0.05)
        client = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers_acceptance_inviter.py")
        host, ports = listening(bob)
        before, processor, begin = bob.memory(), bob.processor(), time.monotonic()
        flood = subprocess.Popen(
            ["ip", "netns", "exec", network.host(2), sys.executable, client, host, str(ports[0]), directory, str(addresses), "12"],
            stdout=subprocess.PIPE, text=True)
        time.sleep(4)
        ann = Program(network, 0, "Ann", options)
        programs.append(ann)
        ann.wait("^connected Bob", 30)
        joined = ann.time("^connected Bob")
        is_during = flood.poll() is None
        report = flood.stdout.read().strip()
        flood.wait()
        share = (bob.processor() - processor) / (time.monotonic() - begin)
        after, peak = bob.memory(), bob.memory("VmHWM")
        asked = len(re.findall("^invited Unknown", bob.text, re.M))
        ann.write("say hello")
        bob.wait("^said Ann hello", 20)
        print(f"invitations from {addresses} addresses, handler {conduct}: {report}; {asked} put to the program; Ann connected "
              f"{joined:.1f} s after her start{' in the flood' if is_during else ' AFTER the flood'}; memory {before:.0f} to "
              f"{after:.0f} MiB (peak {peak:.0f}), {share:.2f} processors", flush=True)
