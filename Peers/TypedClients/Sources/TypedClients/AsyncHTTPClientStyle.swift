import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat

extension Style {
    /// A client that uses AsyncHTTPClient with `JSONDecoder`.
    static func asyncHTTPClient<Document: Decodable & Sendable>(_ address: String, as type: Document.Type) -> Style {
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        let decoder = JSONDecoder()
        return Style(name: "AsyncHTTPClient, decoded as \(type)") {
            let response = try await client.execute(HTTPClientRequest(url: address), timeout: .seconds(10))
            let content = try await response.body.collect(upTo: 1 << 24)
            _ = try decoder.decode(Document.self, from: content)
        } end: {
            try await client.shutdown()
        }
    }
}
