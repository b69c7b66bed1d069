import CausewayPeers
import CausewaySystem
import CausewayTypes
import Foundation

/// The reply that `nw receive --peers` sends after it has received a file.
struct PeerFileReply: Codable, Sendable {
    var file: String
    var isStored: Bool
    /// Why the file was not stored.
    var reason: String?

    /// The default service type for `nw send --peer`.
    static let service = "nw-files"
}

/// `nw send --peer`: sends files to a peer that runs `nw receive --peers`.
struct PeerFileSender: Sendable {
    let service: String
    let peer: String
    /// This host's display name.
    let name: String
    let limit: Duration

    /// The time to wait for other peers that have the same name.
    private static let namesakes = Duration.milliseconds(300)
    private static let replyTime = Duration.seconds(30)

    /// Connects to the peer, and runs `body`.
    func run(_ body: @escaping @Sendable (PeerSession, PeerIdentity) async throws -> Void) async throws {
        var options = PeerSession.Options()
        options.advertises = false
        options.trust = .pinned
        let (session, store): (PeerSession, PeerPinStore)
        do {
            store = try PeerPinStore(service: service)
            session = try PeerSession(as: .persistent(named: name), service: service, options: options)
        } catch {
            throw CommandFailure("\(error.message)")
        }
        defer { session.leave() }
        let found: PeerIdentity
        do {
            found = try await find(session, store)
            try await session.invite(found, within: limit)
        } catch let failure as PeerFailure {
            let advice =
                failure.code == .unverified
                ? "; it accepts paired hosts only: run nw peers pair \(service) on both" : ""
            throw CommandFailure("connection to \(peer) failed: \(failure.message)\(advice)")
        }
        try await body(session, found)
        session.leave()
        // Before the process ends, wait until the session has had time to send its remaining bytes.
        try? await Task.sleep(for: .milliseconds(200))
    }

    // MARK: Finding

    private func find(_ session: PeerSession, _ store: PeerPinStore) async throws -> PeerIdentity {
        let seen = LockedValue<[PeerIdentity]>([])
        let watching = Task {
            for try await event in session.events {
                guard case .found(let found, _) = event, PeerNames.matches(peer, found) else { continue }
                seen.withLock { $0.append(found) }
            }
        }
        defer { watching.cancel() }
        let end = ContinuousClock.now + limit
        while seen.withLock({ $0.isEmpty }) {
            guard ContinuousClock.now < end else {
                if peer == name {
                    throw CommandFailure("this host is \(name) too: choose another --name for one of the two")
                }
                throw CommandFailure(
                    "no peer named \(peer) was found: run nw receive DIRECTORY --peers \(service) there, or: nw peers doctor"
                )
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        try await Task.sleep(for: Self.namesakes)
        return try choose(seen.withLock { $0 }, session, try store.pins())
    }

    /// Chooses the peer that the user named. A recorded key counts more than a name, because every host can choose its
    /// name.
    private func choose(_ found: [PeerIdentity], _ session: PeerSession, _ pins: [PeerPin]) throws -> PeerIdentity {
        let known = found.filter { [.pinned, .paired].contains(session.recognition(of: $0)) }
        let recorded = pins.filter { $0.peer.name == peer && found.contains { $0.name == peer } }
        if known.isEmpty, let pin = recorded.first, let other = found.first {
            throw CommandFailure(
                """
                \(peer) has another key than the recorded one: \(PeerNames.key(other)), not \(PeerNames.key(pin.peer)); \
                if that is right, run: nw peers forget \(service) \(PeerNames.key(pin.peer))
                """)
        }
        let candidates = known.isEmpty ? found : known
        guard candidates.count == 1, let only = candidates.first else {
            let keys = candidates.map { PeerNames.key($0) }.sorted().joined(separator: ", ")
            throw CommandFailure("\(candidates.count) peers are named \(peer): specify a key: \(keys)")
        }
        return only
    }

    // MARK: Sending

    /// Returns the name under which the peer will store a file. Rejects a name that the peer would change: the peer's
    /// reply would contain the changed name, and the sender could not match it to the file.
    ///
    /// - Throws: ``FileSender/NotSent``.
    static func name(of path: String) throws -> String {
        guard let name = path.unicodeScalars.split(separator: "/").last.map({ String($0) }), name.utf8.count <= 255
        else {
            throw FileSender.NotSent(reason: "the name is longer than 255 bytes")
        }
        guard !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw FileSender.NotSent(reason: "the name has control characters: rename the file")
        }
        guard !name.utf8.contains(UInt8(ascii: "\\")) else {
            throw FileSender.NotSent(reason: "the name has a backslash: rename the file")
        }
        return name
    }

    /// Sends one file, and waits for the receiver's reply. An interrupted transfer continues where it ended.
    ///
    /// - Returns: The content size in bytes.
    static func send(
        _ path: String, over session: PeerSession, to peer: PeerIdentity, _ idle: IdleTime
    ) async throws -> UInt64 {
        let url = URL(fileURLWithPath: path)
        let name = try Self.name(of: path)
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let size = (attributes?[.size] as? NSNumber)?.uint64Value
        var progress = ProgressBar(name, byteCount: size)
        do {
            for try await part in session.send(file: url, named: name, to: peer, hasDigest: true) {
                progress.advance(to: UInt64(clamping: part.sentByteCount))
                idle.end()
            }
            progress.finish()
        } catch let failure as PeerFailure {
            progress.finish()
            // A receiver that refuses a file sends a reply with the reason, then cancels the transfer.
            if failure.code == .cancelled { try check(await reply(to: name, session, peer, within: .seconds(2))) }
            guard failure.code == .file || failure.code == .invalid || failure.code == .cancelled else { throw failure }
            throw FileSender.NotSent(reason: failure.message)
        }
        try check(try await reply(to: name, session, peer, within: replyTime))
        return size ?? 0
    }

    private static func check(_ reply: PeerFileReply) throws {
        if !reply.isStored { throw FileSender.NotSent(reason: reply.reason ?? "the receiver refused the file") }
    }

    private static func reply(
        to name: String, _ session: PeerSession, _ peer: PeerIdentity, within limit: Duration
    ) async throws -> PeerFileReply {
        let waiting = Task { () -> PeerFileReply in
            for try await event in session.events {
                switch event {
                case .received(let data, from: peer):
                    let reply = try? JSONDecoder().decode(PeerFileReply.self, from: data)
                    if let reply, reply.file == name { return reply }
                case .left(peer, let failure): throw failure
                default: break
                }
            }
            throw CancellationError()
        }
        do {
            return try await withDeadline(limit, onExpiry: { waiting.cancel() }) {
                try await withTaskCancellationHandler {
                    try await waiting.value
                } onCancel: {
                    waiting.cancel()
                }
            }
        } catch is TimedOut {
            throw FileSender.NotSent(
                reason: """
                    the receiver did not confirm the file within \(limit.components.seconds) seconds; \
                    only nw receive --peers confirms files
                    """)
        }
    }
}
