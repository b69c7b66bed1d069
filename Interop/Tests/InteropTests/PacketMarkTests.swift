import Causeway
import Dispatch
import Foundation
import Testing

extension Interop {
    /// Tests the IP header fields of outgoing packets as other hosts receive them.
    @Suite("Packets on the wire")
    struct PacketMarkTests {
        struct Row: CustomTestStringConvertible, Sendable {
            var isDatagram: Bool
            var host: String

            var isIPv6: Bool { host.contains(":") }
            var testDescription: String { "\(isDatagram ? "UDP" : "TCP") over \(isIPv6 ? "IPv6" : "IPv4")" }

            static let all = [true, false].flatMap { isDatagram in
                [TwoHosts.far4, TwoHosts.far6].map { Row(isDatagram: isDatagram, host: $0) }
            }

            /// The names of the DSCP and ECN fields in the captured packets.
            var fields: [String] {
                (isIPv6 ? ["ipv6.tclass.dscp", "ipv6.tclass.ecn"] : ["ip.dsfield.dscp", "ip.dsfield.ecn"])
            }

            var filter: String {
                isDatagram ? "udp.dstport==9000 && !icmp && !icmpv6" : "tcp.dstport==9000 && tcp.len>0"
            }
        }

        @Test(
            "tshark sees the requested traffic class and ECN codepoint",
            .enabled(if: TwoHosts.isAvailable && Peer.find("tshark") != nil, "needs root, ip and tshark"),
            arguments: Row.all)
        func marks(_ row: Row) async throws {
            try await TwoHosts.run { hosts, scratch in
                let server = try scratch.start(try Built.nw(), ["serve", "sink", "--port", "9000"], on: hosts.far)
                try await server.prints("listening on port 9000\n")
                let tshark = try #require(Peer.find("tshark"))
                // When tshark is killed, it does not remove its capture file. Let it create the file in the test's
                // directory.
                let capture = try scratch.start(
                    "env",
                    [
                        "TMPDIR=\(scratch.directory.path)", tshark, "-l", "-n", "-i", TwoHosts.link, "-Y", row.filter,
                        "-T", "fields", "-E", "separator=,",
                    ]
                        + row.fields.flatMap { ["-e", $0] }, on: hosts.far)
                try await eventually("tshark captures") { capture.errors.contains("Capture started") }
                let marking = row.isDatagram ? ["-u", "--ecn", "ect1"] : []
                let nw = try scratch.start(
                    try Built.nw(),
                    ["cat", "-N", "--traffic-class", "interactive-voice"] + marking + [row.host, "9000"],
                    on: hosts.near, input: .held)
                try nw.write("marked")
                try nw.endInput()
                // The captured packets must have the DSCP for expedited forwarding. For a stream, the kernel also sets
                // the ECN codepoint ECT(0) (RFC 3168 §6.1.5).
                try await capture.prints(row.isDatagram ? "46,1\n" : "46,2\n")
            }
        }

        @Test(
            "strace sees a batch of datagrams sent as one segmented train",
            .enabled(if: geteuid() == 0 && Peer.find("strace") != nil, "needs root and strace"))
        func trains() async throws {
            try await Scratch.run { scratch in
                let listener = try NWListener(using: .udp)
                listener.newConnectionHandler = { $0.cancel() }
                listener.start(queue: .global())
                try await eventually("a port is open") { listener.state == .ready }
                let connection = NWConnection(host: "127.0.0.1", port: try #require(listener.port), using: .udp)
                connection.start(queue: .global())
                try await eventually("the connection is ready") { connection.state == .ready }
                let trace = try scratch.newFile("trace")
                let strace = try scratch.startProgram(
                    "strace",
                    ["-f", "-e", "trace=sendmsg,sendmmsg", "-o", trace.path, "-p", "\(getpid())"])
                try await eventually("strace is attached") { strace.errors.contains("attached") }
                // Send 40 datagrams, each of 1,000 bytes.
                connection.batch {
                    for _ in 0..<40 { connection.send(content: Data(count: 1_000), completion: .idempotent) }
                }
                // Search strace's output for a send call with UDP_SEGMENT and more than one datagram. Some versions of
                // strace print the number 0x67 instead of the name.
                try await eventually("a train is sent") {
                    try String(contentsOf: trace, encoding: .utf8).split(separator: "\n").contains { line in
                        line.contains("iov_len=1000}, {")
                            && ["cmsg_type=0x67", "UDP_SEGMENT"].contains { line.contains($0) }
                    }
                }
                try strace.interrupt()
                connection.cancel()
                listener.cancel()
            }
        }
    }
}
