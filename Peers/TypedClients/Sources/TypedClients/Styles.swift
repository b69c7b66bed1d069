import CausewayClient
import CausewayURLLoading
import Foundation

/// The document `{"items": [{"name": "text"}]}` as structures.
struct Structures: Codable, Sendable {
    struct Item: Codable, Sendable {
        var name: String
    }

    var items: [Item]
}

/// The same document decoded as dictionaries. `JSONDecoder` needs twice the time for this form.
struct Dictionaries: Codable, Sendable {
    var items: [[String: String]]
}

/// One way of fetching the document. The program compares several.
struct Style: Sendable {
    let name: String
    let get: @Sendable () async throws -> Void
    let end: @Sendable () async throws -> Void
}

extension Style {
    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        return configuration
    }

    /// The style `data(for:)`: loads the content with `URLSession` and does not decode it.
    static func bare(_ url: URL) -> Style {
        let session = URLSession(configuration: configuration)
        return Style(name: "data(for:)") {
            _ = try await session.data(for: URLRequest(url: url))
        } end: {
            session.invalidateAndCancel()
        }
    }

    /// `data(for:)` of `URLSession` with `JSONDecoder`.
    static func decoded<Document: Decodable & Sendable>(_ url: URL, as type: Document.Type) -> Style {
        let session = URLSession(configuration: configuration)
        let decoder = JSONDecoder()
        return Style(name: "data(for:), decoded as \(type)") {
            _ = try decoder.decode(Document.self, from: try await session.data(for: URLRequest(url: url)).0)
        } end: {
            session.invalidateAndCancel()
        }
    }

    /// The typed GET of `CausewayClient`.
    static func typed<Document: Decodable & Sendable>(_ url: URL, as type: Document.Type) throws -> Style {
        let client = try HTTPClient(
            baseURL: url.deletingLastPathComponent(), configuration: HTTPClient.Configuration(session: configuration))
        let name = url.lastPathComponent
        return Style(name: "typed as \(type)") {
            _ = try await client.get("\(name)") as Document
        } end: {
        }
    }
}
