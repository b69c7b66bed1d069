"""Unknown peers that invite one peer many times, for peers-acceptance. Each has another number, and one of a few keys.

usage: peers_acceptance_inviter.py HOST PORT DIRECTORY ADDRESSES SECONDS
"""
import os
import socket
import ssl
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Peers", "Python"))

import cwp1
from cwp1_link import Link

KEYS, THREADS, HELD = 8, 4, 40
counts = dict.fromkeys(("invitations", "refused", "links refused"), 0)
lock = threading.Lock()


def count(what):
    with lock:
        counts[what] += 1


def make_key(directory, number):
    key, certificate = os.path.join(directory, f"{number}.key"), os.path.join(directory, f"{number}.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x",
                    "-days", "2", "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return ["--key", key, "--certificate", certificate]


def attack(thread, place, keys, addresses, end):
    held, number = [], thread
    while time.monotonic() < end:
        # Every eighth is the same peer again.
        number += THREADS
        words = keys[number % KEYS] + ["--dial", place, "--name", f"Unknown {number}"]
        if number // THREADS % 8 == 0:
            words += ["--id", "%016x" % (thread + 1)]
        options = cwp1.parse(words)
        try:
            link = Link.dial(place, options, f"10.77.9.{100 + number % addresses}")
            held.append(link)
            cwp1.Peer(link, options).invite(os.urandom(60_000))
            count("invitations")
        except (OSError, ValueError, SystemExit, StopIteration):
            count("links refused")
        if len(held) > HELD:
            close(held.pop(0))
    for link in held:
        close(link)


def close(link):
    try:
        while (frame := link.receive(0)) is not None:
            if frame[0] == cwp1.DECLINE:
                count("refused")
    except (OSError, SystemExit):
        pass
    link.socket.close()


def main():
    host, port, directory, addresses, seconds = sys.argv[1:]
    cwp1.note = lambda *_, **__: None
    keys = [make_key(directory, number) for number in range(KEYS)]
    end = time.monotonic() + float(seconds)
    threads = [threading.Thread(target=attack, args=(thread, f"{host}:{port}", keys, int(addresses), end)) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(", ".join(f"{value} {name}" for name, value in counts.items()))


main()
