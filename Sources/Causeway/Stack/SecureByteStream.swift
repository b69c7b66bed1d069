internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTLS
package import CausewayTypes
internal import Dispatch
package import FoundationEssentials

/// TLS over a byte stream that is already open, for protocols with a command such as STARTTLS (RFC 3207).
///
/// A lock protects the TLS state machine, ``SecureMachine``. The state machine requests actions, such as a send. They
/// are performed in order, without the lock, by one thread at a time.
package final class SecureByteStream: ByteStream {
    private struct State: SequencedState {
        var machine: SecureMachine
        var line = ActionLine<SecureMachine.Action>()
        var opened: (@Sendable (NWError?) -> Void)?

        mutating func queueActions() -> Bool { line.add(machine.takeActions()) }
    }

    /// The maximum time in seconds for sending close_notify.
    private static let closingLimit = 5

    private let base: any ByteStream
    private let delegate: TLSDelegate
    private let state: LockedValue<State>

    /// Creates a TLS client, which takes ownership of the stream.
    ///
    /// - Parameters:
    ///   - options: The settings, the verify block and the challenge block.
    ///   - host: The server name to authenticate; the name in the options has precedence.
    /// - Throws: The errors of ``TLSConfiguration``.
    package init(
        over base: any ByteStream, _ options: NWProtocolTLS.Options, host: NWEndpoint.Host, port: UInt16
    ) throws(NWError) {
        let layer = try makeTLSLayer(options, isServer: false, isDatagram: false, host: host, port: port)
        guard let stage = layer.stage as? TLSStage, let delegate = layer.delegate as? TLSDelegate else {
            throw .posix(.ENOTSUP)
        }
        self.base = base
        self.delegate = delegate
        state = LockedValue(State(machine: SecureMachine(stage)))
    }

    /// The human-readable reason for a TLS failure.
    package var failureReason: String? { delegate.failureReason }

    /// Starts the handshake. Bytes can be sent and received after the completion was called without an error.
    package func start(_ completion: @escaping @Sendable (NWError?) -> Void) {
        state.withLock { state in state.opened = completion }
        apply { machine, now in machine.start(at: now) }
    }

    package func receive(atMost limit: Int, _ completion: @escaping @Sendable (ByteArrival) -> Void) {
        apply { machine, _ in machine.receive(atMost: limit, completion) }
    }

    package func send(_ content: Data, isFinal: Bool, _ completion: @escaping @Sendable (NWError?) -> Void) {
        apply { machine, now in machine.send(content, isFinal: isFinal, completion, at: now) }
    }

    package func close(isInterrupted: Bool) {
        apply { machine, now in machine.close(isInterrupted: isInterrupted, at: now) }
        guard !isInterrupted else { return }
        DispatchQueue.global().call(after: .seconds(Self.closingLimit)) { [weak self] in
            self?.apply { machine, _ in machine.closingTimedOut() }
        }
    }

    // MARK: Actions

    private func apply<Result: Sendable>(_ body: (inout SecureMachine, Duration) -> Result) -> Result {
        let now = System.now
        return state.change { state in
            body(&state.machine, now)
        } perform: { action in
            perform(action)
        }
    }

    private func perform(_ action: SecureMachine.Action) {
        switch action {
        case .attend(let event): delegate.handle(event, at: self)
        case .receive(let limit):
            base.receive(atMost: limit) { [self] arrival in
                apply { machine, now in machine.arrived(arrival, at: now) }
            }
        case .send(let content, let isFinal):
            base.send(content, isFinal: isFinal) { [self] error in
                apply { machine, now in machine.sent(error, at: now) }
            }
        case .opened(let error):
            let opened = state.withLock { state in state.opened.take() }
            opened?(error)
        case .deliver(let completion, let arrival): completion(arrival)
        case .written(let completion, let error): completion(error)
        case .close(let isInterrupted): base.close(isInterrupted: isInterrupted)
        }
    }
}

extension SecureByteStream: StageAccess {
    @discardableResult
    func withStage<Stage: ProtocolStage, Result: Sendable>(
        as type: Stage.Type, _ body: @Sendable (inout Stage) -> Result
    ) -> Result? {
        apply { machine, _ in
            machine.withStage { stage -> Result? in
                guard var wanted = stage as? Stage else { return nil }
                // `wanted` is a copy of the stage. All copies share one TLS engine and its state. A change by `body`
                // therefore also changes the original stage.
                return body(&wanted)
            }
        }
    }

    func insert(_ layer: StackLayer) -> Bool { false }

    func onQueue(_ body: @escaping @Sendable () -> Void) { body() }
}
