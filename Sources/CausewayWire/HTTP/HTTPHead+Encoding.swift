extension HTTPRequestHead {
    /// Appends the encoded head to `output` (RFC 9112 §3).
    ///
    /// - Throws: ``HTTPSyntaxError/unwritable(_:)`` if a part contains characters that would change the message's
    ///   meaning, such as a line end (RFC 9112 §11.1). `output` is then unchanged.
    package func encode(into output: inout [UInt8]) throws(HTTPSyntaxError) {
        guard version.isWritable else { throw .unwritable("version") }
        guard HTTPCharacters.isToken(method.utf8) else { throw .unwritable("method") }
        guard !target.isEmpty, target.utf8.allSatisfy(HTTPCharacters.isTarget) else { throw .unwritable("target") }
        try fields.checkWritable()
        output.reserveCapacity(output.count + method.utf8.count + target.utf8.count + 14 + fields.encodedCount)
        output.append(contentsOf: method.utf8)
        output.append(HTTPCharacters.space)
        output.append(contentsOf: target.utf8)
        output.append(HTTPCharacters.space)
        version.encode(into: &output)
        output.append(HTTPCharacters.carriageReturn)
        output.append(HTTPCharacters.lineFeed)
        fields.encodeUnchecked(into: &output)
    }
}

extension HTTPResponseHead {
    /// Appends the encoded head to `output` (RFC 9112 §4).
    ///
    /// - Throws: ``HTTPSyntaxError/unwritable(_:)`` if a part contains characters that would change the message's
    ///   meaning. `output` is then unchanged.
    package func encode(into output: inout [UInt8]) throws(HTTPSyntaxError) {
        guard version.isWritable else { throw .unwritable("version") }
        guard (100...999).contains(status) else { throw .unwritable("status") }
        guard reason.utf8.allSatisfy(HTTPCharacters.isFieldValue) else { throw .unwritable("reason phrase") }
        try fields.checkWritable()
        output.reserveCapacity(output.count + reason.utf8.count + 17 + fields.encodedCount)
        version.encode(into: &output)
        output.append(HTTPCharacters.space)
        output.append(UInt8(0x30 + status / 100))
        output.append(UInt8(0x30 + status / 10 % 10))
        output.append(UInt8(0x30 + status % 10))
        // This space is required even if the reason phrase is empty.
        output.append(HTTPCharacters.space)
        output.append(contentsOf: reason.utf8)
        output.append(HTTPCharacters.carriageReturn)
        output.append(HTTPCharacters.lineFeed)
        fields.encodeUnchecked(into: &output)
    }
}

extension HTTPVersion {
    /// Whether this version's heads have the HTTP/1 format. HTTP/2 and HTTP/3 use other formats.
    fileprivate var isWritable: Bool { major == 1 && minor < 10 }

    fileprivate func encode(into output: inout [UInt8]) {
        output.append(contentsOf: HeadReader.protocolName)
        output.append(UInt8(ascii: "1"))
        output.append(UInt8(ascii: "."))
        output.append(0x30 + minor)
    }
}

extension FieldSection {
    /// Encoded section size in bytes, including the empty line at the end.
    package var encodedCount: Int { byteCount + 4 * count + 2 }

    /// Checks that every name is a token and no value has line ends, zero bytes or other control characters (RFC 9110 §5.1, §5.5).
    ///
    /// - Throws: ``HTTPSyntaxError/unwritable(_:)`` with the field name.
    package func checkWritable() throws(HTTPSyntaxError) {
        let block = block.span
        for (index, entry) in entries.enumerated() {
            let nameStart = Int(entry.nameStart)
            let valueStart = Int(entry.valueStart)
            guard entry.nameCount > 0 else { throw .unwritable("name of field \(index)") }
            for place in nameStart..<(nameStart + Int(entry.nameCount)) where !HTTPCharacters.isToken(block[place]) {
                throw .unwritable("name of field \(index)")
            }
            for place in valueStart..<(valueStart + Int(entry.valueCount))
            where !HTTPCharacters.isFieldValue(block[place]) {
                throw .unwritable("value of field \(String(decoding: self[index].name, as: UTF8.self))")
            }
        }
    }

    /// Appends the encoded lines and the empty line that ends the section.
    ///
    /// - Throws: ``HTTPSyntaxError/unwritable(_:)`` if ``checkWritable()`` throws. `output` is then unchanged.
    package func encode(into output: inout [UInt8]) throws(HTTPSyntaxError) {
        try checkWritable()
        output.reserveCapacity(output.count + encodedCount)
        encodeUnchecked(into: &output)
    }

    func encodeUnchecked(into output: inout [UInt8]) {
        // Read names and values directly from the block. Slices would cause reference counting for the block.
        unsafe block.withUnsafeBufferPointer { bytes in
            for entry in entries {
                let (name, value) = (Int(entry.nameStart), Int(entry.valueStart))
                unsafe output.append(contentsOf: bytes[name..<(name + Int(entry.nameCount))])
                output.append(HTTPCharacters.colon)
                output.append(HTTPCharacters.space)
                unsafe output.append(contentsOf: bytes[value..<(value + Int(entry.valueCount))])
                output.append(HTTPCharacters.carriageReturn)
                output.append(HTTPCharacters.lineFeed)
            }
        }
        output.append(HTTPCharacters.carriageReturn)
        output.append(HTTPCharacters.lineFeed)
    }
}
