internal import CausewayPeerProtocols
internal import Dispatch
internal import Foundation

/// A group's incoming and outgoing files. Files are read and written on one serial queue, never under the node's lock.
///
/// Events are delivered on the group's queue, in the order in which `PeerMesh` reports them. A transfer ends once, with
/// success, failure or cancellation.
final class FileTransfers: Sendable {
    private struct State {
        var outgoing: [ChannelID: OutgoingFile] = [:]
        var incoming: [ChannelID: IncomingFile] = [:]
    }

    /// The folder for incomplete files that are kept for a later transfer; `nil` if the program keeps none.
    private let parts: PartFolder?

    init(parts: URL?) {
        self.parts = parts.map { PartFolder($0) }
    }

    let queue = DispatchQueue(label: "causeway.peers.files")
    private let state = LockedValue(State())
    private let owner = LockedValue<Owner>(Owner())

    private struct Owner: Sendable {
        weak var port: GroupPort?
    }

    /// The object that delivers the group's events to the program. This reference to it is weak.
    var port: GroupPort? {
        get { owner.withLock { $0.port } }
        set { owner.withLock { $0.port = newValue } }
    }

    // MARK: Sending

    func add(_ file: OutgoingFile, _ channel: ChannelID) { state.withLock { $0.outgoing[channel] = file } }

    func wanted(_ channel: ChannelID, _ offset: UInt64, _ count: Int, _ node: PeerNode) {
        guard let file = state.withLock({ $0.outgoing[channel] }) else { return }
        queue.async { [self] in
            do throws(PeerFailure) {
                let block = try file.read(offset, count)
                node.apply { core, now in
                    core.mesh.provide(
                        channel, block.bytes, isLast: block.isLast, digest: block.digest, at: now)
                }
            } catch {
                node.apply { core, now in core.mesh.cancelResource(channel, at: now) }
                finish(channel, error)
            }
        }
    }

    func delivered(_ channel: ChannelID) { finish(channel, nil) }

    /// Ends an outgoing transfer and calls its completion. Does nothing if the transfer has already ended.
    private func finish(_ channel: ChannelID, _ failure: PeerFailure?) {
        guard let file = state.withLock({ $0.outgoing.removeValue(forKey: channel) }) else { return }
        if failure == nil { file.progress.completedUnitCount = file.progress.totalUnitCount }
        port?.queue.async { file.completion(failure) }
        queue.async { file.close() }
    }

    // MARK: Receiving

    func offered(_ channel: ChannelID, _ offer: ResourceOffer, _ node: PeerNode) {
        guard let port else { return }
        let peer = port.peer(channel.member)
        let file = IncomingFile(offer, parts?.claim(offer, of: peer))
        file.progress.cancellationHandler = { [weak self] in self?.cancel(channel, node) }
        state.withLock { $0.incoming[channel] = file }
        port.post { .fileStarted(peer, name: file.name, file.progress) }
        work(channel, node) { file throws(PeerFailure) in
            let offset = try file.create()
            node.apply { core, now in core.mesh.fetch(channel, from: offset, at: now) }
        }
    }

    func received(_ channel: ChannelID, _ offset: UInt64, _ bytes: [UInt8], _ node: PeerNode) {
        guard let file = state.withLock({ $0.incoming[channel] }), file.add(bytes, at: offset) else { return }
        work(channel, node) { file throws(PeerFailure) in
            let count = try file.writeWaiting()
            node.apply { core, now in core.mesh.consumedResource(channel, count, at: now) }
        }
    }

    func completed(_ channel: ChannelID, _ digest: [UInt8]?, _ node: PeerNode) {
        work(channel, node) { [self] file throws(PeerFailure) in
            let stored = try file.finish(digest)
            guard end(channel) != nil else { return }
            node.apply { core, now in core.mesh.stored(channel, at: now) }
            report(channel, file.name, .success(ReceivedFile(stored)), node)
        }
    }

    /// Runs `body` with an incoming file, on the file queue. If `body` fails, the transfer ends on both sides.
    private func work(
        _ channel: ChannelID, _ node: PeerNode, _ body: @escaping @Sendable (IncomingFile) throws(PeerFailure) -> Void
    ) {
        queue.async { [self] in
            guard let file = state.withLock({ $0.incoming[channel] }) else { return }
            do throws(PeerFailure) {
                try body(file)
            } catch {
                guard end(channel) != nil else { return }
                file.end(keepsPart: false)
                node.apply { core, now in core.mesh.cancelResource(channel, at: now) }
                report(channel, file.name, .failure(error), node)
            }
        }
    }

    private func end(_ channel: ChannelID) -> IncomingFile? {
        state.withLock { $0.incoming.removeValue(forKey: channel) }
    }

    /// Reports the end of an incoming file to the program. If too many of these events are still unread, `PeerMesh`
    /// fetches no more files.
    private func report(
        _ channel: ChannelID, _ name: String, _ result: Result<ReceivedFile, PeerFailure>, _ node: PeerNode
    ) {
        guard let port else { return }
        let peer = port.peer(channel.member)
        let receipt = PeerReceipt { [queue] in
            // Call `resourceTaken` after the file's pending work on this queue. The limit on unconsumed files then also
            // limits the pending work.
            queue.async {
                node.apply { core, now in core.mesh.resourceTaken(channel, at: now) }
            }
        }
        port.post { .fileFinished(peer, name: name, result, receipt) }
    }

    // MARK: End

    /// Cancels a transfer on behalf of the program.
    ///
    /// `PeerMesh` notifies only the other side of the cancellation. So this method also ends the transfer on this side.
    func cancel(_ channel: ChannelID, _ node: PeerNode) {
        node.apply { core, now in
            core.mesh.cancelResource(channel, at: now)
            // Request the end of the transfer as an action, not directly. Actions run in order, and an earlier action
            // may still have to add the transfer.
            core.request(.run { self.failed(channel, PeerFailure(.cancelled), node) })
        }
    }

    /// Handles a transfer that `PeerMesh` has ended, because the transfer was cancelled or the peer was lost.
    func failed(_ channel: ChannelID, _ failure: PeerFailure, _ node: PeerNode) {
        let outgoing = state.withLock { $0.outgoing[channel] }
        if let file = outgoing {
            return finish(channel, file.progress.isCancelled ? PeerFailure(.cancelled) : failure)
        }
        guard let file = end(channel) else { return }
        report(channel, file.name, .failure(file.progress.isCancelled ? PeerFailure(.cancelled) : failure), node)
        queue.async { file.end(keepsPart: !file.progress.isCancelled) }
    }
}
