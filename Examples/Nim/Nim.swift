// Shows a game in turns of two peers, who take 1 to 3 sticks, and the last one wins: swift run Nim NAME on two hosts or terminals
import CausewayPeerActors
import CausewayPeers
import Distributed
import Foundation

distributed actor Player {
    typealias ActorSystem = PeerActorSystem

    private let result: AsyncStream<String>.Continuation

    init(_ result: AsyncStream<String>.Continuation, _ system: PeerActorSystem) {
        actorSystem = system
        self.result = result
    }

    /// The number of sticks that this player takes.
    distributed func move(of pile: Int) -> Int { pile % 4 == 0 ? Int.random(in: 1...3) : pile % 4 }

    distributed func finished(_ text: String) { result.yield(text) }
}

@main
enum Nim {
    static func main() async throws {
        guard let name = CommandLine.arguments.last, CommandLine.arguments.count == 2 else {
            print("usage: Nim NAME")
            exit(64)
        }
        let session = try PeerSession(as: .rotating(named: name), service: "cw-nim", limit: 2)
        let system = PeerActorSystem(session)
        let (results, result) = AsyncStream.makeStream(of: String.self)
        let own = Player(result, system)
        try system.receptionist.publish(own, under: "player")
        Task {
            for try await event in session.events {
                if case .found(let peer, _) = event { Task { try? await session.invite(peer) } }
                if case .invited(let invite) = event { invite.accept() }
            }
        }
        let other: Player = try await system.receptionist.firstRemote("player")
        // One of both leads the game.
        if system.me.id < other.id.peer.id { try await lead([own, other], sticks: 21) }
        for await text in results.prefix(1) { print(text) }
        system.stop()
    }

    private static func lead(_ players: [Player], sticks: Int) async throws {
        var (pile, turn) = (sticks, 0)
        while pile > 0 {
            turn = 1 - turn
            // The other program is not trusted: a wrong move takes one stick.
            let wanted = try await players[turn].move(of: pile)
            let taken = (1...min(3, pile)).contains(wanted) ? wanted : 1
            pile -= taken
            print("\(turn == 0 ? "I take" : "the other takes") \(taken), \(pile) are left")
        }
        for index in 0...1 { try? await players[index].finished(index == turn ? "won" : "lost") }
    }
}
