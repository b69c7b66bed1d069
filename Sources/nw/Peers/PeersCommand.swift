import ArgumentParser
import CausewayPeers
import CausewaySystem
import CausewayTypes
import Foundation

/// `nw peers`: lists peers of a service on the local network, or lets the user pick some.
struct PeersCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "peers",
        abstract: "List the peers of a Multipeer Connectivity service, or pick some.",
        usage: """
            nw peers [<options>] TYPE
            nw peers pick [--name <name>] TYPE
            """,
        discussion: """
            Lists programs that advertise TYPE with CausewayPeers or the module MultipeerConnectivity of Causeway. \
            Each line begins with + (peer added), - (removed) or ~ (changed), followed by the name, the first digits \
            of the digest of the peer's key, and the discovery info. Peers with Apple's framework are not listed, \
            because their protocol is not public.

            With pick, the terminal shows the peers: the arrow keys select one, Enter invites it, d ends the \
            selection and prints the names of the connected peers, q cancels.

            TYPE has 1 to 15 letters, digits and hyphens, such as abc-chat.

            Examples:
              nw peers abc-chat
              nw peers abc-chat -t 3 --json   3 seconds, one JSON object per line
              nw peers pick abc-chat          invite peers
            """)

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Option(name: .shortAndLong, help: ArgumentHelp("Exit after SECONDS.", valueName: "seconds"))
    var time: Double?

    @Option(help: "Display name for pick. (default: the host's name)")
    var name: String?

    @Argument(help: "TYPE, or pick and TYPE.")
    var words: [String]

    private var picks: Bool { words.count == 2 }

    func validate() throws {
        guard words.count == 1 || words.count == 2 && words[0] == "pick" else {
            throw ValidationError("Specify TYPE, or pick and TYPE.")
        }
        if picks, json || time != nil { throw ValidationError("pick does not support --json and --time.") }
        if let time, !(time > 0 && time <= 1_000_000) {
            throw ValidationError("--time must be more than 0 and at most 1000000 seconds.")
        }
        try PeerNames.check(service: words[words.count - 1], name: name)
    }

    func run() async throws {
        try await reporting("peers") {
            let service = words[words.count - 1]
            if picks {
                try await PeerPicking.run(service, name: name ?? PeerNames.host)
            } else {
                try await list(service)
            }
        }
    }

    private func list(_ service: String) async throws {
        var options = PeerSession.Options()
        options.advertises = false
        let session: PeerSession
        do {
            session = try PeerSession(as: .rotating(named: PeerNames.host), service: service, options: options)
        } catch {
            throw CommandFailure("browsing for \(service) failed: \(error.message)")
        }
        let isJSON = json
        let listing = Task {
            for try await event in session.events { PeerLine(event).map { printLine($0.text(isJSON: isJSON)) } }
        }
        do {
            try await withDeadline(time.map { .seconds($0) }, onExpiry: { listing.cancel() }) {
                try await untilInterrupted {
                    try await withTaskCancellationHandler {
                        try await listing.value
                    } onCancel: {
                        listing.cancel()
                    }
                }
            }
        } catch is TimedOut {
            return
        }
    }
}

/// Names of peers and services in arguments.
enum PeerNames {
    /// The name of the host, at most 63 bytes.
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
}

/// One line of the list.
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

    /// Returns `nil` for an event that is not about finding peers.
    init?(_ event: CausewayPeers.PeerEvent) {
        switch event {
        case .found(let peer, let info): (mark, self.event, self.peer, self.info) = ("+", "added", peer, info)
        case .updated(let peer, let info): (mark, self.event, self.peer, self.info) = ("~", "changed", peer, info)
        case .lost(let peer): (mark, self.event, self.peer, self.info) = ("-", "removed", peer, nil)
        default: return nil
        }
    }

    func text(isJSON: Bool) -> PrintableText {
        let key = peer.fingerprint.prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        if isJSON { return PrintableText(json: Object(event: event, name: peer.name, key: key, info: info)) }
        let pairs = (info ?? [:]).sorted { $0.key < $1.key }.map { PrintableText(foreign: " \($0.key)=\($0.value)") }
        return "\(mark) \(peer.name)  \(key)" + pairs.joined()
    }
}
