internal import CausewayWire
internal import Foundation

/// A response's suggested file name. It never contains a path separator and is never `.` or `..`.
enum SuggestedFilename {
    /// The name for a response that suggests none.
    static let unknown = "Unknown"

    /// Returns the file name in a Content-Disposition field (RFC 6266 §4.3): the value of `filename*` if it can be
    /// decoded, otherwise the value of `filename`. Returns `nil` if there is no valid file name.
    ///
    /// If a parameter occurs more than once, its first value is used. Browsers and the command `nw download` do the
    /// same. Path separators in the file name are replaced by `_`.
    static func inDisposition(_ disposition: ArraySlice<UInt8>) -> String? {
        let parameters = ContentDisposition(parsing: disposition).parameters.all
        let extended = parameters.first { $0.name == "filename*" }.flatMap { ExtendedValue.text($0.value) }
        let plain = parameters.first { $0.name == "filename" }.map { String(decoding: $0.value, as: UTF8.self) }
        return (extended ?? plain).flatMap { safe($0) }
    }

    /// Returns a URL's last path component, or ``unknown``.
    static func of(_ url: URL?) -> String {
        guard let url, url.scheme?.lowercased() != "data", let name = safe(url.lastPathComponent), name != "_" else {
            return unknown
        }
        return name
    }

    /// Replaces path separators and removes control characters. Returns `nil` if the result is not a valid file name.
    private static func safe(_ name: String) -> String? {
        var clean = ""
        for scalar in name.unicodeScalars where scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) {
            clean.unicodeScalars.append(scalar == "/" || scalar == "\\" ? "_" : scalar)
        }
        return clean.isEmpty || clean == "." || clean == ".." ? nil : clean
    }
}
