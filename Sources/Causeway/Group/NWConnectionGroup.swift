package import CausewayRuntime
internal import CausewaySystem
public import CausewayTypes
public import Dispatch
public import FoundationEssentials

/// A session with the members of a multicast group, or with several streams to one peer.
///
/// With an ``NWMulticastGroup``, the group joins the multicast addresses on every interface that supports multicast, or on the parameters'
/// required interface. The group joins again when an interface appears, and waits while there is no interface. With an
/// ``NWMultiplexGroup``, the group fails with `.posix(.ENOTSUP)`, because QUIC is not implemented.
///
/// All callbacks run on the queue given to ``start(queue:)``, in order. No callback follows `cancelled`. A started
/// group stays alive until it is cancelled or has failed. All methods can be called from any thread.
///
/// Counterpart: macOS 11, iOS 14.
public final class NWConnectionGroup: CustomDebugStringConvertible, Sendable {
    /// The receive handler, the maximum message size, and whether larger messages are dropped.
    package struct Receiving: Sendable {
        package var maximumMessageSize: Int
        package var rejectsOversizedMessages: Bool
        package var handler: @Sendable (Message, Data?, Bool) -> Void
    }

    struct Handlers: Sendable {
        var state: (@Sendable (State) -> Void)?
        var receiving: Receiving?
        var connection: (@Sendable (NWConnection) -> Void)?
    }

    /// The members of the group.
    public let descriptor: any NWGroupDescriptor
    /// The parameters passed to the initializer.
    public let parameters: NWParameters

    package let driver: GroupDriver
    private let mistake: NWError?
    let handlers = LockedValue(Handlers())

    /// Creates a group. It does nothing before ``start(queue:)``. If the parameters are invalid, the group fails when it is started.
    public init(with descriptor: any NWGroupDescriptor, using parameters: NWParameters) {
        self.descriptor = descriptor
        self.parameters = parameters
        do throws(NWError) {
            driver = GroupDriver(try parameters.makeGroupPlan(for: descriptor))
            mistake = nil
        } catch {
            driver = GroupDriver(GroupPlan(groups: [], settings: FrozenSettings(SocketSettings(transport: .udp))))
            mistake = error
        }
    }

    /// Starts the group. All callbacks run on `queue`. Later calls have no effect.
    public func start(queue: DispatchQueue) {
        driver.start(on: queue, observer: self, mistake: mistake.map { Failure($0) })
    }

    /// Ends the group; `cancelled` is the final callback. Each message that was not sent is completed with the error
    /// `ECANCELED`. Extracted connections continue.
    public func cancel() { driver.cancel(observer: self) }

    /// The current state. Readable from any thread.
    public var state: NWConnectionGroup.State { State(driver.state) }

    /// The queue passed to ``start(queue:)``; `nil` before the start.
    public var queue: DispatchQueue? { driver.queue }

    /// Called at each state change. Set it before ``start(queue:)``.
    @preconcurrency public var stateUpdateHandler: (@Sendable (_ state: NWConnectionGroup.State) -> Void)? {
        get { handlers.withLock { $0.state } }
        set { update { $0.state = newValue } }
    }

    /// Called with each connection that a peer opens. The connection is not started.
    ///
    /// In a multicast group without a receive handler, the group creates a connection for each new sender, at most 65,536 connections at a
    /// time. If there is a receive handler, the handler gets all messages instead.
    ///
    /// Counterpart: macOS 12, iOS 15.
    @preconcurrency public var newConnectionHandler: (@Sendable (_ connection: NWConnection) -> Void)? {
        get { handlers.withLock { $0.connection } }
        set { update { $0.connection = newValue } }
    }

    /// Sets the handler for received messages. Call this method before ``start(queue:)``.
    ///
    /// Messages wait until the queue can run the handler: at most 8,192 messages, with at most 4 MiB in total. Further
    /// messages are dropped.
    ///
    /// - Parameters:
    ///   - maximumMessageSize: The maximum number of bytes to deliver per message.
    ///   - rejectOversizedMessages: Whether to drop larger messages. Otherwise their first bytes are delivered.
    ///   - handler: Called with the message, its content, and whether the content is complete; `nil` removes the
    ///     handler.
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

    /// Returns the metadata for one protocol in the group's tunnel. Always `nil`: a multicast group has no tunnel, and QUIC is not
    /// implemented.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func metadata(definition: NWProtocolDefinition) -> NWProtocolMetadata? { nil }

    /// The members and the state as text.
    public var debugDescription: String {
        "[group of \(descriptor.members.map(\.debugDescription).joined(separator: ", ")), \(state)]"
    }

    func update(_ body: (inout sending Handlers) -> Void) {
        // Release the replaced handlers outside the lock. They may own the last reference to an object of the program.
        let old = handlers.withLock { handlers in
            let old = handlers
            body(&handlers)
            return old
        }
        withExtendedLifetime(old) {}
    }
}

extension NWConnectionGroup: GroupObserver {
    package func groupChanged(to state: GroupDriver.State) {
        handlers.withLock { $0.state }?(State(state))
    }

    package func groupReceived(_ datagram: GroupDatagram) {
        let handlers = handlers.withLock { $0 }
        if let receiving = handlers.receiving {
            deliver(datagram, to: receiving)
        } else if let handler = handlers.connection, driver.connectionCount < Self.connectionLimit,
            let driver = driver.extract(from: datagram, isFirst: true)
        {
            handler(NWConnection(Extracted(driver: driver, peer: datagram.peer, parameters: parameters)))
        }
    }

    package func groupReleased() { update { $0 = Handlers() } }

    /// The maximum number of connections created automatically for senders. The limit bounds the memory that datagrams
    /// with forged source addresses can use up.
    private static let connectionLimit = 65_536

    private func deliver(_ datagram: GroupDatagram, to receiving: Receiving) {
        let limit = max(0, receiving.maximumMessageSize)
        let isWhole = datagram.data.count <= limit
        guard isWhole || !receiving.rejectsOversizedMessages else { return }
        let content = isWhole ? datagram.data : Data(datagram.data.prefix(limit))
        receiving.handler(Message(datagram, of: self), content, isWhole)
    }
}

extension NWConnectionGroup {
    /// The state of a group.
    ///
    /// Counterpart: macOS 11, iOS 14.
    public enum State: Equatable, Sendable {
        /// The group is not started.
        case setup
        /// The group waits for a usable network. The error is the reason.
        case waiting(NWError)
        /// The group has joined its multicast addresses. A group with an ``NWMultiplexGroup`` never becomes ready,
        /// because QUIC is not implemented.
        case ready
        /// The group ended with an error. The program must still cancel it.
        case failed(NWError)
        /// The group has ended. No callback follows this state.
        case cancelled

        init(_ state: GroupDriver.State) {
            switch state {
            case .setup: self = .setup
            case .ready: self = .ready
            case .cancelled: self = .cancelled
            case .waiting(let error): self = .waiting(error.networkError)
            case .failed(let error): self = .failed(error.networkError)
            }
        }
    }
}
