import CausewayPeers
import CausewayTypes
import Foundation

/// `nw peers pins` and `nw peers forget`: a service's recorded keys.
struct PinsListing: Sendable {
    private struct Object: Encodable {
        var name: String
        var key: String
        var paired: Bool
        var date: String
    }

    private let store: PeerPinStore

    init(service: String) throws {
        do {
            store = try PeerPinStore(service: service)
        } catch {
            throw CommandFailure("\(error.message)")
        }
    }

    private func pins() throws -> [PeerPin] {
        do {
            return try store.pins()
        } catch {
            throw CommandFailure("\(error.message)")
        }
    }

    func list(isJSON: Bool) throws {
        for pin in try pins() {
            let date = pin.date.formatted(.iso8601)
            let key = PeerNames.key(pin.peer, byteCount: 16)
            if isJSON {
                printLine(
                    PrintableText(json: Object(name: pin.peer.name, key: key, paired: pin.isPaired, date: date)))
            } else {
                printLine("\(key)  \(date)  \(pin.isPaired ? "paired" : "seen  ")  \(pin.peer.name)")
            }
        }
    }

    /// Removes the recorded keys that `word` selects.
    ///
    /// - Throws: ``CommandFailure`` unless `word` is `all`, or the name or key of exactly one recorded peer. Also
    ///   thrown if the recorded keys cannot be read or changed.
    func forget(_ word: String) throws {
        do {
            if word == "all" { return try store.forgetAll() }
            let found = try store.pins().filter { PeerNames.matches(word, $0.peer) }
            guard found.count < 2 else {
                let keys = found.map { PeerNames.key($0.peer) }.joined(separator: ", ")
                throw CommandFailure("\(found.count) peers are named '\(word)': specify a key: \(keys)")
            }
            guard let pin = found.first else { throw CommandFailure("no key is recorded for '\(word)'") }
            try store.forget(pin.peer)
        } catch let failure as PeerFailure {
            throw CommandFailure("\(failure.message)")
        }
    }
}
