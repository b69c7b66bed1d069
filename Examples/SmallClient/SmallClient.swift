// Shows a client without Foundation, small when linked statically: swift run SmallClient localhost 7000
// swift build -c release --static-swift-stdlib --product SmallClient
import Causeway

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

@main
enum SmallClient {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let port = NWEndpoint.Port(arguments[2]) else {
            print("usage: SmallClient HOST PORT")
            exit(64)
        }
        let endpoint = NWEndpoint.hostPort(host: NWEndpoint.Host(arguments[1]), port: port)
        try await withNetworkConnection(to: endpoint) {
            TCP()
        } _: { connection in
            // Many messages begin with a number in network byte order.
            try await connection.send(UInt32(42))
            let answer = try await connection.receive(as: UInt32.self)
            print("the answer is \(answer.content)")
        }
    }
}
