import Causeway
import CausewayLines
import FoundationEssentials

/// Sends the typed lines and prints the received lines, until both sides have ended.
struct Conversation: Sendable {
    private enum End {
        case input
        case peer
    }

    let transport: any LineTransport

    func run() async throws {
        try await withThrowingTaskGroup(of: End.self) { group in
            group.addTask {
                try await talk()
                return .input
            }
            group.addTask {
                try await listen()
                return .peer
            }
            defer {
                transport.close()
                group.cancelAll()
            }
            var ended = 0
            while ended < 2, let end = try await group.next() {
                ended += 1
                // On a terminal, exit when the peer has ended. The user sees no other sign that the peer has ended.
                if end == .peer, StandardInput.shared.isTerminal { return }
            }
        }
    }

    private func talk() async throws {
        var typed = TypedLines()
        while let chunk = try await StandardInput.shared.next(atMost: 16_384) {
            for entry in typed.append(chunk) { try await send(entry) }
        }
        if let last = typed.last() { try await send(last) }
        try await sending { try await transport.sendEnd() }
    }

    private func send(_ entry: TypedLines.Entry) async throws {
        switch entry {
        case .line(let line): try await sending { try await transport.send(line) }
        case .tooLong(let count):
            printError("nw: chat: not sent: the line has \(count) bytes; the maximum is \(LineFormat.limit)")
        }
    }

    private func sending(_ body: () async throws -> Void) async throws {
        do { try await body() } catch { throw CommandFailure("send to \(transport.peer) failed", error) }
    }

    private func listen() async throws {
        while let line = try await receive() {
            try await StandardOutput.write("\(String(decoding: line, as: UTF8.self))\n")
        }
    }

    private func receive() async throws -> Data? {
        do {
            return try await transport.next()
        } catch LineProblem.tooLong {
            throw CommandFailure("\(transport.peer) sent a line of more than \(LineFormat.limit) bytes")
        } catch LineProblem.unfinished {
            throw CommandFailure("\(transport.peer) closed the connection in the middle of a line")
        } catch {
            throw CommandFailure("receive from \(transport.peer) failed", error)
        }
    }
}
