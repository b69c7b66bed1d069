import CausewayLines
import CausewayPeers
import CausewayTypes
import Foundation

/// `nw chat --peers`: exchanges lines with all peers of a service on the local network.
///
/// The command invites every peer that it finds, and accepts every invitation. If two peers invite each other, only one
/// connection remains.
struct PeerChat: Sendable {
    let service: String
    let name: String

    func run() async throws {
        let session: PeerSession
        do {
            session = try PeerSession(as: .rotating(named: name), service: service)
        } catch {
            throw CommandFailure("chat as '\(name)' failed: \(error.message)")
        }
        defer { session.leave() }
        try await untilInterrupted {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask { try await talk(session) }
                group.addTask {
                    try await listen(session)
                    return true
                }
                defer { group.cancelAll() }
                while let isOver = try await group.next(), !isOver {}
            }
        }
    }

    /// Sends the lines that the user types. Returns whether the end of input also ends the chat. On a terminal, it
    /// does.
    private func talk(_ session: PeerSession) async throws -> Bool {
        var typed = TypedLines()
        while let chunk = try await StandardInput.shared.next(atMost: 16_384) {
            for entry in typed.append(chunk) { try await send(entry, session) }
        }
        if let last = typed.last() { try await send(last, session) }
        return StandardInput.shared.isTerminal
    }

    private func send(_ entry: TypedLines.Entry, _ session: PeerSession) async throws {
        switch entry {
        case .line(let line):
            guard !session.peers.isEmpty else { return printError("nw: chat: not sent: no peer is connected") }
            do {
                try await session.send(line)
            } catch let failure as PeerFailure {
                printError("nw: chat: not sent to all: \(failure.message)")
            }
        case .tooLong(let count):
            printError("nw: chat: not sent: the line has \(count) bytes; the maximum is \(LineFormat.limit)")
        }
    }

    private func listen(_ session: PeerSession) async throws {
        try await withThrowingTaskGroup(of: Void.self) { invitations in
            for try await event in session.events {
                switch event {
                // Ignore the error here: the session also reports a failed invitation as an event.
                case .found(let peer, _): invitations.addTask { try? await session.invite(peer) }
                case .invited(let invite): invite.accept()
                case .joined(let peer): printError("nw: chat: \(peer.name) joined")
                case .left(let peer, let failure): printError("nw: chat: \(peer.name) left: \(failure.message)")
                case .received(let line, let peer):
                    try await StandardOutput.write("\(peer.name): \(String(decoding: line, as: UTF8.self))\n")
                case .updated, .lost, .suspended, .resumed, .stream, .receiving, .file, .fileFailed, .compare, .paired,
                    .unsaved,
                    .refused:
                    break
                }
            }
            invitations.cancelAll()
        }
    }
}
