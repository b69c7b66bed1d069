/// An offer to send a file.
package struct ResourceOffer: Sendable, Equatable {
    /// The file name, without path and control characters.
    package var name: String
    /// Size in bytes; `nil` if the sender does not know it yet.
    package var size: UInt64?

    package init(name: String, size: UInt64?) { (self.name, self.size) = (name, size) }

    /// Returns the last path component without control characters, at most 255 bytes; `file` if nothing is left.
    package static func safeName(_ name: String) -> String {
        let last = name.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last.map { Array($0) } ?? []
        var text = ""
        for scalar in last where scalar.properties.generalCategory != .control {
            guard text.utf8.count + UTF8.width(scalar) <= PeerLimits.name else { break }
            text.unicodeScalars.append(scalar)
        }
        return text.isEmpty || text == "." || text == ".." ? "file" : text
    }
}
