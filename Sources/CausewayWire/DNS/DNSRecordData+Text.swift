internal import CausewayTypes

extension DNSRecordData: CustomStringConvertible {
    /// The content's presentation format (RFC 1035 §5.1, RFC 3597 §5, RFC 9460 §2.1).
    package var description: String {
        switch self {
        case .ipv4(let address): address.debugDescription
        case .ipv6(let address): address.debugDescription
        case .name(let name): name.description
        case .service(let priority, let weight, let port, let target): "\(priority) \(weight) \(port) \(target)"
        case .text(let bytes): Self.strings(bytes)
        case .mail(let preference, let exchange): "\(preference) \(exchange)"
        case .authority(let zone):
            "\(zone.server) \(zone.mailbox) \(zone.serial) \(zone.refresh) \(zone.retry) \(zone.expire) \(zone.minimum)"
        case .next(let name, let types): "\(name) \(types.map(\.description).joined(separator: " "))"
        case .binding(let binding): binding.description
        case .opaque(let bytes):
            "\\# \(bytes.count)" + (bytes.isEmpty ? "" : " ") + Hexadecimal.text(bytes)
        }
    }

    private static func strings(_ bytes: [UInt8]) -> String {
        var rest = bytes[...]
        var texts: [String] = []
        while let length = rest.popFirst() {
            texts.append(quoted(rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        return texts.joined(separator: " ")
    }

    private static func quoted(_ bytes: ArraySlice<UInt8>) -> String {
        var text = "\""
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += "\\" + String(UnicodeScalar(byte))
            case 0x20..<0x7F: text.unicodeScalars.append(UnicodeScalar(byte))
            default:
                let number = String(byte)
                text += "\\" + String(repeating: "0", count: 3 - number.count) + number
            }
        }
        return text + "\""
    }
}

extension DNSServiceBinding: CustomStringConvertible {
    private static let names = ["mandatory", "alpn", "no-default-alpn", "port", "ipv4hint", "ech", "ipv6hint"]

    /// The presentation format, such as `1 . alpn=h2,h3 port=8443`.
    package var description: String {
        let parts = parameters.map { key, value -> String in
            let number = Int(key.rawValue)
            let name = number < Self.names.count ? Self.names[number] : "key\(number)"
            return value.isEmpty ? name : "\(name)=\(text(of: key, value))"
        }
        return (["\(priority) \(target)"] + parts).joined(separator: " ")
    }

    private func text(of key: Key, _ value: [UInt8]) -> String {
        switch key {
        case .applicationProtocols:
            applicationProtocols.map { DNSName.escaped($0) }.joined(separator: ",")
        case .port: port.map(String.init) ?? "?"
        case .ipv4Hints: ipv4Hints.map(\.debugDescription).joined(separator: ",")
        case .ipv6Hints: ipv6Hints.map(\.debugDescription).joined(separator: ",")
        default: "\"\(Hexadecimal.text(value))\""
        }
    }
}
