internal import CausewayRuntime
internal import CausewaySystem
public import CausewayTypes
internal import Dispatch
internal import Synchronization

/// What connections, streams and datagram flows of the structured interface have in common: a state, and the ways to send
/// and receive that the top of the stack allows.
///
/// Every operation may be called from any task and any actor, and changes no thread by itself. Cancelling the task that waits for an
/// operation ends that operation alone, with `.posix(.ECANCELED)`: no byte is lost, and the channel stays usable. Several
/// receives may wait at once; they are answered in the order in which they were called.
///
/// Counterpart: macOS 26, iOS 26.
// SAFETY: all stored properties are immutable and `Sendable`, atomic, or behind a lock; subclasses add only such.
public class NetworkChannel<ApplicationProtocol>: CustomDebugStringConvertible, Identifiable, Hashable,
    @unchecked Sendable
where ApplicationProtocol: NetworkProtocolOptions {
    /// A name that no other channel of the process has.
    public typealias ID = String

    /// Where a channel is in its life.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum State: Equatable, Sendable {
        /// Made and not used.
        case setup
        /// There is no usable network now.
        case waiting(NWError)
        /// Being established.
        case preparing
        /// Established.
        case ready
        /// Ended by an error.
        case failed(NWError)
        /// Ended.
        case cancelled
    }

    package let connection: NWConnection
    /// Where content goes when no protocols stand above the transport, and whether to tell the driver of it. Known here because the
    /// memory of a thousand connections does not fit in the processor's cache: each object on the way costs as much as a hundred
    /// instructions.
    let plainFlow: Flow?
    let isContentAwaited: Bool
    private let number = channelCount.wrappingAdd(1, ordering: .relaxed).newValue
    /// Nanoseconds of the monotonic clock; 0 before the start.
    private let started = Atomic<Int64>(0)
    private let storedWatch = LockedValue<ChannelWatch?>(nil)
    private let storedRecord = LockedValue<StackRecord?>(nil)

    package init(_ connection: NWConnection) {
        self.connection = connection
        plainFlow = connection.driver.plainFlow
        isContentAwaited = connection.driver.isContentAwaited
    }

    /// As given when the channel was made.
    public var parameters: NWParameters { connection.parameters }

    /// A name that no other channel of the process has.
    public var id: String { "C\(number)" }

    /// The current state. Readable from any thread.
    public var state: NetworkChannel<ApplicationProtocol>.State { State(connection.state) }

    /// Runs tasks on the channel's event loop. A task that prefers it changes no thread when it waits for the channel, which is the
    /// fastest way to use one:
    ///
    /// `await withTaskExecutorPreference(connection.taskExecutor) { … }`
    ///
    /// The tasks of ``NetworkListener`` prefer it without being asked. Code that runs on it must not block: it would hold up other
    /// connections. An addition of Causeway.
    public var taskExecutor: any TaskExecutor { connection.taskExecutor }

    /// The most bytes of one datagram; 0 before the channel is ready, and on a stream.
    public var maximumDatagramSize: Int { connection.maximumDatagramSize }

    /// The metadata of one protocol of the stack. `nil` before the channel is ready.
    public func metadata(definition: NWProtocolDefinition) -> NWProtocolMetadata? {
        connection.metadata(definition: definition)
    }

    /// How the channel came about. Starts it if need be, and waits until it is ready.
    ///
    /// - Throws: `.posix(.ENODATA)` for a channel that a listener gave, and why the channel failed.
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

    /// What the channel has transferred since it was started. Starts it if need be, and waits until it is ready.
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

    public static func == (lhs: NetworkChannel, rhs: NetworkChannel) -> Bool { lhs === rhs }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    // MARK: Life

    var hasBegun: Bool { started.load(ordering: .relaxed) != 0 }

    /// Starts the channel, unless an earlier operation has.
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

    /// The stack that content comes through, for received metadata.
    var stackListing: any StackListing { if let plainFlow { plainFlow } else { stackRecord() } }

    @usableFromInline
    var stackSource: any AnyObject & Sendable { stackListing }

    /// Made when the first content was received: the handshakes are done then, and no protocol joins the stack any more.
    private func stackRecord() -> any StackListing {
        guard let channel = connection.driver.channel else { return connection.driver.flow }
        if let record = storedRecord.withLock({ $0 }) { return record }
        let record = StackRecord(of: channel, over: connection.driver.flow, top: topOptions)
        return storedRecord.withLock { stored in
            stored = stored ?? record
            return stored ?? record
        }
    }

    /// What follows the channel's states; made when first needed.
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

    /// Ends the channel gracefully, and suspends until it has ended and the program was told: two seconds at most, but for the
    /// program's own handlers.
    nonisolated(nonsending)
        func end() async
    {
        await connection.close()
        guard let watch = storedWatch.withLock({ $0 }) else { return }
        // What never began has nothing to report; the scope that it was made for ends all the same.
        if !hasBegun { watch.changed(to: .cancelled) }
        await watch.calls.settle()
    }
}

/// Counts the channels of the process.
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
