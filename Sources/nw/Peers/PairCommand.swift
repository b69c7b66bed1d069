import CausewayPeers
import CausewaySystem
import CausewayTypes
import Foundation

/// `nw peers pair`: two hosts exchange keys, with a text or by comparing a code.
struct PairCommand: Sendable {
    private struct Object: Encodable {
        var event: String
        var text: String?
        var seconds: Int64?
        var name: String?
        var key: String?
    }

    /// The text that identifies peers that compare codes. It is a key in their discovery info. It is also the context
    /// of their invitations.
    private static let mark = "pair"
    /// How long the process waits before it ends, so that a session can send its remaining bytes.
    private static let goodbye = Duration.milliseconds(300)

    let service: String
    let name: String
    let limit: Duration
    let isJSON: Bool

    /// Shows a pairing text, and waits until a peer has used it.
    func show() async throws {
        try await run("no peer took the text in time") { session in
            let pairing = try session.offerPairing(for: limit)
            tell(pairing)
            for try await event in session.events {
                switch event {
                case .invited(let invite) where invite.recognition == .paired: invite.accept()
                case .invited(let invite): invite.decline()
                case .paired(let peer): return tell(peer)
                default: try report(event)
                }
            }
        }
    }

    /// Reads the other host's pairing text.
    func take(_ text: String) async throws {
        let pairing = try PeerPairing(text)
        try await run("the peer '\(pairing.peer.name)' was not found in time") { session in
            try await session.pair(with: pairing, within: limit)
            tell(pairing.peer)
        }
    }

    /// Finds a peer that runs the same command, shows the code, and asks whether the other host shows this code too.
    func compare() async throws {
        guard StandardInput.shared.isTerminal else {
            throw CommandFailure("--compare needs a terminal: a user has to compare the codes")
        }
        var options = PeerSession.Options()
        options.info = [Self.mark: "1"]
        // Ask the user about one code at a time: several peers can show a code at the same time.
        let questions = UserQuestions()
        try await run("no other host compared codes in time", options) { session in
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                for try await event in session.events {
                    switch event {
                    case .found(let peer, let info) where info[Self.mark] == "1":
                        group.addTask { try? await session.invite(peer, context: Data(Self.mark.utf8)) }
                    case .invited(let invite):
                        if invite.context == Data(Self.mark.utf8) { invite.accept() } else { invite.decline() }
                    case .joined(let peer) where session.me.fingerprint.lexicographicallyPrecedes(peer.fingerprint):
                        group.addTask {
                            try await session.verify(peer) { code in await questions.ask { await ask(code, peer) } }
                        }
                    case .compare(let code, let peer):
                        group.addTask { code.confirm(await questions.ask { await ask(code, peer) }) }
                    case .left(_, let failure) where failure.code == .unverified:
                        throw CommandFailure("not paired: one of the users saw another code")
                    case .paired(let peer): return tell(peer)
                    default: try report(event)
                    }
                }
            }
        }
    }

    private func ask(_ code: PeerCode, _ peer: PeerIdentity) async -> Bool {
        let words = code.words.joined(separator: " ")
        printLine("\(peer.name) shows the same code?  \(code.digits)  \(words)  [y/N]")
        let answer = try? await StandardInput.shared.next(atMost: 64)
        return (answer ?? nil)?.first.map { $0 | 0x20 == UInt8(ascii: "y") } ?? false
    }

    // MARK: Session

    private func run(
        _ expiry: String, _ options: PeerSession.Options? = nil,
        _ body: @escaping @Sendable (PeerSession) async throws -> Void
    ) async throws {
        var options = options ?? PeerSession.Options()
        options.trust = .pinned
        let session: PeerSession
        do {
            session = try PeerSession(as: .persistent(named: name), service: service, options: options)
        } catch {
            throw CommandFailure("pairing failed: \(error.message)")
        }
        let work = Task { try await body(session) }
        do {
            try await withDeadline(limit + .seconds(1), onExpiry: { work.cancel() }) {
                try await untilInterrupted {
                    try await withTaskCancellationHandler {
                        try await work.value
                    } onCancel: {
                        work.cancel()
                    }
                }
            }
        } catch is TimedOut {
            throw CommandFailure("\(expiry)")
        } catch let failure as PeerFailure {
            throw CommandFailure("pairing failed: \(failure.message)\(Self.advice(failure))")
        }
        session.leave()
        try? await Task.sleep(for: Self.goodbye)
    }

    private static func advice(_ failure: PeerFailure) -> String {
        switch failure.code {
        case .identityChanged: "; if that is right, run: nw peers forget"
        case .unverified: "; show a new text"
        default: ""
        }
    }

    /// Prints the reason if this side refused a peer. Throws if a peer's key could not be stored.
    private func report(_ event: CausewayPeers.PeerEvent) throws {
        switch event {
        case .refused(let peer, let failure): printError("nw: peers: \(peer.name) was refused: \(failure.message)")
        case .unsaved(let peer, let failure):
            throw CommandFailure("the key of \(peer.name) was not stored: \(failure.message)")
        default: break
        }
    }

    private func tell(_ peer: PeerIdentity) {
        let key = PeerNames.key(peer, byteCount: 16)
        if isJSON { return printLine(PrintableText(json: Object(event: "paired", name: peer.name, key: key))) }
        printLine("paired with \(peer.name)  \(key)")
    }

    private func tell(_ pairing: PeerPairing) {
        let seconds = limit.components.seconds
        if isJSON {
            return printLine(PrintableText(json: Object(event: "offered", text: pairing.text, seconds: seconds)))
        }
        printLine("\(pairing.text)")
        guard OpenFile.standardOutput.kind == .terminal else { return }
        printLine("On the other host, within \(seconds) seconds: nw peers pair \(service) TEXT")
        let picture = Tool.output("qrencode", ["-t", "UTF8", "-m", "2", "-o", "-", pairing.text])
        if let picture { printLine(PrintableText(lines: picture.split(separator: "\n"))) }
    }
}
