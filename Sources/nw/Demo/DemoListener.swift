import Causeway
import Dispatch

/// Maximum time for each step of the demonstration; a longer step counts as failed.
let demoPatience = Duration.seconds(20)

/// A listener whose state changes go to the log.
struct DemoListener: Sendable {
    let listener: NWListener
    private let states: AsyncStream<NWListener.State>
    private let title: String

    /// Creates a listener and starts it.
    ///
    /// - Parameter serve: Called on `queue` with each connection, which is not started yet.
    init(
        at place: DemoPlace, on queue: DispatchQueue, log: DemoLog, serve: @escaping @Sendable (NWConnection) -> Void
    ) throws {
        title = place.title
        listener = try NWListener(using: place.makeListenerParameters())
        let (states, feed) = AsyncStream<NWListener.State>.makeStream()
        self.states = states
        listener.newConnectionHandler = serve
        listener.stateUpdateHandler = { [weak listener] state in
            let port = state == .ready ? listener?.port.map { " on port \($0.rawValue)" } : nil
            log.event("listener", state.label + (port ?? ""))
            feed.yield(state)
            if state == .cancelled { feed.finish() }
        }
        listener.start(queue: queue)
    }

    /// Waits until the listener is ready and returns its port; `nil` for a Unix-domain socket.
    func ready() async throws -> NWEndpoint.Port? {
        try await withDeadline(demoPatience, onExpiry: { listener.cancel() }) {
            for await state in states {
                switch state {
                case .ready: return listener.port
                case .failed(let error), .waiting(let error): throw CommandFailure("\(title): cannot listen", error)
                case .setup, .cancelled: break
                }
            }
            throw TimedOut()
        }
    }

    /// Stops listening and waits until the port or path is free.
    func stop() async {
        listener.cancel()
        for await state in states where state == .cancelled { return }
    }
}

extension NWConnection {
    /// Starts the connection. State changes are written to the log and to the returned sequence.
    @discardableResult
    func start(as name: String, on queue: DispatchQueue, log: DemoLog) -> AsyncStream<State> {
        let (states, feed) = AsyncStream<State>.makeStream()
        stateUpdateHandler = { state in
            log.event(name, state.label)
            feed.yield(state)
            if state == .cancelled { feed.finish() }
        }
        start(queue: queue)
        return states
    }

    /// Waits for a state. Throws if the connection can no longer reach it.
    func reach(_ wanted: State, in states: AsyncStream<State>) async throws {
        for await state in states {
            if state == wanted { return }
            switch state {
            // If the caller waits for `cancelled`, continue to wait here. A connection whose directions have both ended
            // first reports `failed` and later `cancelled`.
            case .failed where wanted == .cancelled: break
            case .failed(let error), .waiting(let error):
                throw CommandFailure("connection to \(endpoint.label) failed", error)
            case .setup, .preparing, .ready, .cancelled: break
            }
        }
        throw CommandFailure("connection to \(endpoint.label) ended before it was \(wanted.label)")
    }
}

extension NWConnection.State {
    var label: String {
        switch self {
        case .setup: "setup"
        case .preparing: "preparing"
        case .ready: "ready"
        case .cancelled: "cancelled"
        case .waiting(let error): "waiting: \(describe(error).text)"
        case .failed(.posix(.ENOTCONN)): "both directions have ended"
        case .failed(let error): "failed: \(describe(error).text)"
        @unknown default: "unknown"
        }
    }
}

extension NWListener.State {
    var label: String {
        switch self {
        case .setup: "setup"
        case .ready: "ready"
        case .cancelled: "cancelled"
        case .waiting(let error): "waiting: \(describe(error).text)"
        case .failed(let error): "failed: \(describe(error).text)"
        @unknown default: "unknown"
        }
    }
}
