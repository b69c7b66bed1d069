import CausewayPeers
import Foundation
import Causeway
import Synchronization
import Testing

/// A local peer with one group, for tests. A test takes the group's events in order.
final class PeerProbe: Sendable {
    enum Seen: Equatable, Sendable, CustomStringConvertible {
        case connecting(String)
        case connected(String)
        case notConnected(String, PeerFailure)
        case suspended(String)
        case resumed(String)
        case message(String, from: String)
        case stream(String, from: String)
        case fileStarted(String, from: String)
        case file(String, byteCount: Int, from: String)
        case fileFailed(String, PeerFailure, from: String)
        case other

        var description: String { "\(self as Any)" }
    }

    let node: PeerNode
    let seen = Mailbox<Seen>()
    let invitations = Mailbox<PeerInvitation>()
    let streams = Mailbox<PeerInputStream>()
    let transfers = Mailbox<Progress>()
    let digests = Mailbox<Data>()
    let lanes = Mailbox<PeerDatagramLane>()
    private let parts = Mutex<(group: PeerGroup?, advertisement: PeerAdvertisement?)>((nil, nil))

    var group: PeerGroup? { parts.withLock { $0.group } }
    var me: PeerIdentity { node.local.peer }

    /// - Parameter accepts: Whether invitations are accepted at once. If it is `nil`, the test answers them.
    init(_ name: String, limit: Int = 8, accepts: Bool? = true, keepsContents: Bool = false) throws {
        node = PeerNode(try LocalPeer(named: name))
        var settings = PeerGroup.Settings()
        settings.limit = limit
        let group = PeerGroup(node, settings) { [weak self] event in self?.note(event, keepsContents) }
        let advertisement = node.advertise("cw-test") { [weak self, weak group] event in
            guard case .invited(let invitation) = event, let group else { return }
            self?.invitations.put(invitation)
            switch accepts {
            case true?: invitation.accept(with: group)
            case false?: invitation.decline()
            case nil: break
            }
        }
        parts.withLock { $0 = (group, advertisement) }
    }

    private func note(_ event: GroupEvent, _ keepsContents: Bool) {
        switch event {
        case .connecting(let peer): seen.put(.connecting(peer.name))
        case .connected(let peer): seen.put(.connected(peer.name))
        case .notConnected(let peer, let failure): seen.put(.notConnected(peer.name, failure))
        case .suspended(let peer): seen.put(.suspended(peer.name))
        case .resumed(let peer): seen.put(.resumed(peer.name))
        case .message(let peer, let data, _): seen.put(.message(String(decoding: data, as: UTF8.self), from: peer.name))
        case .stream(let peer, let name, let stream):
            streams.put(stream)
            seen.put(.stream(name, from: peer.name))
        case .fileStarted(let peer, let name, let progress):
            transfers.put(progress)
            seen.put(.fileStarted(name, from: peer.name))
        case .fileFinished(let peer, let name, .success(let file), _):
            let contents = (try? Data(contentsOf: file.url)) ?? Data()
            if keepsContents { digests.put(contents) }
            seen.put(.file(name, byteCount: contents.count, from: peer.name))
        case .fileFinished(let peer, let name, .failure(let failure), _):
            seen.put(.fileFailed(name, failure, from: peer.name))
        case .certificate, .verification, .paired, .unsaved, .refused: seen.put(.other)
        case .datagramLane(_, let state): lanes.put(state)
        }
    }

    var port: UInt16 {
        get async {
            await withCheckedContinuation { continuation in node.whenListening { continuation.resume(returning: $0) } }
        }
    }

    /// Gives each peer the address of the other peer, as discovery does.
    func meet(_ other: PeerProbe, host: NWEndpoint.Host = .ipv4(.loopback)) async throws {
        for (peer, place) in [(self, other), (other, self)] {
            let port = try #require(NWEndpoint.Port(rawValue: await place.port))
            peer.node.learn(.hostPort(host: host, port: port), of: place.me)
        }
    }

    func invite(_ other: PeerProbe, context: String? = nil, timeout: Duration = .seconds(30)) {
        group?.invite(
            other.me, service: "cw-test", context: context.map { Data($0.utf8) }, timeout: timeout)
    }

    func send(_ text: String, to others: PeerProbe...) throws(PeerFailure) {
        try group?.send(Data(text.utf8), to: others.map(\.me), .reliable)
    }

    func sendFile(_ url: URL, name: String, to other: PeerProbe, _ ends: Mailbox<PeerFailure?>) throws -> Progress {
        let group = try #require(group)
        return group.sendFile(at: url, name: name, to: other.me, completion: { ends.put($0) })
    }

    /// Stops advertising, leaves the session, and releases the group.
    func close() {
        let old = parts.withLock { parts in
            let old = parts
            parts = (nil, nil)
            return old
        }
        old.advertisement?.stop()
        withExtendedLifetime(old) {}
    }

    static func pair(_ host: NWEndpoint.Host = .ipv4(.loopback)) async throws -> (PeerProbe, PeerProbe) {
        let (ann, bob) = (try PeerProbe("Ann"), try PeerProbe("Bob"))
        try await ann.meet(bob, host: host)
        ann.invite(bob)
        try await ann.seen.first { $0 == .connected("Bob") }
        try await bob.seen.first { $0 == .connected("Ann") }
        return (ann, bob)
    }
}
