internal import CausewayWire
internal import Foundation

/// The file name that a response suggests. It never contains a path separator, and is never a name of a folder.
enum SuggestedFilename {
    /// The name for responses that suggest none.
    static let unknown = "Unknown"

    /// Returns the name in a Content-Disposition field (RFC 6266 §4.3): `filename*`, then `filename`. `nil` if there is none.
    ///
    /// Of several parameters with one name the last one counts, and separators become `_`, both as on Apple platforms.
    static func inDisposition(_ disposition: ArraySlice<UInt8>) -> String? {
        let parameters = ContentDisposition(parsing: disposition).parameters.all
        let extended = parameters.last { $0.name == "filename*" }.flatMap { ExtendedValue.text($0.value) }
        let plain = parameters.last { $0.name == "filename" }.map { String(decoding: $0.value, as: UTF8.self) }
        return (extended ?? plain).flatMap { safe($0) }
    }

    /// Returns the last component of the path, or ``unknown``.
    static func of(_ url: URL?) -> String {
        guard let url, url.scheme?.lowercased() != "data", let name = safe(url.lastPathComponent), name != "_" else {
            return unknown
        }
        return name
    }

    /// Replaces separators and removes control characters. Returns `nil` if no name is left.
    private static func safe(_ name: String) -> String? {
        var clean = ""
        for scalar in name.unicodeScalars where scalar.value >= 0x20 && scalar.value != 0x7F {
            clean.unicodeScalars.append(scalar == "/" || scalar == "\\" ? "_" : scalar)
        }
        return clean.isEmpty || clean == "." || clean == ".." ? nil : clean
    }
}
