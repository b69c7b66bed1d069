package import CausewayTypes

/// The client's request to open a WebSocket connection (RFC 6455 §4.1).
package struct UpgradeRequest: Equatable, Sendable {
    /// The path and query, percent-encoded, starting with `/`.
    package var target: String
    /// The `Host` field value: see ``authority(host:port:defaultPort:)``.
    package var authority: String
    package var subprotocols: [String]
    /// The message compression offers, the preferred one first (RFC 7692 §5.1).
    package var deflateOffers: [MessageDeflate] = []
    /// Header fields in addition to those of the handshake. If a name occurs several times, only the last of these
    /// fields is written.
    package var additionalFields: [HeaderField]
    /// The `Sec-WebSocket-Key` value.
    package var key: String

    package init(
        target: String = "/", authority: String, subprotocols: [String] = [], additionalFields: [HeaderField] = [],
        key: String = ""
    ) {
        self.target = target
        self.authority = authority
        self.subprotocols = subprotocols
        self.additionalFields = additionalFields
        self.key = key
    }

    /// Formats a host for the `Host` field: an IPv6 address is written in brackets and without its zone (RFC 6874 §4), and the port is
    /// added unless it is the default port.
    ///
    /// - Parameter defaultPort: 80, or 443 for TLS.
    package static func authority(host: NWEndpoint.Host, port: UInt16, defaultPort: UInt16) -> String {
        let name =
            switch host {
            case .name(let name, _): name
            case .ipv4(let address): withoutZone(address.debugDescription)
            case .ipv6(let address): "[" + withoutZone(address.debugDescription) + "]"
            }
        return port == defaultPort ? name : "\(name):\(port)"
    }

    private static func withoutZone(_ address: String) -> String {
        String(address.prefix { $0 != "%" })
    }

    /// Encodes the request.
    ///
    /// - Throws: ``UpgradeError/unwritable(_:)`` if a part contains characters that would corrupt the head, such as a line end.
    package func serialized() throws(UpgradeError) -> [UInt8] {
        guard target.utf8.first == UInt8(ascii: "/"), Self.isVisible(target), !target.utf8.contains(UInt8(ascii: "#"))
        else {
            throw .unwritable("target")
        }
        guard !authority.isEmpty, Self.isAuthority(authority) else { throw .unwritable("host") }
        guard WebSocketAccept.isKey(key) else { throw .unwritable("key") }
        var text = "GET \(target) HTTP/1.1\r\nHost: \(authority)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        text += "Sec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: 13\r\n"
        if !subprotocols.isEmpty {
            guard Self.areSubprotocols(subprotocols) else { throw .unwritable("subprotocol") }
            text += "Sec-WebSocket-Protocol: \(subprotocols.joined(separator: ", "))\r\n"
        }
        if !deflateOffers.isEmpty {
            text += "Sec-WebSocket-Extensions: \(deflateOffers.map(\.serialized).joined(separator: ", "))\r\n"
        }
        try HandshakeField.append(additionalFields, to: &text)
        guard text.utf8.count + 2 <= HeadReader.Limits.upgrade.byteCount else { throw .tooLong }
        return Array((text + "\r\n").utf8)
    }

    /// Parses a whole request head on the server.
    package init(parsing head: [UInt8]) throws(UpgradeError) {
        var reader = try HeadReader.whole(head, .request)
        guard let request = reader.finishRequest() else { throw .malformed("end of the head") }
        try self.init(request)
    }

    /// Parses a WebSocket upgrade request on the server (RFC 6455 §4.2.1).
    package init(_ head: HTTPRequestHead) throws(UpgradeError) {
        let fields = head.fields
        guard head.method == "GET" else { throw .malformed("method") }
        guard head.version == .http11 else { throw .malformed("HTTP version") }
        target = head.target
        guard let authority = fields.onlyValue(of: "Host"), Self.isAuthority(authority) else {
            throw .malformed("Host")
        }
        self.authority = authority
        guard fields.hasElement("websocket", in: "Upgrade") else { throw .malformed("Upgrade") }
        guard fields.hasElement("upgrade", in: "Connection") else { throw .malformed("Connection") }
        // A WebSocket handshake request cannot have a body, because WebSocket frames follow its head directly. Reject a
        // request with a body.
        guard !fields.contains("Transfer-Encoding"),
            fields.values(of: "Content-Length").allSatisfy({ $0 == "0" })
        else { throw .malformed("body") }
        guard let version = fields.onlyValue(of: "Sec-WebSocket-Version") else {
            throw .malformed("Sec-WebSocket-Version")
        }
        guard version == "13" else { throw .unsupportedVersion }
        guard let key = fields.onlyValue(of: "Sec-WebSocket-Key"), WebSocketAccept.isKey(key) else {
            throw .malformed("Sec-WebSocket-Key")
        }
        self.key = key
        subprotocols = fields.elements(of: "Sec-WebSocket-Protocol")
        guard Self.areSubprotocols(subprotocols) else { throw .malformed("Sec-WebSocket-Protocol") }
        deflateOffers = MessageDeflate.offers(in: fields.elements(of: "Sec-WebSocket-Extensions"))
        additionalFields = HandshakeField.others(in: fields)
    }

    private static func isVisible(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }

    private static func isAuthority(_ text: String) -> Bool {
        isVisible(text) && !text.utf8.contains { "/?#@\\,".utf8.contains($0) }
    }

    /// Whether `names` are tokens and each occurs only once (RFC 6455 §4.1).
    private static func areSubprotocols(_ names: [String]) -> Bool {
        names.allSatisfy { HTTPCharacters.isToken($0.utf8) } && Set(names).count == names.count
    }
}
