import CausewayTypes
import CausewayURLLoading

/// Goes on with the transfers of all programs that are away.
struct TransfersRun {
    /// The interval at which new transfers are looked for.
    private static let interval = Duration.seconds(2)

    private let transfers: BackgroundTransfers
    private let stays: Bool
    private let choose: @Sendable (BackgroundTransfers) -> [BackgroundTransfers.Session]

    init(
        _ transfers: BackgroundTransfers, stays: Bool,
        _ choose: @escaping @Sendable (BackgroundTransfers) -> [BackgroundTransfers.Session]
    ) {
        self.transfers = transfers
        self.stays = stays
        self.choose = choose
    }

    /// Returns when nothing is left to do. With `stays`, only after cancellation.
    func run() async {
        // The transfers that were tried and left to the program, for each session.
        var left: [String: [Int]] = [:]
        await withTaskGroup(of: End.self) { group in
            var running: Set<String> = []
            var isTicking = false
            while !Task.isCancelled {
                for session in choose(transfers) where !running.contains(session.path) {
                    if session.activity != nil { left[session.path] = nil }
                    let pending = session.pending
                    guard session.activity == nil, session.isComplete, !pending.isEmpty, left[session.path] != pending
                    else { continue }
                    left[session.path] = pending
                    running.insert(session.path)
                    group.addTask { await run(session) }
                }
                guard stays || !running.isEmpty else { return group.cancelAll() }
                if !isTicking {
                    isTicking = true
                    group.addTask {
                        try? await Task.sleep(for: Self.interval)
                        return .interval
                    }
                }
                switch await group.next() {
                case .interval?: isTicking = false
                case .session(let path, let isCompleted)?:
                    running.remove(path)
                    // The program had the session, and may be away again before anything shows that.
                    if !isCompleted { left[path] = nil }
                case nil: return
                }
            }
        }
    }

    private enum End: Sendable {
        case interval
        /// A session was left. It is completed if the remaining tasks need the program.
        case session(path: String, isCompleted: Bool)
    }

    private func run(_ session: BackgroundTransfers.Session) async -> End {
        let name: PrintableText = "\(session.program) \(session.identifier)"
        printLine("\(name): continues, \(session.pending.count) to transfer")
        switch await transfers.run(session) {
        case .completed(let finished, let left):
            printLine("\(name): \(finished) finished, \(left) left to the program")
            return .session(path: session.path, isCompleted: true)
        case .handedOver: printLine("\(name): the program is back")
        case .busy: printLine("\(name): in use")
        }
        return .session(path: session.path, isCompleted: false)
    }
}
