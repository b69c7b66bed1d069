// Shows late binding: the chosen service is saved, not its address; swift run SavedService FILE resolves it again
import CausewayBonjour
import Foundation
import Network

@main
enum SavedService {
    static func main() async throws {
        guard CommandLine.arguments.count <= 2 else {
            print("usage: SavedService [FILE]")
            exit(64)
        }
        let file = URL(fileURLWithPath: CommandLine.arguments.dropFirst().first ?? "chosen-service.json")
        let chosen = try await saved(in: file)
        for try await place in try ServiceDiscovery.resolve(chosen) {
            print("\(chosen.name) is at \(place.host) port \(place.port)")
            break
        }
        // The endpoint contains only the name. It is resolved when the connection starts, and again if the connection has to wait.
        let connection = NWConnection(to: chosen.endpoint, using: .tcp)
        let (states, feed) = AsyncStream<NWConnection.State>.makeStream()
        connection.stateUpdateHandler = { feed.yield($0) }
        connection.start(queue: .main)
        for await state in states {
            print("\(state)")
            if case .ready = state { break }
        }
        connection.cancel()
    }

    static func saved(in file: URL) async throws -> ServiceDiscovery.Identity {
        if let data = try? Data(contentsOf: file) {
            return try JSONDecoder().decode(ServiceDiscovery.Identity.self, from: data)
        }
        print("browsing for the first service of type _greeting._tcp")
        for try await case .added(let identity) in try ServiceDiscovery.browse("_greeting._tcp") {
            try JSONEncoder().encode(identity).write(to: file)
            return identity
        }
        throw CancellationError()
    }
}
