import Causeway
import FoundationEssentials
import Testing

/// A client connection and a server connection that have completed the handshakes of all protocols.
struct StackPair: Sendable {
    var client: Probe
    var server: Probe

    /// Calls `body` with a new pair of connections, and cancels them afterwards.
    ///
    /// - Parameters:
    ///   - medium: The address family and transport of the listener.
    ///   - endpoint: Maps the listener's port to the endpoint to which the client connects. By default, the client
    ///     connects to the listener's endpoint.
    static func with(
        client: NWParameters, server: NWParameters, on medium: Medium = .tcp4,
        endpoint: ((NWEndpoint.Port) -> NWEndpoint)? = nil,
        sourceLocation: SourceLocation = #_sourceLocation, _ body: (StackPair) async throws -> Void
    ) async throws {
        try await connecting(
            client: client, server: server, on: medium, endpoint: endpoint, sourceLocation: sourceLocation
        ) { pair in
            try await pair.client.ready(sourceLocation: sourceLocation)
            try await pair.server.ready(sourceLocation: sourceLocation)
            try await body(pair)
        }
    }

    /// Calls `body` with a new pair of connections whose handshakes are not complete yet.
    static func connecting(
        client parameters: NWParameters, server: NWParameters, on medium: Medium = .tcp4,
        endpoint: ((NWEndpoint.Port) -> NWEndpoint)? = nil,
        sourceLocation: SourceLocation = #_sourceLocation, _ body: (StackPair) async throws -> Void
    ) async throws {
        Backend.choose()
        server.requiredLocalEndpoint = medium.freshLocalEndpoint()
        let listener = ListenerProbe(try NWListener(using: server))
        try await listener.listen(sourceLocation: sourceLocation)
        let client = Probe(to: endpoint?(listener.port) ?? listener.endpoint, using: parameters)
        defer {
            listener.listener.cancel()
            client.connection.cancel()
        }
        client.start()
        // A datagram listener learns of its peer only from the first datagram. So send one here.
        if parameters.defaultProtocolStack.transportProtocol is NWProtocolUDP.Options {
            client.send(Data("hello"))
        }
        let accepted = try await listener.connections.next(sourceLocation: sourceLocation)
        defer { accepted.connection.cancel() }
        accepted.start()
        try await body(StackPair(client: client, server: accepted))
    }
}

/// A framer that sends the length before each message. It is written like the example in Apple's presentation of 2018.
final class LengthFramer: NWProtocolFramerImplementation {
    static let definition = NWProtocolFramer.Definition(implementation: LengthFramer.self)
    static var label: String { "length" }

    init(framer: NWProtocolFramer.Instance) {}
    func start(framer: NWProtocolFramer.Instance) -> NWProtocolFramer.StartResult { .ready }
    func wakeup(framer: NWProtocolFramer.Instance) {}
    func stop(framer: NWProtocolFramer.Instance) -> Bool { true }
    func cleanup(framer: NWProtocolFramer.Instance) {}

    func handleInput(framer: NWProtocolFramer.Instance) -> Int {
        while true {
            var length: Int?
            let isParsed = framer.parseInput(minimumIncompleteLength: 4, maximumLength: 4) { buffer, _ in
                guard let buffer, buffer.count == 4 else { return 0 }
                length = Int(buffer.loadUnaligned(as: UInt32.self).bigEndian)
                return 4
            }
            guard isParsed, let length else { return 4 }
            let message = NWProtocolFramer.Message(definition: Self.definition)
            message["length"] = length
            guard framer.deliverInputNoCopy(length: length, message: message, isComplete: true) else { return 0 }
        }
    }

    func handleOutput(
        framer: NWProtocolFramer.Instance, message: NWProtocolFramer.Message, messageLength: Int, isComplete: Bool
    ) {
        framer.writeOutput(data: withUnsafeBytes(of: UInt32(messageLength).bigEndian) { Data($0) })
        try? framer.writeOutputNoCopy(length: messageLength)
    }

    static func parameters(_ base: NWParameters) -> NWParameters {
        base.defaultProtocolStack.applicationProtocols.insert(NWProtocolFramer.Options(definition: definition), at: 0)
        return base
    }
}
