internal import CausewayTypes
package import CausewayWire

/// A resumable upload draft version, numbered by `Upload-Draft-Interop-Version` (draft-ietf-httpbis-resumable-upload §11).
package enum UploadVersion: Int, Sendable, CaseIterable, Comparable {
    case three = 3
    case five = 5
    case six = 6

    /// The protocol version that a client tries first.
    package static let latest = UploadVersion.six

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

    /// Reads the version from response fields.
    package init?(_ fields: FieldSection) {
        guard let text = fields.onlyValue(of: Self.fieldName), let number = UploadFields.integer(text) else {
            return nil
        }
        self.init(rawValue: Int(number))
    }

    package static let fieldName = "Upload-Draft-Interop-Version"
}

/// The fields for resumable uploads (draft-ietf-httpbis-resumable-upload §4).
package enum UploadFields {
    /// Parses a structured field's Integer item (RFC 9651 §4.2.4). Parameters are ignored. Negative numbers are
    /// rejected: no upload field has them.
    package static func integer(_ text: some StringProtocol) -> Int64? {
        let digits = bare(text)
        return digits.count <= 15 ? Int64(digits: digits) : nil
    }

    /// Parses a structured field's Boolean item (RFC 9651 §4.2.8). Parameters are ignored.
    package static func boolean(_ text: some StringProtocol) -> Bool? {
        switch String(decoding: bare(text), as: UTF8.self) {
        case "?1": true
        case "?0": false
        default: nil
        }
    }

    /// Returns the list item without parameters and without surrounding spaces.
    private static func bare(_ text: some StringProtocol) -> ArraySlice<UInt8> {
        var item = Array(text.utf8.prefix { $0 != 0x3B })[...]
        item = item.drop { $0 == 0x20 }
        while item.last == 0x20 { item.removeLast() }
        return item
    }

    /// Returns the upload offset in bytes; `nil` if the response has none or more than one.
    package static func offset(in fields: FieldSection) -> Int64? {
        fields.onlyValue(of: "Upload-Offset").flatMap { integer($0) }
    }

    /// Returns whether the response states that the upload is complete.
    package static func isComplete(_ fields: FieldSection) -> Bool {
        if let text = fields.onlyValue(of: "Upload-Complete") { return boolean(text) == true }
        if let text = fields.onlyValue(of: "Upload-Incomplete") { return boolean(text) == false }
        return false
    }

    /// Sets the header field which states that this request contains the upload's final part.
    package static func setComplete(_ version: UploadVersion, in fields: inout FieldSection) {
        if version >= .five {
            fields.set("Upload-Complete", "?1")
        } else {
            fields.set("Upload-Incomplete", "?0")
        }
    }
}
