internal import CausewayActorProtocols
internal import CausewayPeers
public import Distributed
internal import Synchronization

/// A change of the actors under a key.
public enum PeerActorChange<Act: DistributedActor>: Sendable where Act.ID == PeerActorID {
    /// An actor was published, here or by a peer.
    case appeared(Act)
    /// An actor was withdrawn, ended, or its peer left.
    case disappeared(PeerActorID)
}

/// The actors under a key as they appear and disappear.
public struct PeerActors<Act: DistributedActor>: AsyncSequence, Sendable where Act.ActorSystem == PeerActorSystem {
    /// A change.
    public typealias Element = PeerActorChange<Act>
    /// The sequence does not throw.
    public typealias Failure = Never

    let system: PeerActorSystem
    let name: ActorListing.Name?

    /// Returns an iterator. Each gets all actors.
    public func makeAsyncIterator() -> Iterator { Iterator(system: system, name: name) }

    /// Takes changes.
    public struct Iterator: AsyncIteratorProtocol {
        private let system: PeerActorSystem
        private let name: ActorListing.Name?
        /// The actors that the program knows.
        private var known: [ActorDirectory<PeerIdentity>.Entry] = []
        private var pending: [Element] = []

        init(system: PeerActorSystem, name: ActorListing.Name?) {
            self.system = system
            self.name = name
        }

        /// Waits for the next change. `nil` when the system was stopped, and when the task is cancelled.
        nonisolated(nonsending) public mutating func next() async -> Element? {
            guard let name else { return nil }
            while !Task.isCancelled {
                if let change = pending.popLast() { return change }
                let (entries, version, isStopped) = system.state.withLock {
                    ($0.engine.directory.entries(of: name), $0.directoryVersion, $0.isStopped)
                }
                guard !isStopped else { return nil }
                compare(entries)
                if pending.isEmpty { await system.waitForChange(since: version) }
            }
            return nil
        }

        /// Waits for the next change like ``next()``, in the isolation of the caller.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? { await next() }

        /// Notes the differences to what the program knows, the last one first.
        private mutating func compare(_ entries: [ActorDirectory<PeerIdentity>.Entry]) {
            let (old, new) = (Set(known), Set(entries))
            known = entries
            var changes: [Element] = []
            for entry in old.subtracting(new) { changes.append(.disappeared(id(entry))) }
            for entry in entries where !old.contains(entry) {
                guard let actor = try? Act.resolve(id: id(entry), using: system) else { continue }
                changes.append(.appeared(actor))
            }
            pending = changes.reversed()
        }

        private func id(_ entry: ActorDirectory<PeerIdentity>.Entry) -> PeerActorID {
            PeerActorID(peer: entry.peer ?? system.me, number: entry.actor)
        }
    }
}

extension PeerActorSystem {
    private static let watcherNumbers = Atomic<UInt64>(0)

    /// Waits until the published actors change. Returns at once if they did since a version, and when the task is cancelled.
    nonisolated(nonsending) fileprivate func waitForChange(since version: UInt64) async {
        let number = Self.watcherNumbers.add(1, ordering: .relaxed).newValue
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let isDone = state.withLock { state in
                    guard state.directoryVersion == version, !state.isStopped, !Task.isCancelled else { return true }
                    state.watchers[number] = continuation
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.watchers.removeValue(forKey: number) }?.resume()
        }
    }
}
