import Causeway
import Dispatch
import FoundationEssentials

/// A listener that sends everything back, and a client that compares the returned content with the sent content.
struct Exchange: Sendable {
    let carrier: Carrier

    private static let queue = DispatchQueue(label: "tour.server")

    func run() async throws {
        let listener = try carrier.makeListener()
        Self.echo(listener, isDatagram: carrier.kind == .udp)
        try await listener.becomeReady()
        defer { listener.cancel() }
        let client = NWConnection(to: carrier.endpoint(of: listener), using: carrier.makeParameters())
        defer { client.cancel() }
        let result = try await Self.verify(client, isDatagram: carrier.kind == .udp)
        print(Self.row(carrier.title, result))
    }

    /// Makes a listener send all received data back. Call this before the listener is started.
    static func echo(_ listener: NWListener, isDatagram: Bool) {
        listener.newConnectionHandler = { connection in
            connection.start(queue: queue)
            if isDatagram { echoMessages(connection) } else { echoBytes(connection) }
        }
    }

    /// Connects, sends content of several sizes and compares the returned content. Returns a text with the result.
    static func verify(_ client: NWConnection, isDatagram: Bool) async throws -> String {
        try await client.becomeReady()
        let clock = ContinuousClock()
        var fastest = Duration.seconds(3_600)
        var total = 0
        for size in isDatagram ? [1, 1_200, 8_000] : [1, 1_200, 500_000] {
            let content = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
            let started = clock.now
            let returned =
                isDatagram
                ? try await client.exchangeMessage(content) : try await client.exchange(content)
            guard returned == content else {
                throw TourFailure("\(client.endpoint): \(size) bytes were sent, others returned")
            }
            fastest = min(fastest, started.duration(to: clock.now))
            total += size
        }
        return "\(total) bytes there and back, all equal; round trip \(Int((fastest / .microseconds(1)).rounded())) µs"
    }

    static func row(_ title: String, _ text: String) -> String {
        title + String(repeating: " ", count: max(1, 22 - title.count)) + text
    }

    /// Receives some bytes and sends them back. The next receive starts when the send has completed. So memory is
    /// bounded even if the client does not read.
    private static func echoBytes(_ connection: NWConnection) {
        connection.receive(minimumIncompleteLength: 1, maximumLength: 65_536) { content, _, isComplete, error in
            guard let content, error == nil else { return connection.cancel() }
            connection.send(
                content: content,
                completion: .contentProcessed { error in
                    if isComplete || error != nil { connection.cancel() } else { echoBytes(connection) }
                })
        }
    }

    private static func echoMessages(_ connection: NWConnection) {
        connection.receiveMessage { content, _, _, error in
            guard let content, error == nil else { return connection.cancel() }
            connection.send(content: content, completion: .idempotent)
            echoMessages(connection)
        }
    }
}
