/// Converts different spellings of an encoding's name to one standard name.
enum EncodingName {
    /// Returns the IANA name in lower case: "iso-8859-5" for "ISO8859_5", "windows-1251" for "x-cp1251" and "win-1251".
    static func canonical(_ name: String) -> String {
        var rest = XMLCharacters.lowercased(name).utf8.map { $0 == 0x5F ? 0x2D : $0 }[...]
        if rest.starts(with: "x-".utf8) { rest = rest.dropFirst(2) }
        for (prefix, standard) in prefixes where rest.starts(with: prefix) {
            let number = rest.dropFirst(prefix.count).drop { $0 == 0x2D }
            guard let first = number.first, first >= 0x30, first <= 0x39 else { continue }
            // The prefix "windows-" is used only for the code pages 1250 to 1259. Other names, such as "cp437", stay
            // unchanged.
            if standard == "windows-", !number.starts(with: "125".utf8) || number.count != 4 { continue }
            return standard + String(decoding: number, as: UTF8.self)
        }
        return String(decoding: rest, as: UTF8.self)
    }

    private static let prefixes: [(prefix: [UInt8], standard: String)] = [
        (Array("iso-8859".utf8), "iso-8859-"), (Array("iso8859".utf8), "iso-8859-"), (Array("8859".utf8), "iso-8859-"),
        (Array("windows".utf8), "windows-"), (Array("win".utf8), "windows-"), (Array("cp".utf8), "windows-"),
    ]
}
