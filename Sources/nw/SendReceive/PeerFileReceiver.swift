import Causeway
import CausewayPeers
import CausewaySystem
import CausewayTypes
import Foundation

/// `nw receive --peers`: stores files that peers send with `nw send --peer`.
struct PeerFileReceiver: Sendable {
    let service: String
    let name: String
    let trust: PeerTrust
    let rules: FileReceiver.Rules
    let session: ReceiveSession
    /// Whether to end the command after one peer has left.
    let isSingle: Bool

    /// The folder for incomplete files. It is inside the directory for complete files. A complete file therefore only
    /// needs a new name, and no copy to another file system.
    static let partFolder = IncomingFile.temporaryPrefix + "peers"
    private let thread = FileThread("nw.receive")

    private struct Counts {
        var files = 0
        var failures = 0
        var refused = RefusedFiles()
    }

    init(
        service: String, name: String, trust: PeerTrust, rules: FileReceiver.Rules, session: ReceiveSession,
        isSingle: Bool
    ) {
        (self.service, self.name, self.trust) = (service, name, trust)
        (self.rules, self.session, self.isSingle) = (rules, session, isSingle)
    }

    func run() async throws {
        var options = PeerSession.Options()
        options.browses = false
        options.trust = trust
        options.partialFiles = URL(fileURLWithPath: rules.directory).appendingPathComponent(Self.partFolder)
        let peers: PeerSession
        do {
            peers = try PeerSession(as: .persistent(named: name), service: service, options: options)
        } catch {
            throw CommandFailure("receiving as '\(name)' failed: \(error.message)")
        }
        defer { peers.leave() }
        session.tell(ReceiveEvent(event: "advertising", peer: "\(peers.me)", name: service))
        var counts = Counts()
        for try await event in peers.events {
            await handle(event, peers, &counts)
            if case .left(_, let failure) = event, isSingle {
                guard counts.failures == 0 else { throw CommandFailure("\(counts.failures) files were not stored") }
                guard counts.files > 0 else { throw CommandFailure("no file was received: \(failure.message)") }
                return
            }
        }
    }

    private func handle(_ event: CausewayPeers.PeerEvent, _ peers: PeerSession, _ counts: inout Counts) async {
        switch event {
        case .invited(let invite): invite.accept()
        case .joined(let peer): session.tell(ReceiveEvent(event: "connected", peer: "\(peer)"))
        case .left(let peer, let failure):
            counts.refused.removeAll(of: peer)
            session.tell(ReceiveEvent(event: "ended", peer: "\(peer)", reason: failure.message))
        case .refused(let peer, let failure):
            printError("nw: receive: \(peer.name) was refused: \(failure.message)")
        case .unsaved(let peer, let failure):
            printError("nw: receive: the key of \(peer.name) was not stored: \(failure.message)")
        case .receiving(let transfer, let peer):
            guard let reason = await refusal(of: transfer) else { return }
            counts.refused.add(transfer.name, of: peer)
            answer(transfer.name, reason, peer, peers, &counts, nil)
            transfer.cancel()
        case .file(let file, let peer):
            guard !counts.refused.remove(file.name, of: peer) else { return }
            let byteCount = size(of: file.url)
            answer(file.name, await store(file, byteCount), peer, peers, &counts, byteCount)
        case .fileFailed(let name, let failure, let peer):
            guard !counts.refused.remove(name, of: peer) else { return }
            answer(name, failure.message, peer, peers, &counts, nil)
        default: break
        }
    }

    private func answer(
        _ name: String, _ reason: String?, _ peer: PeerIdentity, _ peers: PeerSession, _ counts: inout Counts,
        _ byteCount: UInt64?
    ) {
        if reason == nil { counts.files += 1 } else { counts.failures += 1 }
        session.tell(
            ReceiveEvent(
                event: reason == nil ? "stored" : "refused", peer: "\(peer)", name: name, bytes: byteCount,
                reason: reason))
        let reply = PeerFileReply(file: name, isStored: reason == nil, reason: reason)
        // Ignore an error from sending the reply, because the peer may have left. Do not wait until the reply is sent:
        // a peer that does not read must not delay other peers' files. If 4 MiB of replies to a peer are queued,
        // further replies to it are dropped.
        try? peers.group.send((try? JSONEncoder().encode(reply)) ?? Data(), to: [peer], .reliable)
    }

    private func size(of url: URL) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
    }

    // MARK: Storing

    /// Returns the reason for refusing a file before it arrives; `nil` if the file is accepted.
    private func refusal(of transfer: PeerTransfer) async -> String? {
        let name = try? TransferHeader.safeName(Data(transfer.name.utf8), allowsHidden: rules.allowsHidden)
        guard let name else { return TransferReply.nameRefused.explanation }
        let total = transfer.progress.totalUnitCount
        if let limit = rules.maximumSize, total < 0 || UInt64(total) > limit {
            return TransferReply.tooLarge.explanation
        }
        let path = "\(rules.directory)/\(name)"
        let isTaken = (try? await thread.run { DirectoryEntries.exists(path) }) ?? false
        return isTaken && !rules.replaces ? TransferReply.nameTaken.explanation : nil
    }

    /// Renames a complete file to its final name. Returns the reason if that fails.
    private func store(_ file: PeerFile, _ byteCount: UInt64) async -> String? {
        // Check the size of the received file, because the sender may have announced a smaller size.
        if let limit = rules.maximumSize, byteCount > limit { return TransferReply.tooLarge.explanation }
        do {
            return try await thread.run { [rules] in
                let name = try TransferHeader.safeName(Data(file.name.utf8), allowsHidden: rules.allowsHidden)
                let path = "\(rules.directory)/\(name)"
                try OpenFile(reading: file.url.path).synchronize()
                do {
                    if rules.replaces {
                        try DirectoryEntries.move(file.url.path, to: path)
                    } else {
                        try DirectoryEntries.moveWithoutReplacing(file.url.path, to: path)
                    }
                } catch NWError.posix(.EEXIST) {
                    return TransferReply.nameTaken.explanation
                }
                // The directory entry must be on the disk too before the reply confirms the file.
                try OpenFile(directory: rules.directory).synchronize()
                return nil
            }
        } catch {
            return describe(error).text
        }
    }
}
