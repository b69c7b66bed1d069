package import CausewayWire

/// A question to a known web server, and what its answer tells of the network in between: whether it answers itself, as networks do
/// that want a login first (RFC 7710 §1).
///
/// It does no I/O: the owner sends ``request`` and passes on what arrives.
package struct CaptiveProbe: Sendable {
    package enum Expectation: Hashable, Sendable {
        /// The server answers with this status.
        case status(Int)
        /// The server answers with a page that holds this text.
        case text(String)
    }

    package enum Verdict: Equatable, Sendable {
        /// The server itself has answered.
        case open
        /// Somebody else has, and may have named a page.
        case captive(portal: String?)
        /// Neither can be said. The text tells what arrived.
        case unclear(String)
    }

    /// Bytes of a page that are looked at.
    private static let pageLimit = 64 << 10

    /// Of version 1.0, so that a page comes in one piece (RFC 9112 §6.1).
    package let request: [UInt8]
    private let expectation: Expectation
    private var scanner = UpgradeHeadScanner()
    private var head: AnswerHead?
    private var page: [UInt8] = []

    /// - Parameters:
    ///   - authority: What stands in the URL: `example.com:8080`.
    ///   - target: The path with the query: `/generate_204`.
    /// - Throws: ``UpgradeError/unwritable(_:)`` for what would not be one line.
    package init(authority: String, target: String, expecting expectation: Expectation) throws(UpgradeError) {
        self.expectation = expectation
        request = try PlainRequest.bytes(
            authority: authority, target: target, version: "1.0", ["Cache-Control: no-cache"])
    }

    /// Takes what has arrived.
    ///
    /// - Returns: The verdict as soon as there is one; nothing may be given after that.
    package mutating func take(_ bytes: [UInt8]) -> Verdict? {
        var rest = bytes[...]
        if head == nil {
            do throws(UpgradeError) {
                rest = rest.dropFirst(try scanner.take(rest))
                guard scanner.isComplete else { return nil }
                let found = try AnswerHead(parsing: scanner.head)
                head = found
                if let verdict = verdict(on: found) { return verdict }
            } catch {
                return .unclear("the answer is not HTTP")
            }
        }
        page += rest.prefix(Self.pageLimit - page.count)
        if pageIsExpected { return .open }
        return page.count == Self.pageLimit || page.count >= length ?? .max ? .captive(portal: nil) : nil
    }

    /// The server has ended the connection.
    package mutating func end() -> Verdict {
        head == nil ? .unclear("the connection ended before an answer") : .captive(portal: nil)
    }

    /// What the head alone tells.
    private func verdict(on head: AnswerHead) -> Verdict? {
        if case .status(head.status) = expectation { return .open }
        switch head.status {
        case 200:
            if case .text = expectation { return nil }
            return .captive(portal: nil)
        case 201..<300: return .captive(portal: nil)
        case 300..<400: return .captive(portal: head.fields.onlyValue(of: "Location"))
        // RFC 6585 §6.
        case 511: return .captive(portal: nil)
        default: return .unclear("status \(head.status)")
        }
    }

    private var length: Int? {
        head?.fields.onlyValue(of: "Content-Length").flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    private var pageIsExpected: Bool {
        guard case .text(let text) = expectation else { return false }
        let wanted = Array(text.utf8)
        guard !wanted.isEmpty, page.count >= wanted.count else { return wanted.isEmpty }
        return (0...(page.count - wanted.count)).contains { start in
            page[start..<(start + wanted.count)].elementsEqual(wanted)
        }
    }
}
