internal import CausewayTypes
package import CausewayWire

/// Detects a captive portal: requests a page from a known web server, and checks whether the network itself answers,
/// for example with a login page (RFC 7710 §1).
///
/// The probe does no I/O: the owner sends ``request`` and passes on the received bytes.
package struct CaptiveProbe: Sendable {
    package enum Expectation: Hashable, Sendable {
        /// The expected response has this status code.
        case status(Int)
        /// The server answers with a web page that contains this text.
        case text(String)
    }

    package enum Verdict: Equatable, Sendable {
        /// The known server answered, so there is no captive portal (login page).
        case open
        /// The network answered instead of the server. `portal` is the login page's URL, if the network names one.
        case captive(portal: String?)
        /// The probe has no clear result. The response is not the expected response of the server, and it shows no
        /// portal. The text describes the response.
        case unclear(String)
    }

    /// The maximum number of bytes of the web page to examine.
    private static let pageLimit = 64 << 10

    /// The request uses HTTP/1.0, so that the server does not send the page in chunks (RFC 9112 §6.1).
    package let request: [UInt8]
    private let expectation: Expectation
    private var reader = HeadReader(.response, limits: .upgrade)
    private var head: HTTPResponseHead?
    private var page: [UInt8] = []

    /// - Parameters:
    ///   - authority: The URL's host and port: `example.com:8080`.
    ///   - target: The path with the query: `/generate_204`.
    /// - Throws: ``UpgradeError/unwritable(_:)`` if the authority or the target is empty or contains other characters
    ///   than visible ASCII characters, or if the target does not begin with a slash.
    package init(authority: String, target: String, expecting expectation: Expectation) throws(UpgradeError) {
        self.expectation = expectation
        let head = try PlainRequest.head(
            authority: authority, target: target, version: .http10, ("Cache-Control", "no-cache"))
        var bytes: [UInt8] = []
        do {
            try head.encode(into: &bytes)
        } catch {
            throw UpgradeError(error)
        }
        request = bytes
    }

    /// Processes received bytes.
    ///
    /// - Returns: The verdict, as soon as there is one. Do not call this method again after a verdict.
    package mutating func take(_ bytes: [UInt8]) -> Verdict? {
        var rest = bytes[...]
        if head == nil {
            do throws(HTTPSyntaxError) {
                rest = rest.dropFirst(try reader.take(rest))
                guard let found = reader.finishResponse() else { return nil }
                head = found
                if let verdict = verdict(on: found) { return verdict }
            } catch {
                return .unclear("the response is not HTTP")
            }
        }
        page += rest.prefix(Self.pageLimit - page.count)
        if pageIsExpected { return .open }
        return page.count == Self.pageLimit || page.count >= length ?? .max ? .captive(portal: nil) : nil
    }

    /// Reports that the server has closed the connection. Returns the verdict on the network.
    package mutating func end() -> Verdict {
        head == nil ? .unclear("the connection closed before a response") : .captive(portal: nil)
    }

    /// Returns the verdict on the network. Returns `nil` if the response head does not suffice and the body must be
    /// checked too.
    private func verdict(on head: HTTPResponseHead) -> Verdict? {
        if case .status(head.status) = expectation { return .open }
        switch head.status {
        case 200:
            if case .text = expectation { return nil }
            return .captive(portal: nil)
        case 201..<300: return .captive(portal: nil)
        case 300..<400: return .captive(portal: head.fields.onlyValue(of: "Location"))
        // 511 is the status "Network Authentication Required" (RFC 6585 §6).
        case 511: return .captive(portal: nil)
        default: return .unclear("status \(head.status)")
        }
    }

    private var length: Int? {
        head?.fields.onlyValue(of: "Content-Length").flatMap { Int(digits: $0) }
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
