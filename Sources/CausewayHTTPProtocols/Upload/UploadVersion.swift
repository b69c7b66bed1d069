package import CausewayWire

/// A version of the draft of resumable uploads, as `Upload-Draft-Interop-Version` numbers them (draft-ietf-httpbis-resumable-upload §11).
package enum UploadVersion: Int, Sendable, CaseIterable, Comparable {
    case three = 3
    case five = 5
    case six = 6

    /// The version that a client starts with.
    package static let latest = UploadVersion.six

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

    /// Reads the version that a response states.
    package init?(_ fields: FieldSection) {
        guard let text = fields.onlyValue(of: Self.fieldName), let number = UploadFields.integer(text) else {
            return nil
        }
        self.init(rawValue: Int(number))
    }

    package static let fieldName = "Upload-Draft-Interop-Version"
}

/// The fields of resumable uploads (draft-ietf-httpbis-resumable-upload §4).
package enum UploadFields {
    /// Reads an Integer item of a structured field (RFC 9651 §4.2.4). Parameters are ignored. Negative numbers have no meaning here.
    package static func integer(_ text: some StringProtocol) -> Int64? {
        let digits = bare(text)
        guard (1...15).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// Reads a Boolean item of a structured field (RFC 9651 §4.2.8). Parameters are ignored.
    package static func boolean(_ text: some StringProtocol) -> Bool? {
        switch String(decoding: bare(text), as: UTF8.self) {
        case "?1": true
        case "?0": false
        default: nil
        }
    }

    /// Returns the item without its parameters and the spaces around it.
    private static func bare(_ text: some StringProtocol) -> ArraySlice<UInt8> {
        var item = Array(text.utf8.prefix { $0 != 0x3B })[...]
        item = item.drop { $0 == 0x20 }
        while item.last == 0x20 { item.removeLast() }
        return item
    }

    /// Returns the offset that a response states; `nil` if there is none or more than one.
    package static func offset(in fields: FieldSection) -> Int64? {
        fields.onlyValue(of: "Upload-Offset").flatMap { integer($0) }
    }

    /// Returns whether a response states that the upload is complete.
    package static func isComplete(_ fields: FieldSection) -> Bool {
        if let text = fields.onlyValue(of: "Upload-Complete") { return boolean(text) == true }
        if let text = fields.onlyValue(of: "Upload-Incomplete") { return boolean(text) == false }
        return false
    }

    /// Adds the field which states that the content of the request is the last of the upload.
    package static func setComplete(_ version: UploadVersion, in fields: inout FieldSection) {
        if version >= .five {
            fields.set("Upload-Complete", "?1")
        } else {
            fields.set("Upload-Incomplete", "?0")
        }
    }
}
