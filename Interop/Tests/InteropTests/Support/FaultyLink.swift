import Foundation
import Testing

/// Two hosts on a link that loses, duplicates, delays and reorders frames. A program on a third host between them forwards the frames.
struct FaultyLink: Sendable {
    static let link = "nwlink"
    let near: String
    let far: String
    private let wire: String

    private init() {
        let name = "nwf-\(getpid())-\(UInt32.random(in: .min ... .max))"
        (near, far, wire) = ("\(name)-a", "\(name)-b", "\(name)-w")
    }

    /// - Parameters:
    ///   - loss: The share of lost frames.
    ///   - doubling: The share of duplicated frames.
    ///   - delay: The maximum delay of a frame in milliseconds. Each frame has a random delay.
    static func run(
        loss: Double, doubling: Double, delay: Int, isolation: isolated (any Actor)? = #isolation,
        _ body: (FaultyLink, Scratch) async throws -> Void
    ) async throws {
        let hosts = FaultyLink()
        defer { for host in [hosts.near, hosts.far, hosts.wire] { try? command("ip netns delete \(host)") } }
        try hosts.make()
        try await Scratch.run { scratch in
            let carrier = try scratch.start(
                "/usr/bin/python3", ["-u", "-c", carrying, "\(loss)", "\(doubling)", "\(delay)"], on: hosts.wire)
            try await eventually("frames are forwarded: \(carrier.errors)") { carrier.text.contains("ready") }
            try await body(hosts, scratch)
        }
    }

    /// Returns the number of packets that a host has sent since the test created the host.
    func sent(by host: String) throws -> Int {
        let text = try HostFile.contents(of: "/sys/class/net/\(Self.link)/statistics/tx_packets", on: host)
        return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    private func make() throws {
        for host in [near, far, wire] {
            try Self.command("ip netns add \(host)")
            try Self.command("ip netns exec \(host) sysctl -qw net.ipv6.conf.default.accept_dad=0")
        }
        for (number, host) in [near, far].enumerated() {
            try Self.command("ip -n \(wire) link add w\(number) type veth peer name \(Self.link) netns \(host)")
            try Self.command("ip -n \(wire) link set w\(number) up")
            try Self.command("ip -n \(host) address add 10.77.9.\(number + 1)/24 dev \(Self.link)")
            try Self.command("ip -n \(host) link set \(Self.link) up")
        }
    }

    private static func command(_ words: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words.split(separator: " ").map(String.init)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw NeverHappened(description: "'\(words)' succeeds") }
    }

    /// A script that computes UDP checksums. A veth interface leaves checksums to a network card that does not exist,
    /// and the far host checks them.
    private static let carrying = """
        import heapq, random, select, socket, struct, sys, time
        loss, doubling, delay = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]) / 1000
        chance = random.Random(7)
        def total(data):
            data += b"\\0" * (len(data) % 2)
            s = sum(struct.unpack("!%dH" % (len(data) // 2), data))
            while s >> 16: s = (s & 0xffff) + (s >> 16)
            return s
        def mend(frame):
            kind = struct.unpack("!H", frame[12:14])[0]
            if kind == 0x0800 and frame[23] == 17:
                start, addresses = 14 + (frame[14] & 15) * 4, frame[26:34]
            elif kind == 0x86dd and frame[20] == 17:
                start, addresses = 54, frame[22:54]
            else:
                return frame
            length = struct.unpack("!H", frame[start + 4:start + 6])[0]
            udp = frame[start:start + 6] + b"\\0\\0" + frame[start + 8:start + length]
            value = 0xffff - total(addresses + struct.pack("!HH", 17, length) + udp) or 0xffff
            return frame[:start + 6] + struct.pack("!H", value) + frame[start + 8:]
        ports = []
        for name in ("w0", "w1"):
            port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            port.bind((name, 0))
            port.setsockopt(263, 1, struct.pack("iHH8s", socket.if_nametoindex(name), 1, 0, b""))
            port.setsockopt(263, 23, 1)
            ports.append(port)
        print("ready")
        waiting, number = [], 0
        while True:
            patience = max(0, waiting[0][0] - time.monotonic()) if waiting else None
            for port in select.select(ports, [], [], patience)[0]:
                frame, other = mend(port.recv(65536)), ports[1 - ports.index(port)]
                for _ in range(2 if chance.random() < doubling else 1):
                    if chance.random() < loss: continue
                    number += 1
                    heapq.heappush(waiting, (time.monotonic() + chance.random() * delay, number, frame, other))
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, frame, other = heapq.heappop(waiting)
                other.send(frame)
        """
}
