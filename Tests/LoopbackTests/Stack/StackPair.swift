import Causeway
import FoundationEssentials
import Testing

/// Two connections whose protocols above the transport have agreed.
struct StackPair: Sendable {
    var client: Probe
    var server: Probe

    /// Calls `body` with a fresh pair, and takes it down whatever happens.
    ///
    /// - Parameters:
    ///   - medium: What the listener listens on.
    ///   - endpoint: Where the client connects to, of the listener's port, if that is not simply the listener.
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

    /// The same, before it is known whether they agree.
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
        // A datagram listener knows its peer from the first datagram on.
        if parameters.defaultProtocolStack.transportProtocol is NWProtocolUDP.Options {
            client.send(Data("hello"))
        }
        let accepted = try await listener.connections.next(sourceLocation: sourceLocation)
        defer { accepted.connection.cancel() }
        accepted.start()
        try await body(StackPair(client: client, server: accepted))
    }
}

/// A framer with a length before each message, as the slides of 2018 have it.
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
