package import CausewayRuntime
internal import CausewaySystem
public import CausewayTypes
public import Dispatch
public import FoundationEssentials

/// A session with several peers, or with several streams to one.
///
/// With a ``NWMulticastGroup`` it joins the groups on every interface that can carry them, or on the one that the parameters
/// require, and again when an interface comes; without one it waits. Tunnels (``NWMultiplexGroup``) fail with
/// `.posix(.ENOTSUP)`.
///
/// Every callback comes on the queue given to ``start(queue:)``, in order, `cancelled` last. Once started, a group lives until
/// it is cancelled or has failed.
///
/// Counterpart: macOS 11, iOS 14.
public final class NWConnectionGroup: CustomDebugStringConvertible, Sendable {
    /// What to do with received messages.
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

    /// Whom the group talks to.
    public let descriptor: any NWGroupDescriptor
    /// As given at creation.
    public let parameters: NWParameters

    package let driver: GroupDriver
    private let mistake: NWError?
    let handlers = LockedValue(Handlers())

    /// Makes a group. Nothing happens until ``start(queue:)``.
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

    /// Begins. `queue` takes every callback from now on. Only the first call counts.
    public func start(queue: DispatchQueue) {
        driver.start(on: queue, observer: self, mistake: mistake.map { Failure($0) })
    }

    /// Ends the group; `cancelled` is the last callback. Connections that were taken out of it live on.
    public func cancel() { driver.cancel(observer: self) }

    /// The current state. Readable from any thread.
    public var state: NWConnectionGroup.State { State(driver.state) }

    /// The queue given to ``start(queue:)``; `nil` before.
    public var queue: DispatchQueue? { driver.queue }

    /// Called at each change of state. Set it before ``start(queue:)``.
    @preconcurrency public var stateUpdateHandler: (@Sendable (_ state: NWConnectionGroup.State) -> Void)? {
        get { handlers.withLock { $0.state } }
        set { update { $0.state = newValue } }
    }

    /// Called with each connection that a peer opens, which is not started.
    ///
    /// Of a multicast group every sender is one, if there is no receive handler; with one that gets all messages.
    ///
    /// Counterpart: macOS 12, iOS 15.
    @preconcurrency public var newConnectionHandler: (@Sendable (_ connection: NWConnection) -> Void)? {
        get { handlers.withLock { $0.connection } }
        set { update { $0.connection = newValue } }
    }

    /// Sets what is called with each received message. Set it before ``start(queue:)``.
    ///
    /// Messages that the queue does not take in time are dropped: 4 MiB or 8,192 of them wait at most.
    ///
    /// - Parameters:
    ///   - maximumMessageSize: The most bytes to deliver of one message.
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

    /// The metadata of one protocol of the group's tunnel; multicast groups have none.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func metadata(definition: NWProtocolDefinition) -> NWProtocolMetadata? { nil }

    /// The members and the state.
    public var debugDescription: String {
        "[group of \(descriptor.members.map(\.debugDescription).joined(separator: ", ")), \(state)]"
    }

    func update(_ body: (inout sending Handlers) -> Void) {
        // What is replaced may hold the last reference to something of the program's: it is released outside the lock.
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

    /// The most senders that become connections by themselves: a bound against forged source addresses.
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
