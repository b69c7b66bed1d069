import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

/// The result of one receive.
struct Received: Sendable {
    var data: Data?
    var context: NWConnection.ContentContext?
    var isComplete: Bool
    var error: NWError?

    var isFinal: Bool { context?.isFinal ?? false }
    var text: String? { data.map { String(decoding: $0, as: UTF8.self) } }
}

/// A connection under test. Records its reports.
final class Probe: Sendable {
    let connection: NWConnection
    let queue: DispatchQueue
    let states = Mailbox<NWConnection.State>()

    init(_ connection: NWConnection, on queue: DispatchQueue = DispatchQueue(label: "probe")) {
        self.connection = connection
        self.queue = queue
        connection.stateUpdateHandler = { [states] state in states.put(state) }
    }

    convenience init(to endpoint: NWEndpoint, using parameters: NWParameters) {
        Backend.choose()
        self.init(NWConnection(to: endpoint, using: parameters))
    }

    @discardableResult
    func start() -> Probe {
        connection.start(queue: queue)
        return self
    }

    /// Waits until the connection is ready. Expects no states other than preparing and ready.
    func ready(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await states.expect(.preparing, sourceLocation: sourceLocation)
        try await states.expect(.ready, sourceLocation: sourceLocation)
    }

    /// Cancels the connection and waits for its last callback. A connection without a queue has no callback.
    func cancel(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        connection.cancel()
        guard connection.queue != nil else { return }
        try await states.first(sourceLocation: sourceLocation) { $0 == .cancelled }
    }

    // MARK: Sending

    /// Starts a send. Returns the mailbox that will receive its result.
    @discardableResult
    func send(
        _ content: Data?, _ context: NWConnection.ContentContext = .defaultMessage, isComplete: Bool = true,
        into outcomes: Mailbox<NWError?> = Mailbox()
    ) -> Mailbox<NWError?> {
        connection.send(
            content: content, contentContext: context, isComplete: isComplete,
            completion: .contentProcessed { error in outcomes.put(error) })
        return outcomes
    }

    /// Sends content, and expects that the send succeeds.
    func deliver(
        _ content: Data?, _ context: NWConnection.ContentContext = .defaultMessage, isComplete: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let error = try await send(content, context, isComplete: isComplete).next(sourceLocation: sourceLocation)
        #expect(error == nil, sourceLocation: sourceLocation)
    }

    func sendEnd(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await deliver(nil, .finalMessage, sourceLocation: sourceLocation)
    }

    // MARK: Receiving

    /// Starts a receive. The mailbox receives its result.
    @discardableResult
    func request(_ minimum: Int, _ maximum: Int, into answers: Mailbox<Received> = Mailbox()) -> Mailbox<Received> {
        connection.receive(minimumIncompleteLength: minimum, maximumLength: maximum) {
            data, context, isComplete, error in
            answers.put(Received(data: data, context: context, isComplete: isComplete, error: error))
        }
        return answers
    }

    @discardableResult
    func requestMessage(into answers: Mailbox<Received> = Mailbox()) -> Mailbox<Received> {
        connection.receiveMessage { data, context, isComplete, error in
            answers.put(Received(data: data, context: context, isComplete: isComplete, error: error))
        }
        return answers
    }

    func receive(
        _ minimum: Int = 1, _ maximum: Int = 65_536, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Received {
        try await request(minimum, maximum).next(sourceLocation: sourceLocation)
    }

    func receiveMessage(sourceLocation: SourceLocation = #_sourceLocation) async throws -> Received {
        try await requestMessage().next(sourceLocation: sourceLocation)
    }

    // MARK: The socket below

    func option(_ option: SocketOption) -> Int? {
        connection.driver.flow.withDescriptor { try? Socket.get(option, of: $0) } ?? nil
    }

    /// Waits until all queued callbacks have run.
    func settle() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}

/// A listener under test. Records its reports.
final class ListenerProbe: Sendable {
    let listener: NWListener
    let queue = DispatchQueue(label: "listener")
    let states = Mailbox<NWListener.State>()
    let connections = Mailbox<Probe>()

    init(_ listener: NWListener) {
        self.listener = listener
        listener.stateUpdateHandler = { [states] state in states.put(state) }
        listener.newConnectionHandler = { [connections] connection in connections.put(Probe(connection)) }
    }

    convenience init(_ medium: Medium, _ tune: (NWParameters) -> Void = { _ in }) throws {
        Backend.choose()
        let parameters = medium.parameters
        parameters.requiredLocalEndpoint = medium.freshLocalEndpoint()
        tune(parameters)
        self.init(try NWListener(using: parameters))
    }

    func start() { listener.start(queue: queue) }

    /// Starts the listener and waits until it is ready.
    func listen(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        start()
        try #require(try await states.next(sourceLocation: sourceLocation) == .ready, sourceLocation: sourceLocation)
    }

    var port: NWEndpoint.Port { listener.port ?? .any }

    /// The endpoint for a client on this host.
    var endpoint: NWEndpoint {
        switch listener.parameters.requiredLocalEndpoint {
        case .hostPort(let host, _): .hostPort(host: host, port: port)
        case .unix(let path): .unix(path: path)
        default: .hostPort(host: .ipv4(.loopback), port: port)
        }
    }

    func cancel(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        listener.cancel()
        try await states.first(sourceLocation: sourceLocation) { $0 == .cancelled }
    }
}
