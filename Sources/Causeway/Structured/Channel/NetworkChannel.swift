internal import CausewayRuntime
internal import CausewaySystem
public import CausewayTypes
internal import Dispatch
internal import Synchronization

/// The base class for connections, streams and datagram flows in the structured API. A channel has a state, and the send and receive
/// operations of its topmost protocol.
///
/// Every operation may be called from any task and any actor, and continues in the caller's isolation. Several receive
/// operations may wait at the same time; they complete in call order.
///
/// Cancellation: ends only the task's pending operation, with `.posix(.ECANCELED)`. No byte is lost, and the channel stays usable.
///
/// Counterpart: macOS 26, iOS 26.
// SAFETY: all stored properties are immutable and `Sendable`, atomic, or behind a lock. Subclasses must keep this rule.
public class NetworkChannel<ApplicationProtocol>: CustomDebugStringConvertible, Identifiable, Hashable,
    @unchecked Sendable
where ApplicationProtocol: NetworkProtocolOptions {
    /// An identifier that is unique in the process.
    public typealias ID = String

    /// The states of a channel.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum State: Equatable, Sendable {
        /// The channel has been created and not started.
        case setup
        /// There is no usable network now.
        case waiting(NWError)
        /// The channel is being established.
        case preparing
        /// The channel is established.
        case ready
        /// The channel ended with an error.
        case failed(NWError)
        /// The channel was cancelled, or ended without an error.
        case cancelled
    }

    package let connection: NWConnection
    /// The flow of the transport. `nil` if there are protocols above the transport.
    ///
    /// The next property, `isContentAwaited`, is `true` if each send call must notify the connection's driver. Both
    /// properties are copies of values from other objects, for speed. With a thousand connections, these objects do not
    /// fit into the CPU cache, and reading another object costs about a hundred instructions.
    let plainFlow: Flow?
    let isContentAwaited: Bool
    private let number = channelCount.wrappingAdd(1, ordering: .relaxed).newValue
    /// The start time in nanoseconds on the monotonic clock; 0 before the start.
    private let started = Atomic<Int64>(0)
    private let storedWatch = LockedValue<ChannelWatch?>(nil)
    private let storedRecord = LockedValue<StackRecord?>(nil)

    package init(_ connection: NWConnection) {
        self.connection = connection
        plainFlow = connection.driver.plainFlow
        isContentAwaited = connection.driver.isContentAwaited
    }

    /// The parameters passed to the initializer.
    public var parameters: NWParameters { connection.parameters }

    /// An identifier that is unique in the process.
    public var id: String { "C\(number)" }

    /// The current state. Readable from any thread.
    public var state: NetworkChannel<ApplicationProtocol>.State { State(connection.state) }

    /// An executor that runs tasks on the channel's event loop. A task with this executor does not change threads when it waits for the
    /// channel, which is the fastest way to use a channel:
    ///
    /// `await withTaskExecutorPreference(connection.taskExecutor) { … }`
    ///
    /// The tasks of ``NetworkListener`` use it by default. Code on this executor must not block, because that would
    /// delay other connections. Apple's framework has no counterpart.
    public var taskExecutor: any TaskExecutor { connection.taskExecutor }

    /// The maximum datagram size, in bytes. The value is 0 before the channel is ready, and 0 if the channel carries a
    /// stream.
    public var maximumDatagramSize: Int { connection.maximumDatagramSize }

    /// Returns the metadata for one protocol in the stack; `nil` before the channel is ready.
    public func metadata(definition: NWProtocolDefinition) -> NWProtocolMetadata? {
        connection.metadata(definition: definition)
    }

    /// Returns a report on how the channel was established. Starts the channel if necessary, and waits until it is
    /// ready. For a channel from a listener, the report contains only the duration 0.
    ///
    /// - Throws: The channel's error; `.posix(.ENODATA)` if the channel ends before the report is complete.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; the channel continues.
    nonisolated(nonsending)
        public func establishmentReport() async throws -> NWConnection.EstablishmentReport
    {
        try await becomeReady()
        let report = await withCheckedContinuation { continuation in
            connection.requestEstablishmentReport(queue: .global()) { continuation.resume(returning: $0) }
        }
        guard let report else { throw NWError.posix(.ENODATA) }
        return report
    }

    /// Returns a report on the data transferred since the channel was started. Starts the channel if necessary, and
    /// waits until it is ready.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; the channel continues.
    nonisolated(nonsending)
        public func dataTransferReport() async throws -> NWConnection.DataTransferReport
    {
        try await becomeReady()
        let beginning = Duration.nanoseconds(started.load(ordering: .relaxed))
        return NWConnection.DataTransferReport(
            duration: (System.now - beginning).timeInterval, primary: connection.pathReport(since: TransferCounters()))
    }

    /// The name, the stack and the state.
    public var debugDescription: String { "[\(id) \(parameters.defaultProtocolStack.summary), \(state)]" }

    /// Whether both channels are the same object.
    public static func == (lhs: NetworkChannel, rhs: NetworkChannel) -> Bool { lhs === rhs }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    // MARK: Life cycle

    var hasBegun: Bool { started.load(ordering: .relaxed) != 0 }

    /// Starts the channel if it has not been started.
    @inline(__always)
    func begin() {
        if started.load(ordering: .relaxed) == 0 { start() }
    }

    @inline(never)
    private func start() {
        let now = max(1, System.now.nanoseconds)
        guard started.compareExchange(expected: 0, desired: now, ordering: .relaxed).exchanged else { return }
        connection.driver.start(on: nil, observer: connection)
    }

    nonisolated(nonsending)
        func becomeReady() async throws(NWError)
    {
        begin()
        if let error = await watch().readiness(of: connection) { throw error }
    }

    /// Lists the metadata of the stack's protocols. The metadata of received content refers to this object.
    var stackListing: any StackListing { if let plainFlow { plainFlow } else { stackRecord() } }

    @usableFromInline
    var stackSource: any AnyObject & Sendable { stackListing }

    /// Returns the list of the stack's protocols. The first call creates the list.
    ///
    /// At that time, content has already been received. So all handshakes are complete, and no further protocol will be
    /// added.
    private func stackRecord() -> any StackListing {
        guard let channel = connection.driver.channel else { return connection.driver.flow }
        if let record = storedRecord.withLock({ $0 }) { return record }
        let record = StackRecord(of: channel, over: connection.driver.flow, top: topOptions)
        return storedRecord.withLock { stored in
            stored = stored ?? record
            return stored ?? record
        }
    }

    /// Returns the channel's state observer. The first call creates it.
    func watch() -> ChannelWatch {
        let (watch, isNew) = storedWatch.withLock { stored in
            if let stored { return (stored, false) }
            let watch = ChannelWatch()
            stored = watch
            return (watch, true)
        }
        if isNew { connection.stateUpdateHandler = { [watch] state in watch.changed(to: state) } }
        return watch
    }

    /// Ends the channel gracefully. Suspends until the channel has ended and all handlers have returned: at most two seconds, plus the run
    /// time of the program's handlers.
    nonisolated(nonsending)
        func end() async
    {
        await connection.close()
        guard let watch = storedWatch.withLock({ $0 }) else { return }
        // If the connection was never started, it reports no state change. So report the end to the handlers here.
        if !hasBegun { watch.changed(to: .cancelled) }
        await watch.calls.settle()
    }
}

/// The number of channels created in the process.
private let channelCount = Atomic<Int>(0)

extension NetworkChannel.State {
    init(_ state: NWConnection.State) {
        switch state {
        case .setup: self = .setup
        case .waiting(let error): self = .waiting(error)
        case .preparing: self = .preparing
        case .ready: self = .ready
        case .failed(let error): self = .failed(error)
        case .cancelled: self = .cancelled
        }
    }
}
