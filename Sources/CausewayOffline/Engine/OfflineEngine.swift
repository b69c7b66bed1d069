public import CausewayClient
internal import CausewaySystem
internal import CausewayURLLoading
public import Foundation

/// Stores requests durably, and sends them to a server in order when it is reachable, also after a program restart.
///
/// ```swift
/// let engine = try await OfflineEngine.open(directory: folder, client: client)
/// var note = ClientRequest("PUT", "notes/\(id)")
/// note.body = .json(text)
/// try await engine.enqueue(note, options: OfflineOptions(lane: "notes/\(id)"))
/// try await engine.run()                       // sends until the task is cancelled
/// ```
///
/// When ``enqueue(_:options:progress:)`` returns, the operation is stored. A directory belongs to one engine in one process at a time.
public final class OfflineEngine: Sendable {
    /// Decides about an operation that the server has refused.
    public typealias Resolver = @Sendable (OfflineConflict) async -> OfflineDecision<ClientRequest>

    /// An engine's settings.
    public struct Configuration: Sendable {
        /// The rules that decide when operations are sent, retried, or given up.
        public var policy = OfflinePolicy()
        /// Size limits.
        public var limits = OfflineLimits()
        /// Decides about operations that the server has refused, if the policy is
        /// ``/CausewayHTTPProtocols/OfflinePolicy/Refusal/ask``. Without a resolver, a refused operation stops its
        /// lane, which is a sequence of operations that are sent one after the other.
        public var resolver: Resolver?
        /// The number of bytes by which the journal may grow beyond twice its size after the latest compaction. A
        /// longer journal is compacted again. The default is 1 MiB.
        public var journalSlack = 1 << 20

        /// Creates the default settings.
        public init() {}
    }

    /// What the engine found when it opened the directory: stored operations, interrupted attempts, and damage.
    public struct Recovery: Hashable, Sendable {
        /// The number of operations in the queue.
        public let operationCount: Int
        /// The number of operations whose sending was interrupted, for example because the program ended.
        ///
        /// The policy decides what happens to such an operation. It waits again, or it has ended with a report, or it
        /// has stopped its lane (operations that are sent one after the other).
        public let interruptedCount: Int
        /// The size of an incomplete record at the journal's end, in bytes. The program ended while it wrote the
        /// record, and the engine has cut the record off.
        public let tornByteCount: Int
        /// The total size of damaged records within the journal, in bytes. The damaged journal was kept as
        /// `journal.damaged`. Each operation that may be affected was treated as if its attempt had been interrupted.
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
        /// Operations that have ended, but whose end is not stored in the journal yet.
        var settling: Set<UInt64> = []
        /// Changes whose records could not be stored; retried every five seconds.
        var unsettled: [Applied] = []
    }

    /// The client that sends operations.
    public let client: HTTPClient
    /// The settings.
    public let configuration: Configuration
    /// The result of opening the queue's directory.
    public let recovery: Recovery
    let state: LockedValue<State>
    let writer: JournalWriter
    let medium: any JournalMedium
    let clocks: EngineClocks
    let signal = Signal()
    let broadcast = Broadcast<OfflineEvent>()
    let changes = ValueBroadcast<[OfflineOperation]>()

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

    /// Stores the decisions about attempts that were interrupted before the program's start. So each decision is made
    /// only once. Also compacts the journal.
    private static func store(
        _ queue: ReplayQueue, _ effects: [ReplayEffect], _ content: Journal.Content, _ medium: any JournalMedium
    ) throws(SystemError) {
        let failure: SystemError?
        do throws(SystemError) {
            failure = try medium.replace(with: queue.snapshot.compactMap { Journal.frame($0) })
        } catch {
            // A full disk may have no space for a new journal, but still for a few records. Keep the existing journal,
            // and append only the records of the decisions.
            guard content.damagedByteCount == 0, !content.records.isEmpty else { throw error }
            try medium.truncate(to: content.validByteCount)
            let records = effects.compactMap { if case .store(let record) = $0 { Journal.frame(record) } else { nil } }
            guard !records.isEmpty else { return }
            try medium.append(records.flatMap(\.self))
            return try medium.synchronize()
        }
        if let failure { throw failure }
    }

    deinit {
        broadcast.end()
        changes.end()
        for waiter in state.withLock({ $0.waiters.values.flatMap(\.values) }) { waiter.resume(returning: nil) }
    }

    /// Opens the queue in a directory, and creates the directory if needed. Other users cannot access it.
    ///
    /// - Parameters:
    ///   - directory: The directory. It must not be a symbolic link, and it must be on a local file system.
    ///   - client: The client for the server.
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

    /// The content files in use.
    private var contentNames: Set<String> {
        let operations = state.withLock { $0.queue.operations }
        return Set(
            operations.compactMap { entry in
                if case .file(let name, _) = entry.operation.message.body { name } else { nil }
            })
    }

    // MARK: Reading

    /// All operations, sorted by the names of their lanes. Within a lane, the operations have the order in which they
    /// are sent.
    public var operations: [OfflineOperation] {
        state.withLock { $0.queue.operations }.map { OfflineOperation($0.operation, $0.phase) }
    }

    /// The operations now and after each change. A slow reader gets only the latest list.
    public var operationUpdates: AsyncStream<[OfflineOperation]> { changes.stream { operations } }

    /// Changes in the queue from now on. Each stream buffers at most 256 changes; a slow reader misses the oldest
    /// changes.
    public var events: AsyncStream<OfflineEvent> { broadcast.stream(capacity: 256) }

    /// The reports of ended operations, oldest first. A report stays in this list until the program acknowledges it.
    public var reports: [OfflineReport] { state.withLock { $0.queue.reports }.map { OfflineReport($0) } }

    /// Whether the engine considers the server reachable. The value is `true` before the first attempt. After a failure
    /// to reach the server, it is `false` during the back-off.
    public var hasWay: Bool { state.withLock { $0.queue.hasWay } }
}
