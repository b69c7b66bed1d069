// Shows a counter that peers share, as a distributed actor: swift run SharedCounter host, and elsewhere swift run SharedCounter add 5
import CausewayPeerActors
import CausewayPeers
import Distributed
import Foundation

distributed actor Counter {
    typealias ActorSystem = PeerActorSystem

    private var value = 0

    distributed func add(_ amount: Int) -> Int {
        value += amount
        say("\(amount) added: \(value)")
        return value
    }
}

extension PeerActorKey<Counter> {
    static var shared: Self { "shared" }
}

/// Prints a line at once, also to a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

@main
enum SharedCounter {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        let amount = words.count == 2 && words[0] == "add" ? Int(words[1]) : nil
        guard words == ["host"] || amount != nil else {
            print("usage: SharedCounter host | add NUMBER")
            exit(64)
        }
        let session = try PeerSession(as: .rotating(named: words[0]), service: "cw-counter", limit: 32)
        let system = PeerActorSystem(session)
        let meeting = Task { try await meet(session) }
        defer { meeting.cancel() }
        if let amount {
            // Waits until the host is found and has joined.
            let counter: Counter = try await system.receptionist.firstRemote(.shared)
            say("the counter is at \(try await counter.add(amount))")
        } else {
            try system.receptionist.publish(Counter(actorSystem: system), under: .shared)
            try await meeting.value
        }
        system.stop()
    }

    /// Joins all peers that are found.
    private static func meet(_ session: PeerSession) async throws {
        for try await event in session.events {
            switch event {
            case .found(let peer, _): Task { try? await session.invite(peer) }
            case .invited(let invite): invite.accept()
            default: break
            }
        }
    }
}
