"""Hosts as network namespaces on one bridge, and programs on them, for peers-acceptance."""
import os
import re
import shutil
import subprocess
import tempfile
import time

PATIENCE = 120


def run(words, check=True):
    return subprocess.run(words.split(), check=check, capture_output=True, text=True)


class Network:
    """Hosts on one bridge, each with its own host name."""

    def __init__(self, count):
        self.name = f"cwp{os.getpid()}"
        self.count = count

    def __enter__(self):
        run(f"ip netns add {self.name}s")
        run(f"ip -n {self.name}s link add br0 type bridge mcast_snooping 0 forward_delay 0")
        run(f"ip -n {self.name}s link set br0 up")
        for i in range(self.count):
            host = self.host(i)
            run(f"ip netns add {host}")
            run(f"ip -n {host} link set lo up")
            run(f"ip netns exec {host} sysctl -qw net.ipv6.conf.default.accept_dad=0")
            run(f"ip -n {self.name}s link add p{i} type veth peer name eth0 netns {host}")
            run(f"ip -n {self.name}s link set p{i} master br0 up")
            run(f"ip -n {host} address add 10.77.9.{i + 1}/24 dev eth0")
            run(f"ip -n {host} link set eth0 up")
        time.sleep(1.5)
        return self

    def __exit__(self, *_):
        for host in [f"{self.name}s"] + [self.host(i) for i in range(self.count)]:
            run(f"ip netns delete {host}", check=False)

    def host(self, i):
        return f"{self.name}h{i}"

    def link(self, i, state):
        run(f"ip -n {self.name}s link set p{i} {state}")

    def isolate(self, i, is_isolated):
        """Drops frames without a change of the carrier: the port leaves the bridge."""
        run(f"ip -n {self.name}s link set p{i} " + ("nomaster" if is_isolated else "master br0"))


class Program:
    def __init__(self, network, i, name, options, same_name=False, words=None):
        """Starts MultipeerProgram, or a program of the same build with its words."""
        self.directory = tempfile.mkdtemp(prefix="cw-peers-")
        self.log = open(os.path.join(self.directory, "log"), "w+b")
        self.name = name
        uts = f"hostname {'same' if same_name else name.lower()}; exec "
        program, *words = words or ["MultipeerProgram", name, self.directory]
        command = " ".join([os.path.join(options.build, program), *words])
        host = ["ip", "netns", "exec", network.host(i), "unshare", "-u", "sh", "-c"]
        self.started = time.monotonic()
        self.process = subprocess.Popen([*host, f"{uts}timeout -s KILL 900 {command}"], stdin=subprocess.PIPE, stdout=self.log, stderr=self.log)

    def write(self, text):
        self.process.stdin.write((text + "\n").encode())
        self.process.stdin.flush()

    @property
    def text(self):
        return open(self.log.name, errors="replace").read()

    def wait(self, pattern, patience=PATIENCE, count=1):
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if len(re.findall(pattern, self.text, re.M)) >= count:
                return time.monotonic()
            time.sleep(0.005)
        raise SystemExit(f"{self.name}: '{pattern}' did not appear {count} times in:\n{self.text[-2000:]}")

    def time(self, pattern):
        found = re.search(pattern + r" (\d+\.\d+)$", self.text, re.M)
        return float(found.group(1)) if found else float("nan")

    @property
    def pid(self):
        pid = self.process.pid
        while True:
            children = open(f"/proc/{pid}/task/{pid}/children").read().split()
            if not children:
                return pid
            pid = int(children[0])

    def memory(self, key="VmRSS"):
        return int(re.search(key + r":\s+(\d+)", open(f"/proc/{self.pid}/status").read()).group(1)) / 1024

    def processor(self):
        """Seconds of processor time so far."""
        fields = open(f"/proc/{self.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def files(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def end(self):
        if self.process.poll() is None:
            os.kill(self.pid, 9)
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


class Programs(list):
    def __enter__(self):
        return self

    def __exit__(self, *_):
        for program in self:
            program.end()


def pair(network, options, **words):
    programs = Programs([Program(network, 0, "Ann", options, **words), Program(network, 1, "Bob", options, **words)])
    return programs


def connected(programs, patience=PATIENCE):
    for program in programs:
        program.wait(r"^connected ", patience, len(programs) - 1)
