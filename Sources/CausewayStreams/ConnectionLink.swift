internal import Causeway
internal import CausewaySystem
internal import Foundation

/// Connects a stream pair to an `NWConnection`: receives content while the inbound pipe has space for it, and sends the
/// outbound pipe's content.
final class ConnectionLink: StreamLink {
    enum Target: Sendable {
        case endpoint(NWEndpoint, NWParameters?)
        case connection(NWConnection)

        /// Whether stream properties can change the connection. They cannot if the program has supplied the connection,
        /// because that connection has its own parameters.
        var takesProperties: Bool { if case .endpoint = self { true } else { false } }
    }

    private struct State: Sendable {
        var settings = StreamSettings()
        var connection: NWConnection?
        var isReady = false
        var isReading = false
        var isWriting = false
        var hasSentEnd = false
        var opening: [StreamCore] = []
        var whenEnded: [@Sendable () -> Void] = []
        var open: Set<Side> = [.input, .output]
    }

    private enum Side: Sendable { case input, output }

    /// Capacity of each pipe in bytes. Data that is being received or sent is not counted.
    static let bufferSize = 64 << 10
    /// Maximum time, in seconds, to send the remaining written content after both streams were closed.
    private static let patience = 30

    let inbound = BytePipe(capacity: bufferSize)
    let outbound = BytePipe(capacity: bufferSize)
    private let target: Target
    private let queue = DispatchQueue(label: "causeway.streams", target: .global())
    private let state = LockedValue(State())

    init(_ target: Target) {
        self.target = target
        inbound.observe { [weak self] in self?.pumpIn() }
        outbound.observe { [weak self] in self?.pumpOut() }
    }

    // MARK: Opening and closing

    func open(_ core: StreamCore) {
        let (isReady, connection) = state.withLock { state -> (Bool, NWConnection?) in
            if !state.isReady { state.opening.append(core) }
            guard state.connection == nil else { return (state.isReady, nil) }
            let connection = state.settings.connection(to: target)
            state.connection = connection
            return (state.isReady, connection)
        }
        if isReady { return core.opened() }
        guard let connection else { return }
        // The handler retains this link until the connection is cancelled. A started connection also stays in memory
        // until it is cancelled.
        connection.stateUpdateHandler = { self.connectionChanged(to: $0) }
        connection.start(queue: queue)
    }

    private func connectionChanged(to state: NWConnection.State) {
        switch state {
        case .ready:
            let opening = self.state.withLock { state in
                state.isReady = true
                defer { state.opening = [] }
                return state.opening
            }
            for core in opening { core.opened() }
            pumpIn()
            pumpOut()
        // A stream cannot wait for a usable network as a connection can, so a waiting connection counts as failed.
        case .waiting(let error): fail(error)
        case .failed(let error): broke(error)
        case .setup, .preparing, .cancelled: break
        }
    }

    /// Handles a failure of the connection. Writing ends. The input stream first delivers the content that has already
    /// arrived.
    private func broke(_ error: NWError) {
        let (mayRead, hasSentEnd) = state.withLock { state in
            (state.isReady && state.open.contains(.input), state.hasSentEnd && !state.isWriting)
        }
        // A connection also reports a failure after both directions have ended normally. For the streams, this is a
        // normal end and not an error.
        if inbound.hasFinished, hasSentEnd { return }
        guard mayRead, !inbound.hasFinished else { return fail(error) }
        outbound.fail(error)
        tellEnd()
        pumpIn()
    }

    private func fail(_ error: NWError) {
        inbound.fail(error)
        outbound.fail(error)
        let connection = state.withLock { state in
            state.opening = []
            return state.connection
        }
        connection?.cancel()
        tellEnd()
    }

    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.whenEnded.append(body) }
        tellEnd()
    }

    /// Calls the closures from ``whenEnded(_:)`` if no content is left to send: all of it was sent, or the rest can no
    /// longer be sent.
    private func tellEnd() {
        let hasFailed = outbound.failure != nil
        let waiting = state.withLock { state -> [@Sendable () -> Void] in
            let isOver = hasFailed || state.hasSentEnd && !state.isWriting || state.open.isEmpty && !state.isReady
            guard isOver else { return [] }
            defer { state.whenEnded = [] }
            return state.whenEnded
        }
        for body in waiting { body() }
    }

    func closed(_ direction: StreamCore.Direction) {
        let (connection, isAlone, isReady) = state.withLock { state in
            state.open.remove(direction == .input ? .input : .output)
            return (state.connection, state.open.isEmpty, state.isReady)
        }
        switch direction {
        case .input: inbound.abandon()
        case .output: outbound.finish()
        }
        guard isAlone, let connection else { return }
        if isReady, outbound.failure == nil {
            queue.call(after: .seconds(Self.patience)) { [weak connection] in connection?.forceCancel() }
            endWhenSent()
        } else {
            connection.cancel()
        }
    }

    private func endWhenSent() {
        let connection = state.withLock { state in
            state.open.isEmpty && state.hasSentEnd && !state.isWriting ? state.connection : nil
        }
        connection?.cancel()
    }

    // MARK: Content

    /// Receives content if the inbound pipe has space for it.
    ///
    /// One critical section computes the free space and starts the receive. Otherwise another receive call could fill
    /// the space first, and this call's bytes would not fit.
    private func pumpIn() {
        let (connection, room) = state.withLock { state -> (NWConnection?, Int) in
            let room = inbound.room
            guard state.isReady, !state.isReading, room > 0 else { return (nil, 0) }
            state.isReading = true
            return (state.connection, room)
        }
        guard let connection else { return }
        connection.receive(minimumIncompleteLength: 1, maximumLength: room) {
            content, context, isComplete, error in
            content?.withUnsafeBytes { _ = self.inbound.write($0) }
            if context?.isFinal == true, isComplete {
                self.inbound.finish()
            } else if let error {
                self.fail(error)
            }
            self.state.withLock { $0.isReading = false }
            self.pumpIn()
        }
    }

    private func pumpOut() {
        let isFinished = outbound.hasFinished
        let connection = state.withLock { state -> NWConnection? in
            guard state.isReady, !state.isWriting, !state.hasSentEnd, isFinished || outbound.count > 0 else {
                return nil
            }
            state.isWriting = true
            return state.connection
        }
        guard let connection else { return }
        var content = Data(count: Self.bufferSize)
        let count = content.withUnsafeMutableBytes { outbound.read(into: $0) }
        let isEnd = isFinished && count == 0
        if isEnd { state.withLock { $0.hasSentEnd = true } }
        connection.send(
            content: isEnd ? nil : content.prefix(count), contentContext: isEnd ? .finalMessage : .defaultMessage,
            isComplete: true,
            completion: .contentProcessed { error in
                self.state.withLock { $0.isWriting = false }
                if let error { self.broke(error) } else { self.pumpOut() }
                self.tellEnd()
                self.endWhenSent()
            })
    }

    // MARK: Properties

    func property(_ key: Stream.PropertyKey) -> AnyObject? { state.withLock { $0.settings }.property(key) }

    func setProperty(_ value: AnyObject?, _ key: Stream.PropertyKey) -> Bool {
        let change = StreamSettings.Change(value, key)
        return state.withLock { state in
            guard state.connection == nil, let change else { return false }
            state.settings.apply(change)
            return change.isValid && target.takesProperties
        }
    }
}

/// Connects the two streams of a bound pair. The input stream reads the bytes that the program writes to the output
/// stream.
struct BoundLink: StreamLink {
    /// The pipe between both streams; `nil` for an output stream that is not part of a pair.
    var pipe: BytePipe?

    func whenEnded(_ body: @escaping @Sendable () -> Void) { body() }

    func open(_ core: StreamCore) { core.opened() }

    func closed(_ direction: StreamCore.Direction) {
        switch direction {
        case .input: pipe?.abandon()
        case .output: pipe?.finish()
        }
    }

    func property(_ key: Stream.PropertyKey) -> AnyObject? { nil }
    func setProperty(_ value: AnyObject?, _ key: Stream.PropertyKey) -> Bool { false }
}
