/// The rules for field names and values in HTTP/2 (RFC 9113 §8.2).
enum HTTP2FieldRules {
    /// For each byte, whether a field name may contain it. Names consist of token characters except upper-case letters.
    private static let isNameByte: [Bool] = (0...255).map { (byte: UInt8) -> Bool in
        switch byte {
        case 0x30...0x39, 0x61...0x7A, 0x5E...0x60, 0x7C, 0x7E: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E: true
        default: false
        }
    }

    /// Returns why a message's regular fields are malformed; `nil` if they are valid.
    static func mistake(in fields: FieldSection, allowsTE: Bool) -> String? {
        let block = fields.block.span
        let isNameByte = isNameByte.span
        for entry in fields.entries {
            let name = block.extracting(Int(entry.nameStart)..<Int(entry.nameStart + entry.nameCount))
            guard !name.isEmpty else { return "empty field name" }
            for index in name.indices where !isNameByte[Int(name[index])] { return "field name" }
            let value = block.extracting(Int(entry.valueStart)..<Int(entry.valueStart + entry.valueCount))
            guard isValue(value) else { return "field value" }
            if let mistake = connectionMistake(name, value, allowsTE: allowsTE) { return mistake }
        }
        return nil
    }

    /// Returns whether a value has no control characters except tabs, and no space at its ends (RFC 9113 §8.2.1, RFC 9110 §5.5).
    static func isValue(_ value: Span<UInt8>) -> Bool {
        guard value.count > 0 else { return true }
        for index in value.indices where value[index] < 0x20 && value[index] != 0x09 || value[index] == 0x7F {
            return false
        }
        return !isSpace(value[0]) && !isSpace(value[value.count - 1])
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Returns how a field violates the rules for connection-specific fields (RFC 9113 §8.2.2); `nil` if it does not.
    private static func connectionMistake(_ name: Span<UInt8>, _ value: Span<UInt8>, allowsTE: Bool) -> String? {
        guard isConnectionSpecific(name) else {
            guard name.count == 2, areEqual(name, "te") else { return nil }
            return allowsTE && areEqual(value, "trailers") ? nil : "field te"
        }
        return "connection-specific field"
    }

    /// Returns whether a field must not occur in HTTP/2 (RFC 9113 §8.2.2).
    static func isConnectionSpecific(_ name: Span<UInt8>) -> Bool {
        switch name.count {
        case 7: areEqual(name, "upgrade")
        case 10: areEqual(name, "connection") || areEqual(name, "keep-alive")
        case 16: areEqual(name, "proxy-connection")
        case 17: areEqual(name, "transfer-encoding")
        default: false
        }
    }

    /// Returns whether bytes equal a lower-case text, ignoring case.
    static func areEqual(_ bytes: Span<UInt8>, _ text: String) -> Bool {
        let text = text.utf8.span
        guard bytes.count == text.count else { return false }
        for index in bytes.indices where !FieldSection.areEqualIgnoringCase(bytes[index], text[index]) { return false }
        return true
    }
}

extension FieldSection {
    /// The `content-length` value (RFC 9110 §8.6); `nil` if the field is missing.
    ///
    /// - Returns: A failure if the value is not a number, has more than 18 digits, or differs from another value of the
    ///   field.
    package var contentLength: Result<Int, HTTP2ContentLengthError>? {
        var found: Int?
        var index = index(of: "content-length")
        while let place = index {
            let value = self[place].value
            guard !value.isEmpty, value.count <= 18 else { return .failure(.invalid) }
            var length = 0
            for digit in value {
                guard digit >= 0x30, digit <= 0x39 else { return .failure(.invalid) }
                length = length * 10 + Int(digit - 0x30)
            }
            guard found == nil || found == length else { return .failure(.invalid) }
            found = length
            index = self.index(of: "content-length", from: place + 1)
        }
        return found.map { .success($0) }
    }
}

/// The reason why `content-length` is invalid.
package enum HTTP2ContentLengthError: Error, Equatable, Sendable {
    case invalid
}
