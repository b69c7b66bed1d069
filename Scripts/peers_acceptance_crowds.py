"""Many peers, and peers that say nothing, for peers-acceptance."""
import time

from peers_acceptance_hosts import Network, Program, Programs, connected, run


def crowd(options):
    count = 32
    with Network(count) as network, Programs(
            Program(network, i, f"P{i}", options, words=["PeerChat", f"P{i}"])
            for i in range(count)) as programs:
        for program in programs:
            program.wait(r" joined$", 120, count - 1)
        seconds = time.monotonic() - min(program.started for program in programs)
        last = time.monotonic() - max(program.started for program in programs)
        memory = max(program.memory() for program in programs)
        left = sum(program.text.count(" left") for program in programs)
        print(f"crowd of {count}: complete {seconds:.2f} s after the first start and {last:.2f} s after the last one; "
              f"{left} peers reported as lost; memory at most {memory:.0f} MiB", flush=True)


def idle(options):
    count, seconds = 8, 60
    with Network(count) as network, Programs([Program(network, 0, "P0", options)]) as programs:
        time.sleep(5)
        alone = programs[0].memory()
        programs += [Program(network, i, f"P{i}", options) for i in range(1, count)]
        connected(programs)
        # Announcements and searches after a start become rare.
        time.sleep(30)
        before = packets(network, 0)
        time.sleep(seconds)
        rate = (packets(network, 0) - before) / seconds
        print(f"idle session with {count - 1} peers: {rate:.1f} packets/s to and from one host, "
              f"{programs[0].memory() - alone:.1f} MiB more than alone", flush=True)


def packets(network, i):
    text = run(f"ip -n {network.host(i)} -s -s link show dev eth0").stdout.split("\n")
    return sum(int(text[line + 1].split()[1]) for line in range(len(text)) if text[line].split()[:1] in (["RX:"], ["TX:"])
               and "packets" in text[line])
