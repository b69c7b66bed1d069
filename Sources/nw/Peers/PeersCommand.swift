import ArgumentParser
import CausewayPeers
import CausewaySystem
import CausewayTypes
import Foundation

/// `nw peers`: lists the peers of a service on the local network, and connects and pairs them. Also explains why peers
/// do not find each other.
struct PeersCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "peers",
        abstract: "List the peers of a service, pick or pair some, or find out why none is seen.",
        usage: """
            nw peers [<options>] TYPE
            nw peers pick [--name <name>] TYPE
            nw peers pair [<options>] TYPE [TEXT]
            nw peers pins [--json] TYPE
            nw peers forget TYPE NAME
            nw peers doctor [<options>] [TYPE]
            """,
        discussion: """
            Lists programs that advertise TYPE with CausewayPeers or the module MultipeerConnectivity of Causeway. \
            Each line begins with + (peer added), - (removed) or ~ (changed), followed by the name, the first digits \
            of the digest of the peer's key, and the discovery info. Peers with Apple's framework are not listed, \
            because their protocol is not public.

            With pick, the terminal shows the peers: the arrow keys select one, Enter invites it, d ends the \
            selection and prints the names of the connected peers, q cancels.

            With pair, two hosts learn each other's key. The first one prints a text, also as a QR code if qrencode \
            is installed, and waits; the second one takes the text. The text is a secret: it can be used once, for \
            --time seconds (default: 300). Each --name has a separate key: use the same one later. With --compare on \
            both hosts, the users compare a code instead.

            pins lists the keys that are recorded for TYPE, and forget removes one: a name, digits of the key, or \
            all. A peer with a recorded number and another key is refused until it is forgotten.

            doctor checks the interfaces, UDP port 5353, firewalls, the clock, the stored keys, and whether a peer \
            of this process is found and can be connected. That peer has the type nw-doctor, so that peers of TYPE \
            do not see it; it joins no session. It names services of TYPE that are no peers, such as \
            those of Apple's Multipeer Connectivity. It exits with code 1 if a fault was found.

            TYPE has 1 to 15 letters, digits and hyphens, such as abc-chat.

            Examples:
              nw peers abc-chat
              nw peers abc-chat -t 3 --json   3 seconds, one JSON object per line
              nw peers pick abc-chat          invite peers
              nw peers pair nw-files          show a text, for nw send --peer
              nw peers pair nw-files CAUSEWAY-PEER:1/NW-FILES/GEZD...
              nw peers doctor abc-chat
            """)

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Option(name: .shortAndLong, help: ArgumentHelp("Exit after SECONDS.", valueName: "seconds"))
    var time: Double?

    @Option(help: "Display name for pick and pair. (default: the host's name)")
    var name: String?

    @Flag(help: "With pair: compare a code with the other user on the terminal.")
    var compare = false

    @Argument(
        help: "TYPE, or pick, pair, pins, forget or doctor and its words.",
        completion: .list(["pick", "pair", "pins", "forget", "doctor"]))
    var words: [String]

    func validate() throws {
        let task = try PeersTask(words)
        let given = [("json", json), ("time", time != nil), ("name", name != nil), ("compare", compare)]
        for (option, isGiven) in given where isGiven && !task.options.contains(option) {
            throw ValidationError("\(words.count == 1 ? "the list" : words[0]) does not support --\(option).")
        }
        if let time, !(time > 0 && time <= 1_000_000) {
            throw ValidationError("--time must be more than 0 and at most 1000000 seconds.")
        }
        try PeerNames.check(service: task.service, name: name)
        if case .pair(let service, let text?) = task {
            do {
                let pairing = try PeerPairing(text)
                guard pairing.service == service.lowercased() else {
                    throw ValidationError("the text is for the type \(pairing.service).")
                }
            } catch let failure as PeerFailure {
                throw ValidationError("\(failure.message).")
            }
        }
    }

    func run() async throws {
        try await reporting("peers") {
            let limit = time.map { Duration.seconds($0) }
            switch try PeersTask(words) {
            case .list(let service): try await list(service)
            case .pick(let service): try await PeerPicking.run(service, name: name ?? PeerNames.host)
            case .pair(let service, let text):
                let pairing = PairCommand(
                    service: service, name: name ?? PeerNames.host, limit: limit ?? .seconds(300), isJSON: json)
                if compare { return try await pairing.compare() }
                if let text { return try await pairing.take(text) }
                try await pairing.show()
            case .pins(let service): try PinsListing(service: service).list(isJSON: json)
            case .forget(let service, let peer): try PinsListing(service: service).forget(peer)
            case .doctor(let service):
                try await PeersDoctor(service: service, limit: limit ?? .seconds(5)).run(isJSON: json)
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
