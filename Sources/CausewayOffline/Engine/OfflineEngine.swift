public import CausewayClient
internal import CausewaySystem
internal import CausewayURLLoading
public import Foundation

/// Sends operations to a server when there is a way to it, in order, also after a restart of the program.
///
/// ```swift
/// let engine = try await OfflineEngine.open(directory: folder, client: client)
/// var note = ClientRequest("PUT", "notes/\(id)")
/// note.body = .json(text)
/// try await engine.enqueue(note, options: OfflineOptions(lane: "notes/\(id)"))
/// try await engine.run()                       // sends until the task is cancelled
/// ```
///
/// When ``enqueue(_:options:progress:)`` returns, the operation is stored. A directory belongs to one engine of one process at a time.
public final class OfflineEngine: Sendable {
    /// Decides about an operation that the server has refused.
    public typealias Resolver = @Sendable (OfflineConflict) async -> OfflineDecision<ClientRequest>

    /// The settings of an engine.
    public struct Configuration: Sendable {
        /// The rules for sending, repeating and giving up.
        public var policy = OfflinePolicy()
        /// The maximum sizes.
        public var limits = OfflineLimits()
        /// Decides about refused operations where the policy says ``/CausewayReplay/OfflinePolicy/Refusal/ask``; `nil` to stop the lane.
        public var resolver: Resolver?
        /// The bytes that the journal may have beyond twice the size of the queue before it is written again. The default is 1 MiB.
        public var journalSlack = 1 << 20

        /// Creates the default settings.
        public init() {}
    }

    /// The facts about the opening of a directory.
    public struct Recovery: Hashable, Sendable {
        /// The operations that waited.
        public let operationCount: Int
        /// The operations whose attempt had not ended. Each of them waits again, has stopped its lane, or has ended with a report, as the policy says.
        public let interruptedCount: Int
        /// The bytes of an incomplete record at the end of the journal, which were cut off: the program ended while it wrote them.
        public let tornByteCount: Int
        /// The bytes of damaged records within the journal. The damaged journal was kept as `journal.damaged`, and each operation that may be affected is treated as
        /// one of unknown fate.
        public let damagedByteCount: Int
    }

    struct State {
        var queue: ReplayQueue
        var isRunning = false
        var results: [UInt64: OfflineResult] = [:]
        var resultOrder: [UInt64] = []
        var waiters: [UInt64: [UInt64: CheckedContinuation<OfflineResult?, Never>]] = [:]
        var lastWaiter: UInt64 = 0
        var interrupts: [UInt64: Signal] = [:]
        var responses: [UInt64: OfflineConflict] = [:]
        var progress: [UInt64: @Sendable (TransferProgress) -> Void] = [:]
        /// The operations that have ended, and whose end is not stored yet.
        var settling: Set<UInt64> = []
        /// Work that could not be stored when the engine stopped.
        var unsettled: [Applied] = []
    }

    /// The client that sends the operations.
    public let client: HTTPClient
    /// The settings.
    public let configuration: Configuration
    /// The facts about the opening.
    public let recovery: Recovery
    let state: LockedValue<State>
    let writer: JournalWriter
    let medium: any JournalMedium
    let clocks: EngineClocks
    let signal = Signal()
    let broadcast = Broadcast<OfflineEvent>()
    let changes = Broadcast<[OfflineOperation]>()

    init(
        client: HTTPClient, configuration: Configuration, content: Journal.Content, medium: any JournalMedium,
        tornByteCount: Int, clocks: EngineClocks
    ) throws(OfflineError) {
        var queue = ReplayQueue(policy: configuration.policy, limits: configuration.limits)
        let effects = queue.recover(content.records, doubtful: content.doubtfulRecordCount, at: clocks.now)
        do throws(SystemError) {
            try Self.store(queue, effects, content, medium)
        } catch {
            throw OfflineError(.storage, "cannot write the journal: \(JournalDirectory.text(error))")
        }
        self.client = client
        self.configuration = configuration
        self.medium = medium
        self.clocks = clocks
        let decisions = effects.filter { if case .store = $0 { true } else { false } }
        recovery = Recovery(
            operationCount: queue.count, interruptedCount: decisions.count, tornByteCount: tornByteCount,
            damagedByteCount: content.damagedByteCount)
        state = LockedValue(State(queue: queue))
        writer = JournalWriter(medium, slack: max(configuration.journalSlack, 0))
        writer.connect {
            [weak self] in
            self?.snapshot()
        } givingUp: { [weak self] ids in
            self?.state.withLock { state in for id in ids { state.queue.notStored(id) } }
        }
    }

    /// Stores the decisions about what the last process left, so that each is made once.
    private static func store(
        _ queue: ReplayQueue, _ effects: [ReplayEffect], _ content: Journal.Content, _ medium: any JournalMedium
    ) throws(SystemError) {
        do throws(SystemError) {
            try medium.replace(with: queue.snapshot.compactMap { Journal.frame($0) })
        } catch {
            // A full disk can have no room for a new journal, but for a few records.
            guard content.damagedByteCount == 0, !content.records.isEmpty else { throw error }
            try medium.truncate(to: content.validByteCount)
            let records = effects.compactMap { if case .store(let record) = $0 { Journal.frame(record) } else { nil } }
            guard !records.isEmpty else { return }
            try medium.append(records.flatMap(\.self))
            try medium.synchronize()
        }
    }

    deinit {
        broadcast.end()
        changes.end()
        for waiter in state.withLock({ $0.waiters.values.flatMap(\.values) }) { waiter.resume(returning: nil) }
    }

    /// Opens the queue in a directory, which is created if needed. Only the user can access it.
    ///
    /// - Parameters:
    ///   - directory: The directory. It must not be a symbolic link, and it must be on a local file system.
    ///   - client: The client of the server.
    ///   - configuration: The settings.
    /// - Throws: ``OfflineError`` with the codes `storage`, `inUse` and `foreignJournal`.
    public static func open(
        directory: URL, client: HTTPClient, configuration: Configuration = Configuration()
    ) async throws(OfflineError) -> OfflineEngine {
        try await open(
            directory: directory, client: client, configuration: configuration, clocks: EngineClocks(ContinuousClock()))
    }

    static func open(
        directory: URL, client: HTTPClient, configuration: Configuration, clocks: EngineClocks
    ) async throws(OfflineError) -> OfflineEngine {
        let path = directory.path(percentEncoded: false)
        let result = await Self.blocking { () throws(OfflineError) in
            let medium = try JournalDirectory(path)
            let content = try medium.read()
            let torn = medium.byteCount - content.validByteCount
            let engine = try OfflineEngine(
                client: client, configuration: configuration, content: content, medium: medium, tornByteCount: torn,
                clocks: clocks)
            medium.clean(keeping: engine.contentNames)
            return engine
        }
        return try result.get()
    }

    private var contentNames: Set<String> {
        let operations = state.withLock { $0.queue.operations }
        return Set(
            operations.compactMap { entry in
                if case .file(let name, _) = entry.operation.message.body { name } else { nil }
            })
    }

    // MARK: Reading

    /// The operations: the lanes by their names, each in its order.
    public var operations: [OfflineOperation] {
        state.withLock { $0.queue.operations }.map { OfflineOperation($0.operation, $0.phase) }
    }

    /// The operations now, and then after each change. A slow reader gets the latest list.
    public var operationUpdates: AsyncStream<[OfflineOperation]> { changes.stream(capacity: 1, first: operations) }

    /// The changes from now on. A slow reader misses the oldest: 256 wait for it.
    public var events: AsyncStream<OfflineEvent> { broadcast.stream(capacity: 256) }

    /// The ends of operations that the program has not acknowledged, the oldest first.
    public var reports: [OfflineReport] { state.withLock { $0.queue.reports }.map { OfflineReport($0) } }

    /// Whether the last attempt reached the server. It is true before the first attempt.
    public var hasWay: Bool { state.withLock { $0.queue.hasWay } }
}
