// Shows a session of nearby peers: all who run it on one network share a chat: swift run PeerChat NAME
import CausewayPeers
import Foundation

@main
enum PeerChat {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            print("usage: PeerChat NAME")
            exit(64)
        }
        let session = try PeerSession(as: .rotating(named: CommandLine.arguments[1]), service: "cw-chat", limit: 32)
        let typing = Task {
            for await line in lines() { try await session.send(Data(line.utf8)) }
            session.leave()
            // The goodbye leaves within half a second.
            try await Task.sleep(for: .milliseconds(600))
            exit(0)
        }
        defer { typing.cancel() }
        for try await event in session.events {
            switch event {
            case .found(let peer, _):
                // Both peers find each other and invite: one link is made.
                Task { try? await session.invite(peer) }
            case .invited(let invite): invite.accept()
            case .joined(let peer): say("* \(peer.name) joined")
            case .suspended(let peer): say("* \(peer.name) does not answer")
            case .resumed(let peer): say("* \(peer.name) is back")
            case .left(let peer, let reason): say("* \(peer.name) left: \(reason)")
            case .received(let message, let peer):
                say("\(peer.name): \(String(decoding: message, as: UTF8.self))")
            default: break
            }
        }
    }

    /// Prints a line at once, also to a pipe.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    /// The typed lines. A thread reads them, because reading blocks.
    private static func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }
}
