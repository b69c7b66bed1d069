import Causeway
import CausewayTypes
import FoundationEssentials
import Synchronization

/// Records the traffic of one peer. A connection's closures store a value of this type. The type ``SilentTally`` has no
/// stored properties, so that these closures stay small.
protocol PeerTally: Sendable {
    func received(_ byteCount: Int)
    func sent(_ byteCount: Int)
    /// Called when the connection has ended.
    func ended()
}

/// Counts only the open connections, and prints nothing. When the server shuts down, it uses this count to wait for the
/// connections.
struct SilentTally: PeerTally {
    private static let count = Atomic(0)

    /// The number of open connections.
    static var openCount: Int { count.load(ordering: .acquiring) }

    init() { Self.count.add(1, ordering: .acquiringAndReleasing) }

    func received(_ byteCount: Int) {}
    func sent(_ byteCount: Int) {}
    func ended() { Self.count.subtract(1, ordering: .acquiringAndReleasing) }
}

/// Counts one peer's bytes and reports the start and the end of its connection.
final class ReportedTally: PeerTally {
    private let open = SilentTally()
    private let log: PeerLog
    private let peer: String
    private let receivedCount = Atomic<UInt64>(0)
    private let sentCount = Atomic<UInt64>(0)

    init(_ connection: NWConnection, _ log: PeerLog) {
        self.log = log
        peer = connection.endpoint.label
        log.tell(PeerEvent(event: "connected", transport: log.transport, peer: peer))
    }

    func received(_ byteCount: Int) { receivedCount.add(UInt64(byteCount), ordering: .relaxed) }
    func sent(_ byteCount: Int) { sentCount.add(UInt64(byteCount), ordering: .relaxed) }

    func ended() {
        open.ended()
        log.tell(
            PeerEvent(
                event: "ended", transport: log.transport, peer: peer, received: receivedCount.load(ordering: .relaxed),
                sent: sentCount.load(ordering: .relaxed)))
    }
}

/// An event of `nw serve` as a JSON object.
struct PeerEvent: Encodable, Sendable {
    /// The event kind: `listening`, `connected` or `ended`.
    var event: String
    /// The transport: `tcp` or `udp`.
    var transport: String
    var port: UInt16?
    var peer: String?
    /// Bytes received from the peer.
    var received: UInt64?
    var sent: UInt64?
}

/// Reports peers: one line each on standard error, or JSON on standard output.
struct PeerLog: Sendable {
    let transport: String
    let isVerbose: Bool
    let isJSON: Bool

    var isNeeded: Bool { isVerbose || isJSON }

    func tell(_ event: PeerEvent) {
        if isJSON { return printLine(PrintableText(json: event)) }
        guard isVerbose, let peer = event.peer else { return }
        let way: PrintableText = transport == "udp" ? " (UDP)" : ""
        var counts: PrintableText = ""
        if let received = event.received, let sent = event.sent {
            counts = ": received \(Amounts.bytes(received)), sent \(Amounts.bytes(sent))"
        }
        printError("nw: serve: \(peer)\(way) \(event.event)\(counts)")
    }

    /// - Parameter isSecond: `true` for the UDP listener of a server that also listens on TCP.
    func tellListening(on port: UInt16, isSecond: Bool) {
        if isJSON { return tell(PeerEvent(event: "listening", transport: transport, port: port)) }
        printLine(isSecond ? "listening on UDP port \(port)" : "listening on port \(port)")
    }
}
