/// The pseudo-header fields of one header section (RFC 9113 §8.3).
private struct ControlData {
    var method: String?
    var scheme: String?
    var authority: String?
    var path: String?
    var protocolName: String?
    var status: String?

    init(_ fields: FieldSection) throws(HTTP2MalformedMessage) {
        for field in fields {
            guard HTTP2FieldRules.isValue(field.value.span) else {
                throw HTTP2MalformedMessage("value of a pseudo-header field")
            }
            let value = String(decoding: field.value, as: UTF8.self)
            switch String(decoding: field.name, as: UTF8.self) {
            case ":method": try Self.set(&method, value)
            case ":scheme": try Self.set(&scheme, value)
            case ":authority": try Self.set(&authority, value)
            case ":path": try Self.set(&path, value)
            case ":protocol": try Self.set(&protocolName, value)
            case ":status": try Self.set(&status, value)
            default: throw HTTP2MalformedMessage("unknown pseudo-header field")
            }
        }
    }

    private static func set(_ property: inout String?, _ value: String) throws(HTTP2MalformedMessage) {
        guard property == nil else { throw HTTP2MalformedMessage("repeated pseudo-header field") }
        property = value
    }
}

extension HTTP2RequestHead {
    /// Interprets a decoded block as a request (RFC 9113 §8.3.1, RFC 8441 §4).
    ///
    /// - Parameter allowsProtocol: Whether the server permits extended CONNECT requests.
    /// - Throws: The reason why the request is malformed.
    package init(_ block: HPACKFieldBlock, allowsProtocol: Bool = false) throws(HTTP2MalformedMessage) {
        let control = try ControlData(block.controlData)
        guard control.status == nil else { throw HTTP2MalformedMessage(":status in a request") }
        guard let method = control.method, HTTPCharacters.isToken(method.utf8) else {
            throw HTTP2MalformedMessage(":method")
        }
        guard control.protocolName == nil || (allowsProtocol && method == "CONNECT") else {
            throw HTTP2MalformedMessage(":protocol")
        }
        if let mistake = HTTP2FieldRules.mistake(in: block.fields, allowsTE: true) {
            throw HTTP2MalformedMessage(mistake)
        }
        self.init(
            method: method, scheme: control.scheme ?? "", authority: control.authority, path: control.path ?? "",
            protocolName: control.protocolName, fields: block.fields)
        if method == "CONNECT", control.protocolName == nil {
            guard control.scheme == nil, control.path == nil, let authority, !authority.isEmpty,
                HTTPCharacters.isHost(authority.utf8.span)
            else { throw HTTP2MalformedMessage("pseudo-header fields of a CONNECT request") }
        } else {
            try checkTarget(control)
        }
        joinCookies()
    }

    private func checkTarget(_ control: ControlData) throws(HTTP2MalformedMessage) {
        guard Self.isScheme(scheme) else { throw HTTP2MalformedMessage(":scheme") }
        guard control.path != nil, path.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw HTTP2MalformedMessage(":path")
        }
        if let authority, !HTTPCharacters.isHost(authority.utf8.span) { throw HTTP2MalformedMessage(":authority") }
        let hosts = fields.values(of: "host")
        for host in hosts where !HTTPCharacters.isHost(host.utf8.span) { throw HTTP2MalformedMessage("field host") }
        let isSecure = HTTPCharacters.areEqual(scheme, "https")
        guard isSecure || HTTPCharacters.areEqual(scheme, "http") else { return }
        guard path.utf8.first == UInt8(ascii: "/") || (path == "*" && method == "OPTIONS") else {
            throw HTTP2MalformedMessage(":path")
        }
        guard authority?.isEmpty != true else { throw HTTP2MalformedMessage(":authority") }
        guard hosts.count <= 1, authority != nil || !hosts.isEmpty else { throw HTTP2MalformedMessage("authority") }
        let port = isSecure ? ":443" : ":80"
        if let authority, let host = hosts.first, normalized(authority, port) != normalized(host, port) {
            throw HTTP2MalformedMessage("field host differs from :authority")
        }
    }

    /// Returns an authority in lower case without the default port (RFC 3986 §6.2.3).
    private func normalized(_ authority: String, _ port: String) -> String {
        let lower = authority.lowercased()
        return lower.hasSuffix(port) ? String(lower.dropLast(port.utf8.count)) : lower
    }

    /// Joins several `cookie` fields into one (RFC 9113 §8.2.3).
    private mutating func joinCookies() {
        guard let first = fields.index(of: "cookie"), fields.index(of: "cookie", from: first + 1) != nil else { return }
        var joined: [UInt8] = []
        var others = FieldSection()
        for (index, field) in fields.enumerated() {
            guard fields.isName("cookie", at: index) else {
                others.append(name: field.name, value: field.value)
                continue
            }
            if !joined.isEmpty { joined += "; ".utf8 }
            joined += field.value
        }
        others.append(name: "cookie".utf8, value: joined)
        fields = others
    }

    /// Returns whether `text` is a scheme (RFC 3986 §3.1).
    static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, first | 0x20 >= 0x61, first | 0x20 <= 0x7A else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E: true
            default: false
            }
        }
    }
}

extension HTTP2ResponseHead {
    /// Interprets a decoded block as a response (RFC 9113 §8.3.2).
    ///
    /// - Throws: The reason why the response is malformed. Status 101 is malformed (RFC 9113 §8.6).
    package init(_ block: HPACKFieldBlock) throws(HTTP2MalformedMessage) {
        let status: Int
        if let known = Self.onlyStatus(block.controlData) {
            status = known
        } else {
            status = try Self.status(block.controlData)
        }
        if let mistake = HTTP2FieldRules.mistake(in: block.fields, allowsTE: false) {
            throw HTTP2MalformedMessage(mistake)
        }
        self.init(status: status, fields: block.fields)
    }

    private static func status(_ fields: FieldSection) throws(HTTP2MalformedMessage) -> Int {
        let control = try ControlData(fields)
        guard control.method == nil, control.scheme == nil, control.authority == nil, control.path == nil,
            control.protocolName == nil
        else { throw HTTP2MalformedMessage("pseudo-header field of a request in a response") }
        guard let status = control.status, status.utf8.count == 3, status.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let number = Int(status), number >= 100, number != 101
        else { throw HTTP2MalformedMessage(":status") }
        return number
    }

    /// Reads a valid response's status without creating the strings of ``ControlData``. Returns `nil` if the response
    /// is not valid.
    private static func onlyStatus(_ control: FieldSection) -> Int? {
        guard control.count == 1, control[0].name.elementsEqual(":status".utf8) else { return nil }
        let value = control[0].value
        guard value.count == 3, value.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        let number = value.reduce(0) { 10 * $0 + Int($1 - 0x30) }
        return number >= 100 && number != 101 ? number : nil
    }
}

extension HPACKFieldBlock {
    /// Interprets a decoded block as a trailer section (RFC 9113 §8.1).
    ///
    /// - Throws: The reason why it is malformed.
    package func trailers() throws(HTTP2MalformedMessage) -> FieldSection {
        guard controlData.isEmpty else { throw HTTP2MalformedMessage("pseudo-header field in trailers") }
        if let mistake = HTTP2FieldRules.mistake(in: fields, allowsTE: false) { throw HTTP2MalformedMessage(mistake) }
        return fields
    }
}
