import Causeway
import Dispatch

/// A listener and a client that exchange messages of several sizes, then half-close.
struct DemoExchange: Sendable {
    let place: DemoPlace
    let log: DemoLog

    /// The message sizes in bytes.
    private var sizes: [Int] { place.isDatagram ? [1, 1_200, 8_000] : [1, 1_200, 1_000_000] }

    func run() async throws {
        log.title(place.title)
        let queue = DispatchQueue(label: "nw.demo.server", target: .global())
        let (servers, feed) = AsyncStream<NWConnection>.makeStream()
        let listener = try DemoListener(at: place, on: queue, log: log) { [log, place] connection in
            connection.start(as: "server", on: queue, log: log)
            place.isDatagram ? Self.echoDatagrams(connection) : Self.echo(connection)
            feed.yield(connection)
        }
        let client = NWConnection(to: place.endpoint(port: try await listener.ready()), using: place.makeParameters())
        let clientQueue = DispatchQueue(label: "nw.demo.client", target: .global())
        let states = client.start(as: "client", on: clientQueue, log: log)
        try await withDeadline(demoPatience, onExpiry: { client.forceCancel() }) {
            try await client.reach(.ready, in: states)
            try await exchange(over: client)
            client.cancel()
            try await client.reach(.cancelled, in: states)
        }
        await listener.stop()
        feed.finish()
        // A UDP server does not learn that the client has ended, because UDP has no end of stream. So cancel the
        // server's connections.
        for await server in servers { server.cancel() }
    }

    private func exchange(over client: NWConnection) async throws {
        var trips = RoundTrips(connection: client, isDatagram: place.isDatagram, limit: demoPatience)
        for (number, size) in sizes.enumerated() {
            guard let time = try await trips.make(number: number + 1, byteCount: size) else {
                throw CommandFailure("\(place.title): no reply to a datagram of \(size) bytes")
            }
            log.event("client", "round trip of \(size) bytes verified in \(Amounts.milliseconds(time))")
        }
        guard !place.isDatagram else { return }
        try await client.sendEnd()
        guard try await client.receive(atMost: 1) == nil else {
            throw CommandFailure("\(place.title): received more bytes than were sent")
        }
        log.event("client", "half-closed; the server closed too")
    }

    private static func echo(_ connection: NWConnection) {
        connection.receive(minimumIncompleteLength: 1, maximumLength: 65_536) { content, _, isComplete, error in
            if error != nil { return connection.cancel() }
            connection.send(
                content: content, contentContext: isComplete ? .finalMessage : .defaultMessage, isComplete: isComplete,
                completion: .contentProcessed { sendError in
                    if isComplete || sendError != nil { return connection.cancel() }
                    echo(connection)
                })
        }
    }

    private static func echoDatagrams(_ connection: NWConnection) {
        connection.receiveMessage { content, _, _, error in
            guard error == nil else { return connection.cancel() }
            connection.send(content: content, completion: .idempotent)
            echoDatagrams(connection)
        }
    }
}

/// A connection to a closed port. The connection waits, because a listener may start later.
struct DemoRefusal: Sendable {
    let host: NWEndpoint.Host
    let log: DemoLog

    func run() async throws {
        log.title("TCP to a port without a listener")
        let queue = DispatchQueue(label: "nw.demo.refusal", target: .global())
        let place = DemoPlace.tcp(host)
        let listener = try DemoListener(at: place, on: queue, log: log) { $0.cancel() }
        let endpoint = place.endpoint(port: try await listener.ready())
        await listener.stop()
        let client = NWConnection(to: endpoint, using: place.makeParameters())
        let states = client.start(as: "client", on: queue, log: log)
        try await withDeadline(demoPatience, onExpiry: { client.cancel() }) {
            for await state in states {
                if case .waiting = state { client.cancel() }
                if state == .ready {
                    throw CommandFailure("\(endpoint.label) accepted a connection without a listener")
                }
            }
        }
    }
}
