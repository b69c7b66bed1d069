import ArgumentParser
import CausewayPeers
import CausewayTypes
import CausewayWire
import Foundation

/// Reads peer names and service names from command-line arguments.
enum PeerNames {
    /// The host name, at most 63 bytes.
    static var host: String {
        var name = ProcessInfo.processInfo.hostName
        while name.utf8.count > 63 { name.removeLast() }
        return name.isEmpty ? "nw" : name
    }

    static func check(service: String, name: String?) throws {
        guard PeerSession.isValid(service) else {
            throw ValidationError("'\(service)' is not a service type: 1 to 15 letters, digits and hyphens.")
        }
        if let name, !(1...63).contains(name.utf8.count) {
            throw ValidationError("--name must have 1 to 63 bytes.")
        }
    }

    /// The key digest in hexadecimal digits.
    static func key(_ peer: PeerIdentity, byteCount: Int = 4) -> String {
        Hexadecimal.text(peer.fingerprint.prefix(byteCount))
    }

    /// Returns whether a word from the command line identifies a peer. The word is the peer's name, or the first digits
    /// of its key, at least 8.
    static func matches(_ word: String, _ peer: PeerIdentity) -> Bool {
        peer.name == word || word.utf8.count >= 8 && key(peer, byteCount: 16).hasPrefix(word.lowercased())
    }
}

/// A printed line, as text or JSON, for a peer that discovery has found, updated or lost.
struct PeerLine {
    private struct Object: Encodable {
        var event: String
        var name: String
        var key: String
        var info: [String: String]?
    }

    private let mark: PrintableText
    private let event: String
    private let peer: PeerIdentity
    private let info: [String: String]?

    /// Returns `nil` for an event that does not concern discovery.
    init?(_ event: CausewayPeers.PeerEvent) {
        switch event {
        case .found(let peer, let info): (mark, self.event, self.peer, self.info) = ("+", "added", peer, info)
        case .updated(let peer, let info): (mark, self.event, self.peer, self.info) = ("~", "changed", peer, info)
        case .lost(let peer): (mark, self.event, self.peer, self.info) = ("-", "removed", peer, nil)
        default: return nil
        }
    }

    func text(isJSON: Bool) -> PrintableText {
        let key = PeerNames.key(peer)
        if isJSON { return PrintableText(json: Object(event: event, name: peer.name, key: key, info: info)) }
        let pairs = (info ?? [:]).sorted { $0.key < $1.key }.map { PrintableText(foreign: " \($0.key)=\($0.value)") }
        return "\(mark) \(peer.name)  \(key)" + pairs.joined()
    }
}
