import Causeway
import Foundation
import Synchronization

@testable import CausewayPeers

/// A peer group that accepts every invitation and logs its events.
final class PythonPeerHost: Sendable {
    private let lines: Lines
    let group: PeerGroup
    private let advertisement: PeerAdvertisement

    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
        let streams = Mutex<[PeerInputStream]>([])
        func note(_ line: String) { all.withLock { $0.append(line) } }
    }

    var log: [String] { lines.all.withLock { $0 } }
    func note(_ line: String) { lines.note(line) }

    /// - Parameter parts: The directory for parts of incomplete files.
    init(_ name: String, parts: URL? = nil) throws {
        var settings = PeerGroup.Settings()
        settings.partialFiles = parts
        let node = PeerNode(try LocalPeer(named: name))
        let lines = Lines()
        let group = PeerGroup(node, settings) { event in
            switch event {
            case .connected(let peer): lines.note("connected \(peer.name)")
            case .notConnected(_, let failure): lines.note("notConnected \(failure.message)")
            case .message(_, let data, _):
                lines.note(
                    "message " + (data.count < 100 ? String(decoding: data, as: UTF8.self) : "\(data.count) bytes"))
            case .stream(_, _, let stream):
                lines.streams.withLock { $0.append(stream) }
                stream.start {
                    if case .data(let data) = $0 { lines.note("stream \(String(decoding: data, as: UTF8.self))") }
                }
            case .fileFinished(_, let name, .success(let file), _):
                let data = (try? Data(contentsOf: file.url)) ?? Data()
                let isWhole = data.enumerated().allSatisfy { $1 == UInt8(truncatingIfNeeded: $0 &* 13) }
                lines.note("file \(name) \(data.count) bytes \(isWhole)")
            case .fileFinished(_, let name, .failure, _): lines.note("failed \(name)")
            default: break
            }
        }
        advertisement = node.advertise("cw-python") { [weak group] event in
            if case .invited(let invitation) = event, let group { invitation.accept(with: group) }
        }
        self.lines = lines
        self.group = group
    }

    var port: UInt16 {
        get async {
            await withCheckedContinuation { done in group.node.whenListening { done.resume(returning: $0) } }
        }
    }

    func invite(_ peer: PeerIdentity, at port: UInt16, _ context: String) {
        if let port = NWEndpoint.Port(rawValue: port) {
            group.node.learn(.hostPort(host: .ipv4(.loopback), port: port), of: peer)
        }
        group.invite(peer, service: "cw-python", context: Data(context.utf8), timeout: .seconds(30))
    }
}
