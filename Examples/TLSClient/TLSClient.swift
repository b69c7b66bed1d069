// Shows TLS with ALPN, and the negotiated values: swift run TLSClient example.org
import Causeway
import Foundation

@main
enum TLSClient {
    static func main() async throws {
        guard CommandLine.arguments.count <= 2 else {
            print("usage: TLSClient [HOST]")
            exit(64)
        }
        let host = CommandLine.arguments.dropFirst().first ?? "example.org"
        let endpoint = NWEndpoint.hostPort(host: NWEndpoint.Host(host), port: 443)

        try await withNetworkConnection(to: endpoint) {
            TLS {
                TCP().noDelay(true)
            }
            .applicationProtocols(["http/1.1"])
            .version(min: .TLSv12)
        } _: { connection in
            // If the certificate is not trusted, the connection stays in the waiting state: no data is sent.
            connection.onStateUpdate { _, state in print("now \(state)") }
            let request = "HEAD / HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"
            try await connection.send(Array(request.utf8))
            if let tls = connection.metadata(definition: NWProtocolTLS.definition) as? NWProtocolTLS.Metadata {
                let version = sec_protocol_metadata_get_negotiated_tls_protocol_version(tls.securityProtocolMetadata)
                print("agreed on \(version)")
            }
            while true {
                let (content, metadata) = try await connection.receive(atMost: 65_536)
                print(String(decoding: content, as: UTF8.self), terminator: "")
                if metadata.endOfStream { return }
            }
        }
    }
}
