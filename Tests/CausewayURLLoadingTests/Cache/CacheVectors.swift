import CausewayProtocols
import CausewayWire
import Foundation

@testable import CausewayURLLoading

/// One test of the http-tests/cache-tests suites: requests, the server's answers, and what a cache must do.
struct CacheVector: Sendable, CustomStringConvertible {
    /// The kind of a cache test: a required behaviour, an optimal one, or a check.
    enum Kind: String, Sendable {
        case required, optimal, check
    }

    /// A request, the server's response, and the result that the client must get.
    struct Step: Sendable {
        var requestFields: [(String, String)] = []
        var status = 200
        /// The header fields. A number stands for a date relative to the time of the answer.
        var responseFields: [(String, Text)] = []
        var body: String?
        var pausesAfter = false
        var expectedType: String?
        var expectedStatus: Int?
        var expectedText: String?
        var expectedRequest: [(String, String)] = []
        var expectedResponse: [(String, String)] = []
        var missingResponse: [String] = []
    }

    /// The value of a header field in a test.
    enum Text: Sendable {
        case text(String)
        case number(Int)
    }

    var suite: String
    var id: String
    var kind: Kind
    /// Whether the test concerns only shared caches and intermediaries.
    var isForSharedCaches: Bool
    var steps: [Step]

    var description: String { "\(suite)/\(id)" }

    /// All tests in the test data file; empty if the file is missing.
    static let all: [CacheVector] = {
        guard let data = data(),
            let suites = try? JSONSerialization.jsonObject(with: data) as? [[String: Any]]
        else { return [] }
        return suites.flatMap { suite in
            (suite["tests"] as? [[String: Any]] ?? []).map { CacheVector($0, suite["id"] as? String ?? "") }
        }
    }()

    private static func data() -> Data? {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { folder.deleteLastPathComponent() }
        for root in [folder, folder.deletingLastPathComponent()] {
            let file = root.appendingPathComponent("shared/data/http/cache-tests.json")
            if let data = try? Data(contentsOf: file) { return data }
        }
        print("SKIPPED: cache-tests.json: no shared/data/http next to this checkout")
        return nil
    }

    private init(_ test: [String: Any], _ suite: String) {
        self.suite = suite
        id = test["id"] as? String ?? ""
        kind = (test["kind"] as? String).flatMap { Kind(rawValue: $0) } ?? .required
        isForSharedCaches = test["browser_skip"] as? Bool ?? false
        steps = (test["requests"] as? [[String: Any]] ?? []).map { Step($0) }
    }
}

extension CacheVector.Step {
    init(_ step: [String: Any]) {
        requestFields = Self.pairs(step["request_headers"])
        if step["cache"] as? String == "no-cache" { requestFields.append(("Cache-Control", "max-age=0")) }
        status = (step["response_status"] as? [Any])?.first as? Int ?? 200
        for pair in step["response_headers"] as? [[Any]] ?? [] where pair.count >= 2 {
            guard let name = pair[0] as? String else { continue }
            if let text = pair[1] as? String {
                responseFields.append((name, .text(text)))
            } else if let number = pair[1] as? Int {
                responseFields.append((name, .number(number)))
            }
        }
        body = step.keys.contains("response_body") ? step["response_body"] as? String ?? "" : nil
        pausesAfter = step["pause_after"] as? Bool ?? false
        expectedType = step["expected_type"] as? String
        expectedStatus = step["expected_status"] as? Int
        expectedText = step["expected_response_text"] as? String
        expectedRequest = Self.pairs(step["expected_request_headers"])
        expectedResponse = Self.pairs(step["expected_response_headers"])
        for item in step["expected_response_headers_missing"] as? [Any] ?? [] {
            if let name = item as? String ?? (item as? [String])?.first { missingResponse.append(name) }
        }
    }

    private static func pairs(_ value: Any?) -> [(String, String)] {
        (value as? [[Any]] ?? []).compactMap { pair in
            guard pair.count >= 2, let name = pair[0] as? String, let text = pair[1] as? String else { return nil }
            return (name, text)
        }
    }
}
