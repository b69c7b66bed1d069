internal import CausewayPeerProtocols
internal import CausewayPeers
public import Distributed
internal import Synchronization

/// A change in the actors published under a key.
public enum PeerActorChange<Act: DistributedActor>: Sendable where Act.ID == PeerActorID {
    /// An actor was published, locally or by a peer.
    case appeared(Act)
    /// An actor disappeared: it was withdrawn, it ended, or its peer left.
    case disappeared(PeerActorID)
}

/// An asynchronous sequence of changes in the actors published under a key.
public struct PeerActors<Act: DistributedActor>: AsyncSequence, Sendable where Act.ActorSystem == PeerActorSystem {
    /// A change in the set of published actors.
    public typealias Element = PeerActorChange<Act>
    /// This sequence never throws an error.
    public typealias Failure = Never

    let system: PeerActorSystem
    let name: ActorListing.Name?

    /// Returns an iterator. Each iterator begins with all published actors.
    public func makeAsyncIterator() -> Iterator { Iterator(system: system, name: name) }

    /// An iterator over changes.
    public struct Iterator: AsyncIteratorProtocol {
        private let system: PeerActorSystem
        private let name: ActorListing.Name?
        /// The actors that the iterator has already reported to the program.
        private var known: [ActorDirectory<PeerIdentity>.Entry] = []
        /// The changes that the iterator must still return. The latest change is first.
        private var pending: [Element] = []

        init(system: PeerActorSystem, name: ActorListing.Name?) {
            self.system = system
            self.name = name
        }

        /// Waits for the next change. Returns `nil` after the system was stopped.
        ///
        /// Cancellation: returns `nil`.
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

        /// Waits for the next change like ``next()``, in the caller's isolation.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? { await next() }

        /// Computes the changes since the previous call: first the actors that disappeared, then the new actors,
        /// oldest first.
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

    /// Waits until the published actors change. Returns at once if they have changed since `version`. Also returns at
    /// once if the system was stopped, or if the task is cancelled.
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
