import CausewayHTTPProtocols
import CausewayWire
import Foundation

@testable import CausewayURLLoading

/// Runs the ``CacheVector`` tests against the cache. The server is simulated, and a virtual clock sets the time.
final class CacheVectorPlayer {
    /// The response that the client gets, and how it was produced.
    struct Outcome {
        var status: Int
        var fields: FieldSection
        var content: Data
        /// The fields of the request that the server received; `nil` if it received no request.
        var sent: FieldSection?
        var isConfirmed = false
    }

    private let vector: CacheVector
    private let makeCache: () -> URLCache
    private let url: String
    /// The virtual time in seconds since 1970.
    private var now = 1_790_000_000
    private var previous: CacheVector.Step?

    init(_ vector: CacheVector, makeCache: @escaping () -> URLCache) {
        self.vector = vector
        self.makeCache = makeCache
        url = "http://cache.test/\(vector.id)"
    }

    /// Returns the first expectation that does not hold; `nil` if all hold.
    func firstProblem() -> String? {
        for (index, step) in vector.steps.enumerated() {
            let outcome = play(step)
            if let problem = problem(step, outcome) { return "request \(index + 1): \(problem)" }
            if step.pausesAfter { now += 3 }
            previous = step
        }
        return nil
    }

    private func problem(_ step: CacheVector.Step, _ outcome: Outcome) -> String? {
        switch step.expectedType {
        case "cached": if outcome.sent != nil { return "not from the cache" }
        case "not_cached": if outcome.sent == nil || outcome.isConfirmed { return "from the cache" }
        case "etag_validated": if outcome.sent?.contains("If-None-Match") != true { return "no If-None-Match" }
        case "lm_validated": if outcome.sent?.contains("If-Modified-Since") != true { return "no If-Modified-Since" }
        default: break
        }
        if let status = step.expectedStatus, status != outcome.status { return "status \(outcome.status)" }
        let text = String(decoding: outcome.content, as: UTF8.self)
        if let expected = step.expectedText, expected != text { return "content \(text)" }
        for (name, value) in step.expectedRequest where outcome.sent?.firstValue(of: name) != value {
            return "request without \(name): \(value)"
        }
        for (name, value) in step.expectedResponse where !outcome.fields.values(of: name).contains(value) {
            return "response without \(name): \(value)"
        }
        for name in step.missingResponse where outcome.fields.contains(name) { return "response with \(name)" }
        return nil
    }

    // MARK: The client

    private func play(_ step: CacheVector.Step) -> Outcome {
        let cache = makeCache()
        // Wait until the cache's queue has written its files.
        defer { _ = cache.currentDiskUsage }
        var fields = FieldSection()
        for (name, value) in step.requestFields { fields.append(name, value) }
        let key = MemoryCache.Key(method: "GET", url: url)
        let question = CacheQuestion(method: "GET", fields: fields, use: .byProtocol, now: now)
        var entries = cache.memoryEntries(for: key)
        if CacheEntry.selected(from: entries, for: fields) == nil { entries = cache.disk.entries(for: key) }
        switch question.decide(entries) {
        case (.reuse, let entry?), (.reuseAndValidate, let entry?):
            guard let answer = question.answer(from: entry) else { return exchange(step, fields, nil, cache, key) }
            return outcome(answer)
        case (.validate, let entry?): return exchange(step, fields, entry, cache, key)
        default: return exchange(step, fields, nil, cache, key)
        }
    }

    private func outcome(_ cached: CachedURLResponse) -> Outcome {
        let http = cached.response as? HTTPURLResponse
        return Outcome(
            status: http?.statusCode ?? 0, fields: http?.fields ?? FieldSection(), content: cached.data, sent: nil)
    }

    private func exchange(
        _ step: CacheVector.Step, _ fields: FieldSection, _ validated: CacheEntry?, _ cache: URLCache,
        _ key: MemoryCache.Key
    ) -> Outcome {
        var sent = fields
        validated?.head?.addConditions(to: &sent)
        let (status, received, content) = serve(step, sent)
        if status == 304, let validated, validated.head?.isConfirmed(by: received) == true {
            let fresh = validated.freshened(
                with: received, requestTime: now, responseTime: now, at: Date(timeIntervalSince1970: Double(now)))
            cache.store(fresh, for: key)
            var result = outcome(fresh.response)
            (result.sent, result.isConfirmed) = (sent, true)
            return result
        }
        let answer = HTTPURLResponse(
            url: URL(string: url), statusCode: status, version: "HTTP/1.1", fields: received, isDecoded: false)
        let question = CacheExchange(fields: fields, requestTime: now, responseTime: now)
        if CachePolicy.isStorable(method: "GET", request: fields, status: status, fields: received),
            let entry = CacheEntry(
                CachedURLResponse(response: answer, data: content), exchange: question,
                at: Date(timeIntervalSince1970: Double(now)))
        {
            cache.store(entry, for: key)
        }
        return Outcome(status: status, fields: received, content: content, sent: sent)
    }

    // MARK: The server

    private func serve(_ step: CacheVector.Step, _ request: FieldSection) -> (Int, FieldSection, Data) {
        var fields = FieldSection()
        for (name, value) in step.responseFields {
            switch value {
            case .text(let text): fields.append(name, text)
            case .number(let offset) where ["Date", "Expires", "Last-Modified"].contains(name):
                fields.append(name, HTTPDate.text(now + offset))
            case .number(let number): fields.append(name, String(number))
            }
        }
        if !fields.contains("Date") { fields.append("Date", HTTPDate.text(now)) }
        if step.expectedType?.hasSuffix("validated") == true, isCurrent(request) { return (304, fields, Data()) }
        return (step.status, fields, Data((step.body ?? vector.id).utf8))
    }

    /// Whether the request contains a validator from the previous response, such as its entity tag.
    private func isCurrent(_ request: FieldSection) -> Bool {
        for (name, condition) in [("ETag", "If-None-Match"), ("Last-Modified", "If-Modified-Since")] {
            guard let value = previous?.responseFields.first(where: { $0.0 == name })?.1 else { continue }
            let text =
                switch value {
                case .text(let text): text
                case .number(let offset): HTTPDate.text(now + offset)
                }
            if request.firstValue(of: condition) == text { return true }
        }
        return false
    }
}
