extension HTTP2RequestHead {
    /// The reason why the head cannot be sent; `nil` if it can.
    package var mistake: String? {
        guard HTTPCharacters.isToken(method.utf8) else { return "method" }
        for part in [scheme, authority ?? "", path, protocolName ?? ""] {
            guard part.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return "request target" }
        }
        if isConnect, protocolName == nil {
            guard authority?.isEmpty == false else { return "authority of a CONNECT request" }
        } else {
            guard Self.isScheme(scheme) else { return "scheme" }
            guard !path.isEmpty else { return "empty path" }
        }
        return fields.mistakeInSending
    }

    /// Appends the encoded block. Omits the fields that HTTP/2 forbids, and `host`, which `:authority` replaces (RFC 9113 §8.3.1).
    package func encode(with encoder: inout HPACKEncoder, to bytes: inout [UInt8]) {
        encoder.beginBlock(&bytes)
        encoder.append(":method", method, to: &bytes)
        if !isConnect || protocolName != nil {
            encoder.append(":scheme", scheme, to: &bytes)
            encoder.append(":path", path, to: &bytes)
        }
        if let authority { encoder.append(":authority", authority, to: &bytes) }
        if let protocolName { encoder.append(":protocol", protocolName, to: &bytes) }
        fields.encode(with: &encoder, to: &bytes, withoutHost: authority != nil, allowsTE: true)
    }
}

extension HTTP2ResponseHead {
    /// The reason why this response head cannot be sent; `nil` if it can be sent.
    package var mistake: String? {
        guard (100...999).contains(status), status != 101 else { return "status" }
        return fields.mistakeInSending
    }

    /// Appends the encoded field block. Leaves out the fields that HTTP/2 forbids.
    package func encode(with encoder: inout HPACKEncoder, to bytes: inout [UInt8]) {
        encoder.beginBlock(&bytes)
        encoder.append(":status", String(status), to: &bytes)
        fields.encode(with: &encoder, to: &bytes)
    }
}

extension FieldSection {
    /// The reason why the fields cannot be sent; `nil` if they can. Upper-case names are valid, because the encoder
    /// converts names to lower case.
    package var mistakeInSending: String? {
        let block = block.span
        for entry in entries {
            let name = block.extracting(Int(entry.nameStart)..<Int(entry.nameStart + entry.nameCount))
            guard !name.isEmpty else { return "empty field name" }
            for index in name.indices where !HTTPCharacters.isToken(name[index]) { return "field name" }
            let value = block.extracting(Int(entry.valueStart)..<Int(entry.valueStart + entry.valueCount))
            guard HTTP2FieldRules.isValue(value) else { return "field value" }
        }
        return nil
    }

    /// Appends the encoded fields, without the fields that HTTP/2 forbids (RFC 9113 §8.2.2).
    package func encode(
        with encoder: inout HPACKEncoder, to bytes: inout [UInt8], withoutHost: Bool = false, allowsTE: Bool = false
    ) {
        let block = block.span
        for entry in entries {
            let name = block.extracting(Int(entry.nameStart)..<Int(entry.nameStart + entry.nameCount))
            let value = block.extracting(Int(entry.valueStart)..<Int(entry.valueStart + entry.valueCount))
            if HTTP2FieldRules.isConnectionSpecific(name) { continue }
            if withoutHost, HTTP2FieldRules.areEqual(name, "host") { continue }
            if HTTP2FieldRules.areEqual(name, "te"), !allowsTE || !HTTP2FieldRules.areEqual(value, "trailers") {
                continue
            }
            encoder.append(name: name, value: value, to: &bytes)
        }
    }
}
