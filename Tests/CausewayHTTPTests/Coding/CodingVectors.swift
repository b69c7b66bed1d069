import CausewayHTTPProtocols
import CausewayWire
import Testing

/// Encoded content, made by Python's gzip and zlib modules, brotli 1.0.9 and zstd 1.5.4. The bytes are in Base64.
enum CodingVectors {
    struct Vector: CustomTestStringConvertible, Sendable {
        var name: String
        /// The value of `Content-Encoding`.
        var field: String
        var base64: String
        var content: String

        var testDescription: String { name }
        var encoded: [UInt8] { Base64.decode(Array(base64.utf8)) ?? [] }
        var codings: [ContentCoding] {
            guard case .decode(let codings) = ContentDecoding([field], available: Set(ContentCoding.allCases)) else {
                return []
            }
            return codings
        }
    }

    static let line = "Causeway decodes content. "
    static let text = String(repeating: line, count: 8)

    static let all = [
        Vector(
            name: "gzip", field: "gzip",
            base64: "H4sIAAAAAAACA3NOLC1OLU+sVEhJTc5PSS1WSM7PK0nNK9FTcB6SMgAkINO70AAAAA==",
            content: text),
        Vector(
            name: "gzipHeaderFields", field: "gzip",
            base64: "H4sIHgAAAAAAAwQAYWIAAG4udHh0AG5vdGUAYd9zTiwtTi1PrFRISU3OT0ktVkjOzytJzSvRU3AekjIAJCDTu9AAAAA=",
            content: text),
        Vector(
            name: "gzipMembers", field: "gzip",
            base64: "H4sIAAAAAAACA3NOLC1OLU+sVEhJTc5PSS1WSM7PK0nNK9FTcKaqDADrwJrNaAAAAB+LCAAAAAAAAgMDAAAAAAAAAAAAH4sI"
                + "AAAAAAACA3NOLC1OLU+sVEhJTc5PSS1WSM7PK0nNK9FTcKaqDADrwJrNaAAAAA==",
            content: text),
        Vector(
            name: "gzipTrailing", field: "gzip",
            base64: "H4sIAAAAAAACA3NOLC1OLU+sVEhJTc5PSS1WSM7PK0nNK9FTcB6SMgAkINO70AAAAAAAAAAA",
            content: text),
        Vector(
            name: "gzipTrailingMark", field: "gzip",
            base64: "H4sIAAAAAAACA3NOLC1OLU+sVEhJTc5PSS1WSM7PK0nNK9FTcB6SMgAkINO70AAAAB8=",
            content: text),
        Vector(
            name: "gzipEmpty", field: "gzip",
            base64: "H4sIAAAAAAACAwMAAAAAAAAAAAA=",
            content: ""),
        Vector(
            name: "zlib", field: "deflate",
            base64: "eNpzTiwtTi1PrFRISU3OT0ktVkjOzytJzSvRU3AekjIAlkFNEQ==",
            content: text),
        Vector(
            name: "zlibStored", field: "deflate",
            base64: "eAEBGgDl/0NhdXNld2F5IGRlY29kZXMgY29udGVudC4ghfgJow==",
            content: line),
        Vector(
            name: "zlibTrailing", field: "deflate",
            base64: "eNpzTiwtTi1PrFRISU3OT0ktVkjOzytJzSvRU3AekjIAlkFNEXh5eg==",
            content: text),
        Vector(
            name: "rawDeflate", field: "deflate",
            base64: "c04sLU4tT6xUSElNzk9JLVZIzs8rSc0r0VNwHpIyAA==",
            content: text),
        Vector(
            name: "rawStored", field: "deflate",
            base64: "ARoA5f9DYXVzZXdheSBkZWNvZGVzIGNvbnRlbnQuIA==",
            content: line),
        Vector(
            name: "brotli", field: "br",
            base64: "G88A+MVtbF3Xby1Jd0MiKocEqxRKYnHj40PukTP2MA==",
            content: text),
        Vector(
            name: "brotliEmpty", field: "br",
            base64: "Bg==",
            content: ""),
        Vector(
            name: "brotliTrailing", field: "br",
            base64: "G88A+MVtbF3Xby1Jd0MiKocEqxRKYnHj40PukTP2MHh5eg==",
            content: text),
        Vector(
            name: "zstd", field: "zstd",
            base64: "KLUv/QRoDQEA0ENhdXNld2F5IGRlY29kZXMgY29udGVudC4gAQDOmppj69ar9Q==",
            content: text),
        Vector(
            name: "zstdFrames", field: "zstd",
            base64: "KLUv/QRoDQEA0ENhdXNld2F5IGRlY29kZXMgY29udGVudC4gAQBuo3MMGSbeKCi1L/0AaA0BANBDYXVzZXdheSBkZWNvZGVz"
                + "IGNvbnRlbnQuIAEAbqNzDA==",
            content: text),
        Vector(
            name: "zstdSkippable", field: "zstd",
            base64: "WipNGAMAAABhYmMotS/9BGgNAQDQQ2F1c2V3YXkgZGVjb2RlcyBjb250ZW50LiABAM6ammPr1qv1",
            content: text),
        Vector(
            name: "zstdSkippableAfter", field: "zstd",
            base64: "KLUv/QRoDQEA0ENhdXNld2F5IGRlY29kZXMgY29udGVudC4gAQDOmppj69ar9VAqTRgAAAAA",
            content: text),
        Vector(
            name: "zstdTrailing", field: "zstd",
            base64: "KLUv/QRoDQEA0ENhdXNld2F5IGRlY29kZXMgY29udGVudC4gAQDOmppj69ar9Si1eA==",
            content: text),
        Vector(
            name: "gzipOverBrotli", field: "br, gzip",
            base64: "H4sIAAAAAAACA5M+z/DjaG5O7PV8Xc9yZyWtdpbVIl5JhY8fO7+baPzNAAB0MB22HwAAAA==",
            content: text),
        Vector(
            name: "zstdOverGzip", field: "x-gzip , identity, ZSTD",
            base64: "KLUv/QRoiQEAH4sIAAAAAAACA3NOLC1OLU+sVEhJTc5PSS1WSM7PK0nNK9FTcB6SMgAkINO70AAAAKarvHg=",
            content: text),
        Vector(
            name: "fourCodings", field: "gzip, deflate, br, zstd",
            base64: "KLUv/QRo0QEAixqAeJyT7+ZgAAEm5mI/HV0/Xf81IR6evuf8PXXDPM6d1/Y8q30xuEBukhGDisLl3ReACgE+kw7MA6ao/4c=",
            content: text),
    ]

    /// Compressed zeros. The gzip data contains 1 MiB, and the brotli data contains 1,048,000 bytes.
    static let zeros = [
        Vector(
            name: "gzipZeros", field: "gzip",
            base64: "H4sIAAAAAAACA+3BMQEAAADCoPVPbQhfoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAPgMc6jinAAAQAA==",
            content: ""),
        Vector(
            name: "brotliZeros", field: "br",
            base64: "W7/9j38CIB4LBPLqHwA=",
            content: ""),
        Vector(
            name: "zstdZeros", field: "zstd",
            base64: "KLUv/QRoTAAACAABAPz/ORACAgAQAAIAEAACABAAAgAQAAIAEAACABAAAwAQAPE+FuE=",
            content: ""),
    ]

    /// A gzip member that contains 5,000 empty gzip members. It causes much work but has no content.
    static let emptyMembers = Vector(
        name: "emptyMembers", field: "gzip, gzip",
        base64: "H4sIAAAAAAACA+3IsQ0AIAgAMCKLX3AwTxMGf3Box1bfWCcznnLOOeecc84555xzzjnnnHPOOeecc84555xzzjnnnHPOOeec"
            + "c84555xzzjnnnHPOOeecc84555xzzjnnnHPOOeecc84555xzzjnnnHPOOeecc84555xzzjnnnHPOOeecc84555xzzjnnnHPO"
            + "Oeecc84555xzzjnnnHPOOeecc84555xzzjnnnHPOOeecc84555xzzjnnnHPOOeecc84555xzzjnnnHPOOeecc84555xzzjnn"
            + "nHPOOeecc84555xzzjnnnHPOOeecc84555xzzjnnnHPOOeecc84555xzzjnnnHPOOeecc84555xzzjnnnHPOfXEDZuV8maCG"
            + "AQA=",
        content: "")

    /// A zstd frame with a window of 64 MiB.
    static let wideWindow = Vector(
        name: "wideWindow", field: "zstd",
        base64: "KLUv/QSAZAAAEAAAAgDp/zdz4AEsAgAQAAIAEAACABAAAgAQAAIAEA==",
        content: "")
}
