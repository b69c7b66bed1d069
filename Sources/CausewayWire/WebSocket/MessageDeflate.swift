/// The `permessage-deflate` extension parameters (RFC 7692 §7.1): a client's offer or a server's answer.
package struct MessageDeflate: Equatable, Sendable {
    /// The limit on the LZ77 window size for one direction of the connection.
    package enum Window: Equatable, Sendable {
        /// The parameter is absent, so the window may have its full size (15 bits).
        case unlimited
        /// The parameter is present without a value: the client can limit its window if the server asks for a limit
        /// (RFC 7692 §7.1.2.2).
        case supported
        /// The window has at most this many bits, 8 to 15.
        case bits(Int)

        /// The maximum window size in bits.
        package var maximumBits: Int { if case .bits(let bits) = self { bits } else { 15 } }
    }

    /// The extension name.
    package static let name = "permessage-deflate"

    /// Whether the server compresses each message independently (RFC 7692 §7.1.1.1).
    package var serverNoContextTakeover = false
    /// Whether the client compresses each message independently (RFC 7692 §7.1.1.2).
    package var clientNoContextTakeover = false
    package var serverWindow = Window.unlimited
    package var clientWindow = Window.unlimited

    package init() {}

    /// Parses a `Sec-WebSocket-Extensions` element. Returns `nil` if it is another extension, or if a parameter is
    /// unknown, repeated or invalid. A server declines an invalid offer; a client ends the connection after an invalid
    /// answer (RFC 7692 §7.1).
    package init?(parsing element: String) {
        // There are four parameters, so a longer list has a repeated or unknown parameter.
        let parts = element.utf8.split(
            separator: HTTPCharacters.semicolon, maxSplits: 5, omittingEmptySubsequences: false
        )
        .map(Self.trimmed)
        guard let first = parts.first, HTTPCharacters.areEqual(first, Self.name), parts.count <= 5 else { return nil }
        var names: Set<String> = []
        for part in parts.dropFirst() {
            let pair = part.utf8.split(
                separator: HTTPCharacters.equals, maxSplits: 1, omittingEmptySubsequences: false
            ).map(Self.trimmed)
            guard let name = pair.first, names.insert(name).inserted, set(name, pair.count == 2 ? pair[1] : nil) else {
                return nil
            }
        }
    }

    private mutating func set(_ name: String, _ value: String?) -> Bool {
        switch (name, value) {
        case ("server_no_context_takeover", nil): serverNoContextTakeover = true
        case ("client_no_context_takeover", nil): clientNoContextTakeover = true
        case ("client_max_window_bits", nil): clientWindow = .supported
        case ("server_max_window_bits", let value?):
            guard let bits = Self.bits(value) else { return false }
            serverWindow = .bits(bits)
        case ("client_max_window_bits", let value?):
            guard let bits = Self.bits(value) else { return false }
            clientWindow = .bits(bits)
        default: return false
        }
        return true
    }

    /// Parses a number from 8 to 15 without leading zeros. The number may be in quotation marks (RFC 7692 §5.2).
    private static func bits(_ text: String) -> Int? {
        var digits = text[...]
        if digits.utf8.count >= 2, digits.hasPrefix("\""), digits.hasSuffix("\"") {
            digits = digits.dropFirst().dropLast()
        }
        return (8...15).first { String($0) == digits }
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        let front = text.drop(while: HTTPCharacters.isSpace)
        guard let last = front.lastIndex(where: { !HTTPCharacters.isSpace($0) }) else { return "" }
        return String(Substring(front[...last]))
    }

    /// The parameters as a `Sec-WebSocket-Extensions` element.
    package var serialized: String {
        var text = Self.name
        if serverNoContextTakeover { text += "; server_no_context_takeover" }
        if clientNoContextTakeover { text += "; client_no_context_takeover" }
        if case .bits(let bits) = serverWindow { text += "; server_max_window_bits=\(bits)" }
        switch clientWindow {
        case .unlimited: break
        case .supported: text += "; client_max_window_bits"
        case .bits(let bits): text += "; client_max_window_bits=\(bits)"
        }
        return text
    }

    /// Returns the valid offers among the elements of a client's `Sec-WebSocket-Extensions` fields, in order.
    package static func offers(in elements: [String]) -> [MessageDeflate] {
        elements.compactMap { MessageDeflate(parsing: $0) }
    }

    /// Returns the server's answer to the client's preferred offer; `nil` if there are no offers (RFC 7692 §5.1).
    ///
    /// - Parameter own: The restrictions that the server wants.
    package static func answer(to offers: [MessageDeflate], own: MessageDeflate = MessageDeflate()) -> MessageDeflate? {
        guard let offer = offers.first else { return nil }
        var answer = MessageDeflate()
        answer.serverNoContextTakeover = own.serverNoContextTakeover || offer.serverNoContextTakeover
        answer.clientNoContextTakeover = own.clientNoContextTakeover || offer.clientNoContextTakeover
        answer.serverWindow = offer.serverWindow.narrower(own.serverWindow)
        // The answer must not limit a client that did not send `client_max_window_bits` (RFC 7692 §7.1.2.2).
        if offer.clientWindow != .unlimited, case .bits = own.clientWindow {
            answer.clientWindow = own.clientWindow.narrower(offer.clientWindow)
        }
        return answer
    }

    /// Returns whether these parameters are a valid answer from a server to the client's offer (RFC 7692 §7.1).
    package func isValidAnswer(to offer: MessageDeflate) -> Bool {
        if offer.serverNoContextTakeover, !serverNoContextTakeover { return false }
        if case .bits(let limit) = offer.serverWindow {
            guard case .bits(let bits) = serverWindow, bits <= limit else { return false }
        }
        switch (clientWindow, offer.clientWindow) {
        case (.unlimited, _): return true
        case (.supported, _), (.bits, .unlimited): return false
        case (.bits, .supported): return true
        case (.bits(let bits), .bits(let limit)): return bits <= limit
        }
    }
}

extension MessageDeflate.Window {
    fileprivate func narrower(_ other: Self) -> Self {
        switch (self, other) {
        case (.bits(let one), .bits(let two)): .bits(min(one, two))
        case (.bits, _): self
        default: other
        }
    }
}
