import CausewayProtocols
package import CausewayWire

/// A content coding (RFC 9110 §8.4.1).
package enum ContentCoding: String, CaseIterable, Sendable {
    case gzip
    case deflate
    /// Brotli (RFC 7932).
    case brotli = "br"
    /// Zstandard (RFC 8878).
    case zstandard = "zstd"

    /// Creates a coding from its lower-case name or an alias (RFC 9110 §8.4.1.1, §8.4.1.3).
    init?(name: String) {
        switch name {
        case "x-gzip": self = .gzip
        default: self.init(rawValue: name)
        }
    }

    /// Returns the `Accept-Encoding` value for the codings with an available decoder (RFC 9110 §12.5.3).
    ///
    /// - Parameters:
    ///   - available: The codings with a decoder.
    ///   - isSecure: Whether the connection uses TLS. Brotli and Zstandard are offered only over TLS, because some
    ///     cleartext HTTP proxies damage content in unknown codings.
    /// - Returns: `nil` if no decoder is available. The field is then omitted.
    package static func acceptField(available: Set<ContentCoding>, isSecure: Bool) -> String? {
        let offered = allCases.filter { available.contains($0) && (isSecure || $0 == .gzip || $0 == .deflate) }
        return offered.isEmpty ? nil : offered.map(\.rawValue).joined(separator: ", ")
    }
}

/// How to decode response content.
package enum ContentDecoding: Equatable, Sendable {
    /// The maximum number of codings applied to the content.
    package static let maximumCount = 4

    /// Deliver the content unchanged: it has no coding, or an unknown one.
    case identity
    /// Decode these codings in order, starting with the coding that was applied last.
    case decode([ContentCoding])
    /// The content has a known coding without a decoder, or too many codings.
    case unsupported(String)

    /// Chooses the decoding for a response.
    ///
    /// Some servers send names that are not content codings, such as `utf-8`, `binary` or `aws-chunked`. Content with
    /// an unknown name is therefore delivered as received, and the field shows its coding.
    ///
    /// - Parameters:
    ///   - values: The values of all `Content-Encoding` fields.
    ///   - available: The codings with a decoder.
    package init(_ values: [String], available: Set<ContentCoding>) {
        var codings: [ContentCoding] = []
        for value in values {
            for element in value.split(separator: ",") {
                let name = URIBytes.lowercased(
                    String(decoding: HTTPCharacters.trimmed(Array(element.utf8)[...]), as: UTF8.self))
                if name.isEmpty || name == "identity" { continue }
                guard let coding = ContentCoding(name: name) else {
                    self = .identity
                    return
                }
                codings.append(coding)
            }
        }
        if let missing = codings.first(where: { !available.contains($0) }) {
            self = .unsupported(missing.rawValue)
        } else if codings.count > Self.maximumCount {
            self = .unsupported(codings[Self.maximumCount].rawValue)
        } else {
            self = codings.isEmpty ? .identity : .decode(codings.reversed())
        }
    }

    /// Returns whether content with these fields must be decoded before delivery.
    package static func isNeeded(for fields: FieldSection) -> Bool {
        guard fields.contains("Content-Encoding") else { return false }
        return ContentDecoding(fields.values(of: "Content-Encoding"), available: Set(ContentCoding.allCases))
            != .identity
    }
}

/// Limits the size of decoded content, as a protection against decompression bombs.
package struct DecodingBudget: Equatable, Sendable {
    package enum Excess: Error, Equatable, Sendable {
        /// The decoded content exceeds `limit` bytes.
        case size(limit: Int)
        /// The decoded content exceeds `limit` times the encoded size.
        case ratio(limit: Int)
    }

    /// The maximum ratio of decoded to encoded bytes. Text reaches 20; deflate cannot exceed 1,032.
    package var maximumRatio: Int
    /// The decoded size in bytes up to which the ratio is not checked: small content is harmless at any ratio.
    package var ratioThreshold: Int
    /// The maximum decoded size in bytes; `nil` for none.
    package var maximumSize: Int?
    private var encodedCount = 0
    private var decodedCount = 0

    package init(maximumRatio: Int = 200, ratioThreshold: Int = 16 << 20, maximumSize: Int? = nil) {
        self.maximumRatio = maximumRatio
        self.ratioThreshold = ratioThreshold
        self.maximumSize = maximumSize
    }

    /// Records the bytes that the decoder consumed and produced since the previous call.
    ///
    /// - Throws: The exceeded limit. The caller must then stop decoding.
    package mutating func advanced(encoded: Int, decoded: Int) throws(Excess) {
        encodedCount = encodedCount.addingReportingOverflow(encoded).partialValue
        decodedCount = decodedCount.addingReportingOverflow(decoded).partialValue
        if let limit = maximumSize, decodedCount > limit { throw .size(limit: limit) }
        guard decodedCount > ratioThreshold else { return }
        let allowed = encodedCount.multipliedReportingOverflow(by: maximumRatio)
        if !allowed.overflow, decodedCount > allowed.partialValue { throw .ratio(limit: maximumRatio) }
    }
}
