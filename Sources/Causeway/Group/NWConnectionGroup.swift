internal import CausewaySystem
public import CausewayTypes
public import Dispatch
public import FoundationEssentials

/// A session with several peers, or with several streams to one.
///
/// Groups are declared and not implemented: a group fails with `.posix(.ENOTSUP)` when it is started, and what it is
/// asked to send completes with the same error.
///
/// Every callback comes on the queue given to ``start(queue:)``, in order, `cancelled` last.
///
/// Counterpart: macOS 11, iOS 14.
public final class NWConnectionGroup: CustomDebugStringConvertible, Sendable {
    /// What to do with received messages.
    package struct Receiving: Sendable {
        package var maximumMessageSize: Int
        package var rejectsOversizedMessages: Bool
        package var handler: @Sendable (Message, Data?, Bool) -> Void
    }

    private struct Handlers: Sendable {
        var receiving: Receiving?
        var connection: (@Sendable (NWConnection) -> Void)?
    }

    /// Whom the group talks to.
    public let descriptor: any NWGroupDescriptor
    /// As given at creation.
    public let parameters: NWParameters

    private let lifecycle = QueuedState(State.setup)
    private let handlers = Guarded(Handlers())

    /// Makes a group. Nothing happens until ``start(queue:)``.
    public init(with descriptor: any NWGroupDescriptor, using parameters: NWParameters) {
        self.descriptor = descriptor
        self.parameters = parameters
    }

    /// Begins. `queue` takes every callback from now on. Only the first call counts.
    public func start(queue: DispatchQueue) {
        guard lifecycle.start(on: queue) else { return }
        lifecycle.move(to: .failed(.posix(.ENOTSUP)))
    }

    /// Ends the group and its streams; `cancelled` is the last callback.
    public func cancel() {
        lifecycle.end(in: .cancelled) { [self] in update { $0 = Handlers() } }
    }

    /// The current state. Readable from any thread.
    public var state: NWConnectionGroup.State { lifecycle.current }

    /// The queue given to ``start(queue:)``; `nil` before.
    public var queue: DispatchQueue? { lifecycle.queue }

    /// Called at each change of state. Set it before ``start(queue:)``.
    @preconcurrency public var stateUpdateHandler: (@Sendable (_ state: NWConnectionGroup.State) -> Void)? {
        get { lifecycle.handler }
        set { lifecycle.handler = newValue }
    }

    /// Called with each stream that the peer opens, which is not started.
    ///
    /// Counterpart: macOS 12, iOS 15.
    @preconcurrency public var newConnectionHandler: (@Sendable (_ connection: NWConnection) -> Void)? {
        get { handlers.withLock { $0.connection } }
        set { update { $0.connection = newValue } }
    }

    /// Sets what is called with each received message. Set it before ``start(queue:)``.
    ///
    /// - Parameters:
    ///   - maximumMessageSize: The most octets to deliver of one message.
    ///   - rejectOversizedMessages: Whether larger messages are dropped, instead of being delivered in part.
    ///   - handler: Gets the message, its content, and whether that is all of it.
    @preconcurrency public func setReceiveHandler(
        maximumMessageSize: Int = Int.max, rejectOversizedMessages: Bool = true,
        handler:
            (
                @Sendable (_ message: NWConnectionGroup.Message, _ content: Data?, _ isComplete: Bool) -> Void
            )?
    ) {
        update { handlers in
            handlers.receiving = handler.map { handler in
                Receiving(
                    maximumMessageSize: maximumMessageSize, rejectsOversizedMessages: rejectOversizedMessages,
                    handler: handler)
            }
        }
    }

    /// Sends a message to one endpoint, or to all members.
    ///
    /// - Parameters:
    ///   - content: The octets of the message.
    ///   - endpoint: The receiver; `nil` for all members.
    ///   - message: The message's context.
    ///   - completion: Called once, on the queue of the group.
    @preconcurrency public func send(
        content: Data?, to endpoint: NWEndpoint? = nil, message: NWConnectionGroup.Message = .default,
        completion: @escaping (_ error: NWError?) -> Void
    ) {
        let completion = Unchecked(completion)
        lifecycle.call { [lifecycle] in
            completion.value(.posix(lifecycle.hasEnded ? .ECANCELED : .ENOTSUP))
        }
    }

    /// The metadata of one protocol of the group's tunnel. `nil` while there is none.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func metadata(definition: NWProtocolDefinition) -> NWProtocolMetadata? { nil }

    /// Opens a stream, or a flow to one endpoint. `nil` where the group has none to give.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func extract(connectionTo endpoint: NWEndpoint? = nil, using options: NWProtocolOptions? = nil)
        -> NWConnection?
    {
        nil
    }

    /// Gives back what ``extract(connectionTo:using:)`` gave out. `false` if the connection is not from here.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func reinsert(connection: NWConnection) -> Bool { false }

    /// The members and the state.
    public var debugDescription: String {
        "[group of \(descriptor.members.map(\.debugDescription).joined(separator: ", ")), \(state)]"
    }

    package var receiving: Receiving? { handlers.withLock { $0.receiving } }

    private func update(_ body: (inout sending Handlers) -> Void) {
        let old = handlers.withLock { handlers in
            let old = handlers
            body(&handlers)
            return old
        }
        withExtendedLifetime(old) {}
    }
}

extension NWConnectionGroup {
    /// Where a group is in its life.
    ///
    /// Counterpart: macOS 11, iOS 14.
    public enum State: Equatable, Sendable {
        /// Made and not started.
        case setup
        /// There is no usable network now.
        case waiting(NWError)
        /// The groups are joined, or the tunnel is up.
        case ready
        /// Ended by an error. The program still has to cancel it.
        case failed(NWError)
        /// Ended. Nothing more is delivered.
        case cancelled
    }
}
